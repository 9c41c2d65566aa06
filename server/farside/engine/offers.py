"""Plain connections, which know no claims: who is offered a call, and how their answers read.

For them ``input.requested`` is the offer and the claim at once, so at most one of them hears it for a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from farside.core.model import Call, ToolResult, failure, success
from farside.core.ports import Listener
from farside.errors import FarsideError
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


def without_dead_claim(call: Call) -> Call:
    """A claim without a lease belongs to a plain connection of a process that is gone."""
    if call.state == "claimed" and call.lease_until is None:
        return replace(call, state="open", client_id=None)
    return call


def responses(params: InputRespondParams) -> dict[str, Any]:
    """Answers by interrupt id, from either form of ``input.respond``.

    Raises:
        FarsideError: ``invalid_argument`` when neither form is there, or both, or an interrupt comes twice.
    """
    if params.responses is not MISSING:
        if params.interrupt_id is not MISSING:
            raise FarsideError("invalid_argument", "expected responses or interrupt_id, got both; send one form")
        found = {each.interrupt_id: each.response for each in params.responses}
        if not found or len(found) != len(params.responses):
            raise FarsideError("invalid_argument", "expected at least one response, and one per interrupt")
        return found
    if params.interrupt_id is MISSING or params.response is MISSING:
        raise FarsideError("invalid_argument", "expected responses, or interrupt_id with response; got neither")
    return {params.interrupt_id: params.response}


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
