"""How the answers of plain connections read: those of the Agent Streaming Protocol alone."""

from __future__ import annotations

from typing import Any, cast

from farside.core.model import Call, ToolResult, failure, success
from farside.core.plain import first_name
from farside.wire.messages import MISSING, InputRespondParams


def responses(params: InputRespondParams) -> dict[str, Any]:
    """Answers by interrupt id, from either form of ``input.respond``."""
    if params.interrupt_id is not MISSING:
        return {params.interrupt_id: params.response}
    return {} if params.responses is MISSING else {each.interrupt_id: each.response for each in params.responses}


def result_of(call: Call, response: Any) -> ToolResult:
    """The official clients answer a tool call with ``{tool_call_id: value}``; a body that threw with
    ``{tool_call_id: {"error": message}}``, one that is not there as well."""
    if call.kind == "input" or not isinstance(response, dict):
        return success(response)
    answers = cast("dict[str, Any]", response)
    name = next(iter(answers), "")
    if len(answers) != 1 or call.tool_call_id not in (name, first_name(name)):
        return success(answers)
    value = answers[name]
    if isinstance(value, dict):
        error = cast("dict[str, Any]", value)
        if set(error) == {"error"} and isinstance(error["error"], str):
            code = "not_implemented" if error["error"].startswith(_lacks(call.name)) else "failed"
            return failure(code, error["error"])
    return success(value)


def _lacks(tool: str) -> str:
    """How the official clients (`@langchain/langgraph-sdk` 1.11.0) begin to answer a call of a tool that they do not
    have."""
    return f'Headless tool "{tool}" is not registered.'
