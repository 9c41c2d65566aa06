"""A history in which every tool call has its one return, directly after the call (L6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic_ai import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.messages import ModelRequestPart, ToolCallPart, ToolReturnPart

from farside.core.model import failure
from farside.pydantic_ai.kept import calls_of
from farside.pydantic_ai.results import tool_return

Answer = Callable[[ToolCallPart], Sequence[ModelRequestPart]]
"""Makes the return of a call that has none, and what the model is told beside it."""


def closing(messages: Sequence[ModelMessage], answer: Answer) -> ModelRequest | None:
    """The returns that the newest calls lack, in the order of the calls, and behind them what is told beside them; None
    when each has its own.

    Older calls have theirs: a model is asked again only with them.
    """
    returned: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            missing = [call for call in calls_of(message) if call.tool_call_id not in returned]
            parts = [part for call in missing for part in answer(call)]
            parts.sort(key=lambda part: not isinstance(part, ToolReturnPart))
            return ModelRequest(parts=parts) if missing else None
        returned.update(part.tool_call_id for part in message.parts if isinstance(part, ToolReturnPart))
    return None


def left_open(call: ToolCallPart) -> Sequence[ModelRequestPart]:
    """The return of a call of an earlier run, whose server died before it could close its history."""
    return (tool_return(call, failure("cancelled", "the run that made this call ended before it was answered")),)
