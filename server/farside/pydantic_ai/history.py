"""A history in which every tool call has its one return, directly after the call (L6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic_ai import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from farside.core.model import failure
from farside.pydantic_ai.kept import calls_of
from farside.pydantic_ai.results import tool_return

Answer = Callable[[ToolCallPart], ToolReturnPart]
"""Makes the return of a call that has none."""


def closing(messages: Sequence[ModelMessage], answer: Answer) -> ModelRequest | None:
    """The returns that the newest calls lack, in the order of the calls; None when each has its own.

    Older calls have theirs: a model is asked again only with them.
    """
    returned: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            missing = [call for call in calls_of(message) if call.tool_call_id not in returned]
            return ModelRequest(parts=[answer(call) for call in missing]) if missing else None
        returned.update(part.tool_call_id for part in message.parts if isinstance(part, ToolReturnPart))
    return None


def left_open(call: ToolCallPart) -> ToolReturnPart:
    """The return of a call of an earlier run, whose server died before it could close its history."""
    return tool_return(call, failure("cancelled", "the run that made this call ended before it was answered"))
