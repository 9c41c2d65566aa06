"""How the answers of plain connections read: those of the Agent Streaming Protocol alone."""

from __future__ import annotations

from typing import Any, cast

from farside.core.model import Call, ToolResult, failure, success
from farside.wire.messages import MISSING, InputRespondParams


def responses(params: InputRespondParams) -> dict[str, Any]:
    """Answers by interrupt id, from either form of ``input.respond``."""
    if params.interrupt_id is not MISSING:
        return {params.interrupt_id: params.response}
    return {} if params.responses is MISSING else {each.interrupt_id: each.response for each in params.responses}


def result_of(call: Call, response: Any) -> ToolResult:
    """The official clients answer a tool call with ``{tool_call_id: value}``; a body that threw with
    ``{tool_call_id: {"error": message}}``."""
    if call.kind == "input":
        return success(response)
    if not isinstance(response, dict) or set(cast("dict[str, Any]", response)) != {call.tool_call_id}:
        return success(response)
    value = cast("dict[str, Any]", response)[call.tool_call_id]
    if isinstance(value, dict):
        error = cast("dict[str, Any]", value)
        if set(error) == {"error"} and isinstance(error["error"], str):
            return failure("failed", error["error"])
    return success(value)
