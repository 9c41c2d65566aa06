"""Chat models that follow a script and refuse broken histories, a middleware, a desk: what these tests share."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from pydantic import Field, PrivateAttr, TypeAdapter

from farside.core.model import Call, JournalEntry, ToolResult, success
from farside.core.ports import Emit, Leg, NewCall, Opened
from farside.langgraph import LangGraphRuntime
from farside.wire.messages import EVENTS
from farside.wire.values import check

Script = Callable[[list[BaseMessage]], AIMessage]


def check_history(messages: list[BaseMessage]) -> None:
    """Raise unless each tool call is answered exactly once, directly after its message, as providers demand."""
    expected: list[str] = []
    invalid: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id in invalid:  # LangChain answers what is no call, and providers may do without
                invalid.remove(message.tool_call_id)
                continue
            assert message.tool_call_id in expected, f"a tool message without its call: {message!r}"
            expected.remove(message.tool_call_id)
            continue
        assert not expected, f"unanswered before {message!r}: {expected}"
        if isinstance(message, AIMessage):
            expected = [str(call["id"]) for call in message.tool_calls]
            invalid = [str(call["id"]) for call in message.invalid_tool_calls]
    assert not expected, f"unanswered at the end: {expected}"


class Whole(BaseChatModel):
    """A model that answers by its script, in one piece. ``seen`` holds the histories it was given."""

    script: Any
    seen: list[list[BaseMessage]] = Field(default_factory=list[list[BaseMessage]])
    _tools: list[Any] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self._tools = list(tools)
        return self

    def answer(self, messages: list[BaseMessage]) -> AIMessage:
        check_history(messages)
        self.seen.append(list(messages))
        return self.script(messages)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])


class Streaming(Whole):
    """The same, word by word."""

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        message = self.answer(messages)
        for word in str(message.content).split(" ") if message.content else []:
            yield ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
        for index, call in enumerate(message.tool_calls):
            chunk: Any = {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": index}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
        if message.usage_metadata or message.response_metadata:
            said: Any = {"usage_metadata": message.usage_metadata, "response_metadata": message.response_metadata}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", **said))


def hand_built(think: Any, tools: Any, condition: Any = tools_condition) -> Any:
    """A graph of a model and its tools, not compiled yet. ``think``: the model's node; ``tools``: the other one."""
    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", think)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", condition, ["tools", END])
    graph.add_edge("tools", "model")
    return graph


def call(name: str, call_id: str = "call_1", **args: Any) -> ToolCall:
    """A tool call as a model makes it."""
    return ToolCall(type="tool_call", name=name, args=args, id=call_id)


def calling(*calls: ToolCall) -> AIMessage:
    """A message that calls tools."""
    return AIMessage("", tool_calls=list(calls))


def once(*calls: ToolCall) -> Script:
    """Call these tools when a human spoke; repeat what they answered when they have."""

    def script(messages: list[BaseMessage]) -> AIMessage:
        if messages[-1].type == "human" and not any(isinstance(message, ToolMessage) for message in messages):
            return calling(*calls)
        return AIMessage("done: " + str(messages[-1].content))

    return script


class Catching(AgentMiddleware):
    """The example of error handling in LangChain's documentation."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except Exception as error:
            return ToolMessage(f"Tool error: {error}", tool_call_id=request.tool_call["id"])

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except Exception as error:
            return ToolMessage(f"Tool error: {error}", tool_call_id=request.tool_call["id"])


class FakeDesk:
    """A desk without an engine."""

    journal: Mapping[str, JournalEntry] = {}
    calls: Mapping[str, Call] = {}

    def __init__(self, *wanted: str) -> None:
        self._wanted = frozenset(wanted)

    async def record(self, entry: JournalEntry) -> None:
        raise NotImplementedError

    def record_soon(self, entry: JournalEntry) -> None:
        raise NotImplementedError

    async def history(self) -> list[JournalEntry]:
        raise NotImplementedError

    async def settled(self, run_id: str) -> Mapping[str, Call]:
        return {}

    async def answer(self, interrupt_id: str) -> ToolResult:
        raise NotImplementedError

    def wanted(self, method: str) -> bool:
        return method in self._wanted

    def implements(self, tool: str) -> bool:
        return True


def fits_the_wire(emits: list[Emit]) -> None:
    """Each event is in the data model, and its data what the protocol says."""
    for emit in emits:
        check({"params": {"namespace": list(emit.namespace), "data": emit.data}})
        TypeAdapter(EVENTS[emit.method]).validate_python(emit.data)


def human(text: str = "hi", message_id: str = "human-1") -> dict[str, Any]:
    """The input of a chat."""
    return {"messages": [{"type": "human", "content": text, "id": message_id}]}


def start(
    given: Any = None, *, thread_id: str = "thread", run_id: str = "run-1", config: Mapping[str, Any] | None = None
) -> Leg:
    """The first leg of a run."""
    return Leg("start", thread_id, run_id, human() if given is None else given, config or {}, {})


def settled(new: NewCall, result: ToolResult, *, thread_id: str = "thread", run_id: str = "run-1") -> Call:
    """A call as the engine stores it once it is answered."""
    return Call(
        thread_id=thread_id,
        run_id=run_id,
        interrupt_id=new.interrupt_id,
        kind=new.kind,
        tool_call_id=new.tool_call_id,
        name=new.name,
        args=new.args,
        opened_at=0,
        state="settled",
        result=result,
    )


def answering(leg: Leg, *answers: tuple[NewCall, Any], kind: Any = "resume") -> Leg:
    """The leg that goes on with these values as results (a ToolResult is taken as it is)."""
    calls = {
        new.interrupt_id: settled(
            new,
            value if hasattr(value, "status") else success(value),
            thread_id=leg.thread_id,
            run_id=leg.run_id,
        )
        for new, value in answers
    }
    return replace(leg, kind=kind, answers=calls)


async def drive(runtime: LangGraphRuntime, leg: Leg, desk: FakeDesk | None = None) -> tuple[list[Emit], list[NewCall]]:
    """Run a leg to its end: what it showed, and what it opened."""
    emits: list[Emit] = []
    opened: list[NewCall] = []
    stream: AsyncGenerator[Emit | Opened, None] = runtime.run(leg, desk or FakeDesk())
    async for item in stream:
        if isinstance(item, Opened):
            opened.extend(item.calls)
        else:
            emits.append(item)
    return emits, opened


def of(emits: Iterable[Emit], method: str) -> list[dict[str, Any]]:
    """The data of the events of one method."""
    return [emit.data for emit in emits if emit.method == method]


async def messages_of(runtime: LangGraphRuntime, thread_id: str = "thread") -> list[dict[str, Any]]:
    """The thread's messages as clients see them."""

    async def no_events() -> list[Any]:
        return []

    return (await runtime.state(thread_id, no_events)).values.get("messages", [])
