"""The life of a call: one total, pure transition function.

Every change to a call is an action put through :func:`transition`; the store applies what it returns atomically,
together with the event. What an action may not do raises :class:`FarsideError` ``call_settled`` or ``claim_lost``.

``open`` (nobody can take it now) -> ``offered`` (to one client) -> ``claimed`` (by that client) -> ``settled``. From
each of them ``cancelled`` and ``expired`` can be reached, and from the second and third ``open`` again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, assert_never

from farside.core.model import Call, ToolResult, failure
from farside.errors import FarsideError


@dataclass(frozen=True, slots=True)
class Offer:
    """The server asks a client to take the call. It has ``claim_ms`` to do so."""

    client_id: str
    claim_ms: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A client takes the call, or keeps it.

    ``claim_id`` names and proves the claim. Whoever knows it has the claim, maybe under another client id than before:
    a page that was reopened. A claim that ended meanwhile is had again, if nobody else was offered the call.
    ``lease_ms`` None: until the client is gone (plain connections).
    """

    client_id: str
    claim_id: str
    lease_ms: int | None


@dataclass(frozen=True, slots=True)
class Release:
    """A client declines its offer, or gives up its claim, which ``claim_id`` names.

    ``started``: the execution may have begun, its outcome is unknown (L8). A page that was reopened does this under
    another client id, and one that remembers nothing without ``claim_id``.
    """

    client_id: str
    claim_id: str | None = None
    started: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The holder shows progress, which renews its claim."""

    claim_id: str
    lease_ms: int
    value: Any


@dataclass(frozen=True, slots=True)
class Leave:
    """The client has no connection any more. It may come back within ``grace_ms``."""

    client_id: str
    grace_ms: int


@dataclass(frozen=True, slots=True)
class Return:
    """The client is connected again: what it holds is its for ``lease_ms``, None: until it is gone again."""

    client_id: str
    lease_ms: int | None


@dataclass(frozen=True, slots=True)
class Restart:
    """The server was away: offers are void, and who holds a claim gets ``lease_ms`` to come back and renew it."""

    lease_ms: int


@dataclass(frozen=True, slots=True)
class Settle:
    """The answer. ``claim_id`` None: of a client of the plain protocol, which shows only that it knows the call."""

    result: ToolResult
    client_id: str
    claim_id: str | None


@dataclass(frozen=True, slots=True)
class Cancel:
    """The run was stopped, or the user spoke."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed: ends an offer, a lease, or the call when one is due."""


Action = Offer | Claim | Release | Progress | Leave | Return | Restart | Settle | Cancel | Tick


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
        FarsideError: ``call_settled`` when the call has its answer, ``claim_lost`` when the client may not do this.
    """
    match action:
        case Tick():
            return _tick(call, now)
        case Leave():
            return _leave(call, action, now)
        case Return():
            if call.state != "claimed" or call.client_id != action.client_id or call.lease_until is None:
                return Change(call, None)
            until = None if action.lease_ms is None else max(call.lease_until, now + action.lease_ms)
            return Change(replace(call, lease_until=until), None)
        case Restart():
            return _restart(call, action, now)
        case _ if call.ended:
            raise FarsideError(
                "call_settled", f"expected an unsettled call, {call.interrupt_id} is {call.state}; forget it"
            )
        case Cancel():
            return _end(call, "cancelled", failure("cancelled", action.reason), None, now)
        case Settle():
            if call.state == "claimed" and action.claim_id not in (None, call.claim_id):
                raise _lost(call)
            return _end(call, "settled", action.result, action.client_id, now)
        case Offer():
            if call.state != "open":
                raise _lost(call)
            offered = replace(call, state="offered", client_id=action.client_id, lease_until=now + action.claim_ms)
            return Change(offered, _told("offered", call, client_id=action.client_id))
        case Claim():
            return _claim(call, action, now)
        case Release():
            return _release(call, action, now)
        case Progress():
            if call.state != "claimed" or call.claim_id != action.claim_id:
                raise _lost(call)
            renewed = replace(call, lease_until=now + action.lease_ms)
            return Change(renewed, _told("progress", call, value=action.value))
        case _:
            assert_never(action)


def opened(call: Call) -> dict[str, Any]:
    """The data of the event ``opened``."""
    return {"event": "opened", **call.snapshot()}


def _claim(call: Call, action: Claim, now: int) -> Change:
    mine = call.client_id == action.client_id
    free = call.state == "open" or (call.state == "offered" and mine)
    if not free and call.claim_id != action.claim_id:
        raise _lost(call)
    until = None if action.lease_ms is None else now + action.lease_ms
    taken = replace(call, state="claimed", client_id=action.client_id, claim_id=action.claim_id, lease_until=until)
    return Change(taken, None if mine and not free else _told("claimed", call, client_id=action.client_id))


def _release(call: Call, action: Release, now: int) -> Change:
    mine = call.client_id == action.client_id
    proven = call.claim_id == action.claim_id
    if call.state == "offered" and mine:
        return _freed(call, action.reason)
    if call.state == "claimed" and action.started and (proven or (mine and action.claim_id is None)):
        return _unknown(call, action.reason or "the outcome is unknown", now)
    if call.state == "claimed" and mine and proven:
        return _freed(call, action.reason)
    raise _lost(call)


def _leave(call: Call, action: Leave, now: int) -> Change:
    if call.ended or call.client_id != action.client_id:
        return Change(call, None)
    if call.state == "offered":
        return _freed(call, "gone")
    until = now + action.grace_ms
    return Change(replace(call, lease_until=until if call.lease_until is None else min(call.lease_until, until)), None)


def _restart(call: Call, action: Restart, now: int) -> Change:
    if call.state == "offered":
        return _freed(call, "gone")
    if call.state != "claimed":
        return Change(call, None)
    until = now + action.lease_ms
    return Change(replace(call, lease_until=until if call.lease_until is None else max(call.lease_until, until)), None)


def _tick(call: Call, now: int) -> Change:
    if call.ended:
        return Change(call, None)
    if call.deadline is not None and now >= call.deadline:
        message = f"{call.name} was not answered before its deadline"
        return _end(call, "expired", failure("timed_out", message), None, now)
    if call.lease_until is not None and now >= call.lease_until:
        return _freed(call, "not claimed in time") if call.state == "offered" else _unknown(call, "lease ended", now)
    return Change(call, None)


def _unknown(call: Call, reason: str, now: int) -> Change:
    """The call may have been executed, and nobody will tell: L8."""
    if call.idempotent:
        return _freed(call, reason)
    gone = failure("interrupted", f"the page that executed {call.name} went away; the outcome is unknown")
    return _end(call, "settled", gone, None, now)


def _freed(call: Call, reason: str | None) -> Change:
    freed = replace(call, state="open", client_id=None, claim_id=None, lease_until=None)
    return Change(freed, _told("released", call) if reason is None else _told("released", call, reason=reason))


def _end(call: Call, state: Any, result: ToolResult, by: str | None, now: int) -> Change:
    ended = replace(call, state=state, result=result, lease_until=None, ended_at=now, ended_by=by)
    event = _told(state, call, tool_call_id=call.tool_call_id, name=call.name, result=result.model_dump())
    return Change(ended, event)


def _told(event: str, call: Call, **data: Any) -> dict[str, Any]:
    return {"event": event, "interrupt_id": call.interrupt_id, **data}


def _lost(call: Call) -> FarsideError:
    holder = "nobody" if call.client_id is None else "another client, or another page of this client,"
    return FarsideError(
        "claim_lost",
        f"expected to hold {call.interrupt_id}, or to be offered it; {holder} has it; wait until it is offered to you",
    )
