"""How a tool result travels through ``Command(resume=...)`` and a checkpoint, and back.

The official clients answer a headless tool's pause with ``{tool_call_id: value}``, a failure being the value
``{"error": message}``, which cannot be told from a result of that shape. :func:`pack` writes the same object with one
more key that says what it is, so that code written for the official shape reads it too.
"""

from __future__ import annotations

from typing import Any, cast

from pydantic import ValidationError

from farside.core.model import ToolResult, failure, success
from farside.wire.messages import ErrorBody, Failure, Success

MARK = "__farside__"
"""The key that only :func:`pack` writes; no model calls a tool call so."""


def pack(tool_call_id: str, result: ToolResult) -> dict[str, Any]:
    """The resume value for a tool call: plain values that survive a checkpoint.

    Args:
        tool_call_id: the call that the result answers; :func:`is_for` knows it again.
        result: a value, or an error with its code.
    """
    if isinstance(result, Success):
        return {tool_call_id: result.value, MARK: {"status": "success"}}
    return {tool_call_id: {"error": result.error.message}, MARK: result.model_dump()}


def unpack(tool_call_id: str, value: Any) -> ToolResult:
    """What a resume value means for a tool call. Understands, in this order:

    what :func:`pack` wrote; ``{tool_call_id: value}`` and ``{tool_call_id: {"error": "message"}}`` (code ``failed``)
    of the official clients; ``{}``, which they send when a tool returns nothing; any other value as itself.
    """
    if not isinstance(value, dict):
        return success(value)
    answer = cast("dict[str, Any]", value)
    if MARK in answer:
        return _marked(tool_call_id, answer)
    if not answer:
        return success(None)
    if list(answer) != [tool_call_id]:
        return success(answer)
    inner = answer[tool_call_id]
    if isinstance(inner, dict):
        fields = cast("dict[str, Any]", inner)
        if list(fields) == ["error"] and isinstance(fields["error"], str):
            return failure("failed", fields["error"])
    return success(inner)


def is_packed(value: Any) -> bool:
    """Whether :func:`pack` wrote the value."""
    return isinstance(value, dict) and isinstance(cast("dict[str, Any]", value).get(MARK), dict)


def is_for(tool_call_id: str, value: Any) -> bool:
    """Whether :func:`pack` wrote the value for this call."""
    return is_packed(value) and tool_call_id in value


def _marked(tool_call_id: str, answer: dict[str, Any]) -> ToolResult:
    mark = answer[MARK]
    try:
        if mark["status"] == "success":
            return success(answer[tool_call_id])
        return Failure(status="error", error=ErrorBody.model_validate(mark["error"]))
    except (KeyError, TypeError, ValidationError):
        return failure("failed", "the answer could not be read")
