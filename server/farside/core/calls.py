"""The life of a call: one total, pure transition function.

Every change to a call is an action put through :func:`transition`; the store applies what it returns atomically,
together with the event. What an action may not do raises :class:`FarsideError` ``call_settled`` or ``claim_lost``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, assert_never

from farside.core.model import Call, ToolResult, failure
from farside.errors import FarsideError


@dataclass(frozen=True, slots=True)
class Claim:
    """A client takes the call, or renews its claim. ``lease_ms`` None: until the client is gone."""

    client_id: str
    lease_ms: int | None


@dataclass(frozen=True, slots=True)
class Release:
    """The holder gives the call back, not begun."""

    client_id: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The holder shows progress, which renews its claim."""

    client_id: str
    lease_ms: int
    value: Any


@dataclass(frozen=True, slots=True)
class Settle:
    """The answer. ``client_id`` None: a client of the plain protocol, which shows only that it knows the id."""

    result: ToolResult
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """The run was stopped, or the user spoke."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed: ends a lease or the call when one is due."""


Action = Claim | Release | Progress | Settle | Cancel | Tick


@dataclass(frozen=True, slots=True)
class Change:
    """What an action did: the call afterwards, and the event's data, None when nobody needs to know."""

    call: Call
    event: dict[str, Any] | None


def transition(call: Call, action: Action, now: int) -> Change:
    """Apply an action to a call.

    Args:
        now: milliseconds since the epoch.

    Raises:
        FarsideError: ``call_settled`` when the call has its answer, ``claim_lost`` when another client holds it.
    """
    if isinstance(action, Tick):
        return _tick(call, now)
    if call.ended:
        raise FarsideError(
            "call_settled", f"expected an unsettled call, {call.interrupt_id} is {call.state}; forget it"
        )
    if isinstance(action, Cancel):
        return _end(call, "cancelled", failure("cancelled", action.reason))
    if isinstance(action, Settle):
        if action.client_id is not None and call.client_id not in (None, action.client_id):
            raise _lost(call)
        return _end(call, "settled", action.result)
    if isinstance(action, Claim):
        return _claim(call, action, now)
    if call.client_id != action.client_id:
        raise _lost(call)
    if isinstance(action, Release):
        freed = replace(call, state="open", client_id=None, lease_until=None)
        event: dict[str, Any] = {"event": "released", "interrupt_id": call.interrupt_id}
        return Change(freed, event if action.reason is None else {**event, "reason": action.reason})
    if isinstance(action, Progress):  # pyright: ignore[reportUnnecessaryIsInstance]
        renewed = replace(call, lease_until=now + action.lease_ms)
        return Change(renewed, {"event": "progress", "interrupt_id": call.interrupt_id, "value": action.value})
    assert_never(action)


def opened(call: Call) -> dict[str, Any]:
    """The data of the event ``opened``."""
    return {"event": "opened", **call.snapshot()}


def _claim(call: Call, action: Claim, now: int) -> Change:
    until = None if action.lease_ms is None else now + action.lease_ms
    claimed = replace(call, state="claimed", client_id=action.client_id, lease_until=until)
    if call.client_id is None:
        event = {"event": "claimed", "interrupt_id": call.interrupt_id, "client_id": action.client_id}
        return Change(claimed, event)
    if call.client_id == action.client_id:
        return Change(claimed, None)
    raise _lost(call)


def _tick(call: Call, now: int) -> Change:
    if call.ended:
        return Change(call, None)
    if call.deadline is not None and now >= call.deadline:
        return _end(call, "expired", failure("timed_out", f"{call.name} was not answered before its deadline"))
    if call.lease_until is not None and now >= call.lease_until:
        if call.idempotent:
            freed = replace(call, state="open", client_id=None, lease_until=None)
            return Change(freed, {"event": "released", "interrupt_id": call.interrupt_id, "reason": "lease ended"})
        gone = failure("interrupted", f"the page that executed {call.name} went away; the outcome is unknown")
        return _end(call, "settled", gone)
    return Change(call, None)


def _end(call: Call, state: Any, result: ToolResult) -> Change:
    ended = replace(call, state=state, result=result, client_id=call.client_id, lease_until=None)
    event = {
        "event": state,
        "interrupt_id": call.interrupt_id,
        "tool_call_id": call.tool_call_id,
        "name": call.name,
        "result": result.model_dump(),
    }
    return Change(ended, event)


def _lost(call: Call) -> FarsideError:
    holder = "nobody" if call.client_id is None else "another client"
    return FarsideError("claim_lost", f"expected to hold {call.interrupt_id}, {holder} does; claim it first")
