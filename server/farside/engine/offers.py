"""Plain connections, which know no claims: who is offered a call, and how their answers read.

For them ``input.requested`` is the offer and the claim at once, so at most one of them hears it for a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from farside.core.model import Call, ToolResult, failure, success
from farside.core.ports import Listener
from farside.wire.messages import MISSING, InputRespondParams


def choose(call: Call, starter: str | None, listeners: Sequence[Listener]) -> Listener | None:
    """The plain connection that is offered the call; None leaves it to the clients that claim.

    First the connection that started the run; then any claiming client that has the tool; then the newest plain one.
    """
    plain = [each for each in listeners if each.plain and each.wants("input.requested")]
    for listener in listeners:
        if listener.holder_id == starter:
            if listener in plain:
                return listener
            if listener.implements(call.name):
                return None
    if any(not each.plain and each.implements(call.name) for each in listeners):
        return None
    return plain[-1] if plain else None


def orphaned(call: Call, lease_until: int) -> Call | None:
    """The call with a lease, if it is claimed by a plain connection of a process that is gone; None otherwise.

    Whether it was executed is unknown: when the lease ends, the tool's ``idempotent`` decides (L8).
    """
    if call.state != "claimed" or call.lease_until is not None:
        return None
    return replace(call, lease_until=lease_until, version=call.version + 1)


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
