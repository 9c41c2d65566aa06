"""A model for Pydantic AI agents that follows a script and refuses broken histories."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from pydantic_ai import Agent, ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel

Script = Callable[[list[ModelMessage]], ModelResponse]


def check_history(messages: list[ModelMessage]) -> None:
    """Raise unless each tool call is answered exactly once, in the request after it, as providers demand; no request
    may be empty, and none may come behind another one."""
    expected: list[str] = []
    before: ModelMessage | None = None
    for message in messages:
        assert message.parts, f"an empty message: {message!r}"
        assert before is None or before.kind != message.kind, f"two of a kind: {before!r}, {message!r}"
        before = message
        if isinstance(message, ModelResponse):
            expected = [call.tool_call_id for call in message.tool_calls]
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                assert part.tool_call_id in expected, f"a return without its call: {part!r}"
                expected.remove(part.tool_call_id)
        assert not expected, f"unanswered in {message!r}: {expected}"
    assert not expected, f"unanswered at the end: {expected}"


class Scripted:
    """Streams what its script says, word by word. ``seen`` holds the histories that it was given."""

    def __init__(self, script: Script) -> None:
        self.seen: list[list[ModelMessage]] = []
        self._script = script

    def agent(self, **options: Any) -> Agent[Any, Any]:
        """An agent with this model."""
        return Agent(FunctionModel(stream_function=self.stream, model_name="scripted"), **options)

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncGenerator[Any]:
        check_history(messages)
        self.seen.append(list(messages))
        for index, part in enumerate(self._script(messages).parts):
            match part:
                case ThinkingPart():
                    for word in part.content.split(" "):
                        yield {index: DeltaThinkingPart(content=word + " ")}
                case TextPart():
                    for word in part.content.split(" "):
                        yield word + " "
                case ToolCallPart():
                    args = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
                    yield {index: DeltaToolCall(part.tool_name, args, tool_call_id=part.tool_call_id)}
                case _:
                    raise NotImplementedError(part)


def scripted(script: Script, **options: Any) -> Agent[Any, Any]:
    """An agent whose model follows the script."""
    return Scripted(script).agent(**options)


def call(name: str, call_id: str = "call_1", /, **args: Any) -> ToolCallPart:
    """A tool call as a model makes it."""
    return ToolCallPart(name, args, call_id)


def calling(*calls: ToolCallPart) -> ModelResponse:
    """A message that calls tools."""
    return ModelResponse(parts=list(calls))


def saying(text: str) -> ModelResponse:
    """A message that says something."""
    return ModelResponse(parts=[TextPart(text)])


def since_human(messages: list[ModelMessage]) -> list[ModelMessage]:
    """The messages after the user's newest."""
    last = max(at for at, message in enumerate(messages) if any(isinstance(p, UserPromptPart) for p in message.parts))
    return messages[last + 1 :]


def calls_before(messages: list[ModelMessage]) -> list[ToolCallPart]:
    """The calls of the model's newest message."""
    return next(message.tool_calls for message in reversed(messages) if isinstance(message, ModelResponse))


def returns(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    """The returns of tools in the messages."""
    return [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


Step = ModelResponse | Callable[[list[ToolReturnPart]], ModelResponse]
"""A response, or what makes it of what the tools have returned."""


def steps(*responses: Step) -> Script:
    """In each turn of the user's one response after the other."""
    return lambda messages: _step(responses, since_human(messages))


def once(*responses: Step) -> Script:
    """In the whole conversation one response after the other."""
    return lambda messages: _step(responses, messages)


def _step(responses: tuple[Step, ...], messages: list[ModelMessage]) -> ModelResponse:
    made = responses[sum(isinstance(message, ModelResponse) for message in messages)]
    return made(returns(messages)) if callable(made) else made


def telling(parts: list[ToolReturnPart]) -> ModelResponse:
    """Says how the turn's tools have ended."""
    return saying(" ".join(f"{part.tool_call_id}:{part.outcome}:{part.content}" for part in parts))
