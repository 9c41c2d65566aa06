"""Pydantic AI's event stream as the events that clients see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from pydantic_ai import AgentStreamEvent, ModelResponse
from pydantic_ai.messages import (
    CustomEvent,
    ModelResponsePart,
    ModelResponsePartDelta,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolReturnPart,
)

from farside.core.model import ToolResult
from farside.core.ports import Emit
from farside.pydantic_ai.messages import args_of, block, text_of
from farside.pydantic_ai.plain import plain
from farside.pydantic_ai.results import failure_in
from farside.wire.messages import Failure

_ENVELOPE = frozenset(field.name for field in fields(CustomEvent))


class Message:
    """A message of the model's, as it streams.

    Args:
        message_id: how clients know it.
    """

    def __init__(self, message_id: str) -> None:
        self.id = message_id
        self._started: set[int] = set()
        self._is_open = False

    def emits(self, event: AgentStreamEvent) -> Iterator[Emit]:
        """What clients see of an event of the stream; nothing of most kinds."""
        match event:
            case PartStartEvent():
                yield from self._start(event.index, event.part)
            case PartDeltaEvent():
                if (delta := _delta(event.delta)) is not None:
                    yield self._emit("content-block-delta", index=event.index, delta=delta)
            case PartEndEvent():
                if (content := block(event.part)) is not None:
                    yield self._emit("content-block-finish", index=event.index, content=content)
            case _:
                pass

    def finish(self, response: ModelResponse | None) -> Iterator[Emit]:
        """The end of the message, if it has begun and not ended."""
        if self._is_open:
            self._is_open = False
            usage = {} if response is None else {"usage": _usage(response)}
            yield self._emit("message-finish", **usage)

    def _start(self, index: int, part: ModelResponsePart) -> Iterator[Emit]:
        if not self._is_open or index in self._started:  # a model that is tried again begins anew
            self._is_open = True
            self._started.clear()
            yield self._emit("message-start", role="ai", id=self.id)
        self._started.add(index)
        content = block(part)
        if content is None:
            return
        match part:
            case TextPart() | ThinkingPart():
                kind = content["type"]
                yield self._emit("content-block-start", index=index, content={"type": kind, kind: ""})
                if content[kind]:
                    delta = {"type": f"{kind}-delta", kind: content[kind]}
                    yield self._emit("content-block-delta", index=index, delta=delta)
            case ToolCallPart():
                head = {"type": "tool_call", "id": part.tool_call_id, "name": part.tool_name}
                yield self._emit("content-block-start", index=index, content={**head, "args": {}})
            case _:
                yield self._emit("content-block-start", index=index, content=content)

    def _emit(self, event: str, **data: Any) -> Emit:
        durable = event != "content-block-delta"
        return Emit("messages", {"event": event, **data, "message_id": self.id}, durable=durable)


def tool_started(call: ToolCallPart) -> Emit:
    """A tool begins."""
    data = {"event": "tool-started", "tool_call_id": call.tool_call_id, "tool_name": call.tool_name}
    return Emit("tools", {**data, "input": args_of(call) or {}})


def tool_ended(part: ToolReturnPart) -> Emit:
    """A tool on the server has ended."""
    if part.outcome == "success":
        head = {"event": "tool-finished", "tool_call_id": part.tool_call_id}
        return Emit("tools", {**head, "output": plain(part.content)})
    return _tool_failed(part.tool_call_id, failure_in(text_of(part)))


def call_ended(tool_call_id: str, interrupt_id: str, result: ToolResult) -> Emit:
    """A tool in the browser has ended. Its value is stored with its call."""
    if isinstance(result, Failure):
        return _tool_failed(tool_call_id, result)
    head = {"event": "tool-finished", "tool_call_id": tool_call_id, "interrupt_id": interrupt_id}
    return Emit("tools", {**head, "output": result.value})


def custom(event: CustomEvent) -> Emit:
    """An event of the application's own."""
    own = {field.name: getattr(event, field.name) for field in fields(event) if field.name not in _ENVELOPE}
    return Emit("custom", {"name": event.name, "payload": plain(own)})


def _tool_failed(tool_call_id: str, failure: Failure) -> Emit:
    error = {"message": failure.error.message, "code": failure.error.code}
    return Emit("tools", {"event": "tool-error", "tool_call_id": tool_call_id, **error})


def _delta(delta: ModelResponsePartDelta) -> dict[str, Any] | None:
    match delta:
        case TextPartDelta() if delta.content_delta:
            return {"type": "text-delta", "text": delta.content_delta}
        case ThinkingPartDelta() if delta.content_delta:
            return {"type": "reasoning-delta", "reasoning": delta.content_delta}
        case _:
            return None


def _usage(response: ModelResponse) -> dict[str, int]:
    usage = response.usage
    used, made = usage.input_tokens, usage.output_tokens
    return {"input_tokens": used, "output_tokens": made, "total_tokens": used + made}
