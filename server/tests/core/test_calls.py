"""The life of a call: what each action does in each state, at which moment, and who may do it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from farside.core.calls import (
    Action,
    Cancel,
    Change,
    Claim,
    Leave,
    Offer,
    Progress,
    Release,
    Restart,
    Return,
    Settle,
    Tick,
    opened,
    transition,
)
from farside.core.model import Call, Failure, failure, success
from farside.errors import FarsideError
from server.tests.samples import NOW, call

CLAIM, GRACE, LEASE = 5_000, 10_000, 30_000
DEADLINE = NOW + 60_000
ANSWER = success({"lat": 1.5})

STATES: dict[str, Call] = {
    "open": call(deadline=DEADLINE),
    "offered to me": call(deadline=DEADLINE, state="offered", client_id="me", lease_until=NOW + CLAIM),
    "offered to another": call(deadline=DEADLINE, state="offered", client_id="another", lease_until=NOW + CLAIM),
    "mine": call(deadline=DEADLINE, state="claimed", client_id="me", claim_id="mine", lease_until=NOW + LEASE),
    "another's": call(
        deadline=DEADLINE, state="claimed", client_id="another", claim_id="theirs", lease_until=NOW + LEASE
    ),
    "a plain connection's": call(deadline=DEADLINE, state="claimed", client_id="connection", claim_id="its"),
    "settled": call(state="settled", client_id="me", claim_id="mine", result=ANSWER, ended_at=NOW, ended_by="me"),
    "cancelled": call(state="cancelled", client_id="me", result=failure("cancelled", "stopped"), ended_at=NOW),
    "expired": call(state="expired", client_id="me", result=failure("timed_out", "too late"), ended_at=NOW),
}
ENDED = ("settled", "cancelled", "expired")
UNSETTLED = [state for state in STATES if state not in ENDED]

ACTIONS: dict[str, Action] = {
    "offer": Offer("me", CLAIM),
    "claim": Claim("me", "new", LEASE),
    "claim for as long as the client is there": Claim("me", "new", None),
    "renew": Claim("me", "mine", LEASE),
    "renew as another client": Claim("reopened", "mine", LEASE),
    "renew what has ended": Claim("me", "old", LEASE),
    "decline": Release("me"),
    "release": Release("me", "mine"),
    "release as another client": Release("reopened", "mine"),
    "release what has ended": Release("me", "old"),
    "release what may have started": Release("reopened", "mine", started=True),
    "release what has ended and may have started": Release("me", "old", started=True),
    "release what nobody remembers": Release("me", started=True),
    "progress": Progress("mine", LEASE, 0.5),
    "progress of what has ended": Progress("old", LEASE, 0.5),
    "settle": Settle(ANSWER, "me", "mine"),
    "settle as another client": Settle(ANSWER, "reopened", "mine"),
    "settle what has ended": Settle(ANSWER, "me", "old"),
    "settle by the id alone": Settle(ANSWER, "somebody", None),
    "cancel": Cancel("the run was stopped"),
    "leave": Leave("me", GRACE),
    "return": Return("me", LEASE),
    "restart": Restart(LEASE),
    "tick": Tick(),
}

Expected = tuple[dict[str, Any], dict[str, Any] | None] | str
"""What changes, and the event; or the code."""


def told(event: str, **data: Any) -> dict[str, Any]:
    return {"event": event, "interrupt_id": "interrupt-1", **data}


def ends(state: str, result: Any, by: str | None = None) -> Expected:
    changes = {"state": state, "result": result, "lease_until": None, "ended_at": NOW + 1, "ended_by": by}
    return changes, told(state, tool_call_id="call-1", name="get_location", result=result.model_dump())


def taken(client_id: str, claim_id: str, lease_until: int | None = NOW + 1 + LEASE) -> Expected:
    changes = {"state": "claimed", "client_id": client_id, "claim_id": claim_id, "lease_until": lease_until}
    return changes, told("claimed", client_id=client_id)


def freed(**data: Any) -> Expected:
    return {"state": "open", "client_id": None, "claim_id": None, "lease_until": None}, told("released", **data)


NOTHING: Expected = ({}, None)
LONGER = {"lease_until": NOW + 1 + LEASE}
RENEWED: Expected = (LONGER, None)
SHOWN = told("progress", value=0.5)
CANCELLED = ends("cancelled", failure("cancelled", "the run was stopped"))
INTERRUPTED = failure("interrupted", "the page that executed get_location went away; the outcome is unknown")
LOST: dict[str, Expected] = dict.fromkeys(ACTIONS, "claim_lost")
ANSWERED: dict[str, Expected] = {
    "settle": ends("settled", ANSWER, "me"),
    "settle as another client": ends("settled", ANSWER, "reopened"),
    "settle what has ended": ends("settled", ANSWER, "me"),
    "settle by the id alone": ends("settled", ANSWER, "somebody"),
}
HAD_AGAIN: dict[str, Expected] = {
    "claim": taken("me", "new"),
    "claim for as long as the client is there": taken("me", "new", None),
    "renew": taken("me", "mine"),
    "renew what has ended": taken("me", "old"),
}

# What each action does to each state, one millisecond later.
TABLE: dict[str, dict[str, Expected]] = {
    "open": {
        **LOST,
        **ANSWERED,
        **HAD_AGAIN,
        "offer": (
            {"state": "offered", "client_id": "me", "lease_until": NOW + 1 + CLAIM},
            told("offered", client_id="me"),
        ),
        "renew as another client": taken("reopened", "mine"),
        "cancel": CANCELLED,
        "leave": NOTHING,
        "return": NOTHING,
        "restart": NOTHING,
        "tick": NOTHING,
    },
    "offered to me": {
        **LOST,
        **ANSWERED,
        **HAD_AGAIN,
        **dict.fromkeys(
            ("decline", "release", "release what has ended", "release what has ended and may have started"), freed()
        ),
        "release what nobody remembers": freed(),
        "cancel": CANCELLED,
        "leave": freed(reason="gone"),
        "return": NOTHING,
        "restart": freed(reason="gone"),
        "tick": NOTHING,
    },
    "offered to another": {
        **LOST,
        **ANSWERED,
        "cancel": CANCELLED,
        "leave": NOTHING,
        "return": NOTHING,
        "restart": freed(reason="gone"),
        "tick": NOTHING,
    },
    "mine": {
        **LOST,
        **ANSWERED,
        "renew": RENEWED,
        "renew as another client": taken("reopened", "mine"),
        "release": freed(),
        "release what may have started": ends("settled", INTERRUPTED),
        "release what nobody remembers": ends("settled", INTERRUPTED),
        "progress": (LONGER, SHOWN),
        "settle what has ended": "claim_lost",
        "cancel": CANCELLED,
        "leave": ({"lease_until": NOW + 1 + GRACE}, None),
        "return": RENEWED,
        "restart": RENEWED,
        "tick": NOTHING,
    },
    "another's": {
        **LOST,
        "settle by the id alone": ANSWERED["settle by the id alone"],
        "cancel": CANCELLED,
        "leave": NOTHING,
        "return": NOTHING,
        "restart": RENEWED,
        "tick": NOTHING,
    },
}
TABLE["a plain connection's"] = TABLE["another's"]
TABLE |= {
    state: {
        **dict.fromkeys(ACTIONS, "call_settled"),
        "leave": NOTHING,
        "return": NOTHING,
        "restart": NOTHING,
        "tick": NOTHING,
    }
    for state in ENDED
}


def apply(before: Call, action: Action) -> Change:
    return transition(before, action, NOW)


def refusal(before: Call, action: Action) -> str:
    """The code of a refused action."""
    with pytest.raises(FarsideError) as caught:
        transition(before, action, NOW)
    return caught.value.code


def test_the_table_is_total() -> None:
    assert TABLE.keys() == STATES.keys()
    assert all(row.keys() == ACTIONS.keys() for row in TABLE.values())
    assert {type(action) for action in ACTIONS.values()} == set(Action.__args__)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("state", STATES)
def test_transition(state: str, action: str) -> None:
    before, expected = STATES[state], TABLE[state][action]
    if isinstance(expected, str):
        assert refusal(before, ACTIONS[action]) == expected
    else:
        changes, event = expected
        assert transition(before, ACTIONS[action], NOW + 1) == Change(replace(before, **changes), event)


def test_opened() -> None:
    bare = {"interrupt_id": "interrupt-1", "tool_call_id": "call-1", "run_id": "run-1", "name": "get_location"}
    assert opened(call()) == {"event": "opened", **bare, "args": {"high": True}, "state": "open"}
    assert opened(call(deadline=5, title="T")) == {**opened(call()), "deadline": 5, "title": "T"}
    assert opened(STATES["offered to me"]) == {
        **opened(STATES["open"]),
        "state": "offered",
        "client_id": "me",
    }


# --- claims ---


def test_a_claim_whose_reply_was_lost_is_made_again() -> None:
    change = transition(STATES["mine"], Claim("me", "mine", LEASE), NOW + 7)
    assert (change.call.claim_id, change.call.lease_until, change.event) == ("mine", NOW + 7 + LEASE, None)


def test_a_page_that_was_reopened_goes_on_with_its_claim_and_is_then_the_holder() -> None:
    held = transition(STATES["mine"], Claim("reopened", "mine", LEASE), NOW).call
    for late in (Release("me", "mine"), Release("me"), Release("me", started=True)):
        assert refusal(held, late) == "claim_lost"
    assert apply(held, Settle(ANSWER, "reopened", "mine")).call.ended_by == "reopened"
    assert apply(held, Settle(ANSWER, "me", "mine")).call.ended_by == "me"
    assert transition(held, Leave("me", GRACE), NOW) == Change(held, None)


def test_a_claim_that_ended_is_had_again_while_nobody_else_was_offered_the_call() -> None:
    idempotent = replace(STATES["mine"], idempotent=True)
    ended, renewal = transition(idempotent, Tick(), NOW + LEASE).call, Claim("me", "mine", LEASE)
    assert ended.state == "open"
    for free in (ended, apply(ended, Offer("me", CLAIM)).call):
        again = transition(free, renewal, NOW + LEASE)
        assert again.call == replace(idempotent, lease_until=NOW + 2 * LEASE)
        assert again.event == told("claimed", client_id="me")
    for taken_since in (Offer("another", CLAIM), Claim("another", "theirs", LEASE)):
        assert refusal(apply(ended, taken_since).call, renewal) == "claim_lost"


def test_who_was_not_asked_may_claim_what_nobody_has() -> None:
    """A claim that was on its way when the offer ended is as good as one in time."""
    free = transition(STATES["offered to me"], Tick(), NOW + CLAIM).call
    assert transition(free, Claim("me", "new", LEASE), NOW + CLAIM).call.claim_id == "new"


@pytest.mark.parametrize(("state", "claim_id"), [("offered to me", None), ("mine", "mine")])
def test_a_release_tells_its_reason(state: str, claim_id: str | None) -> None:
    event = transition(STATES[state], Release("me", claim_id, reason="the page closes"), NOW).event
    assert event == told("released", reason="the page closes")


def test_what_was_only_offered_was_not_started_whatever_its_client_says() -> None:
    assert transition(STATES["offered to me"], Release("me", started=True), NOW).call.state == "open"


# --- answers ---


def test_the_first_answer_stays() -> None:
    settled = transition(STATES["mine"], Settle(ANSWER, "me", "mine"), NOW).call
    for late in (Settle(success(2), "me", "mine"), Settle(success(2), "it", None)):
        assert refusal(settled, late) == "call_settled"
    for harmless in (Tick(), Leave("me", GRACE), Restart(LEASE)):
        assert transition(settled, harmless, DEADLINE) == Change(settled, None)


@pytest.mark.parametrize("state", ["open", "offered to another"])
def test_who_lost_its_claim_may_still_answer_until_another_has_the_call(state: str) -> None:
    after = transition(STATES[state], Settle(ANSWER, "me", "mine"), NOW).call
    assert (after.state, after.result, after.ended_by) == ("settled", ANSWER, "me")
    assert refusal(STATES["another's"], Settle(ANSWER, "me", "mine")) == "claim_lost"


def test_a_client_that_claimed_again_answers_with_its_newest_claim() -> None:
    assert refusal(STATES["mine"], Settle(ANSWER, "me", "old")) == "claim_lost"
    assert transition(STATES["mine"], Settle(ANSWER, "me", "mine"), NOW).call.result == ANSWER


@pytest.mark.parametrize("state", UNSETTLED)
def test_who_knows_only_the_id_may_always_answer_first(state: str) -> None:
    after = transition(STATES[state], Settle(ANSWER, "connection", None), NOW + 3).call
    assert (after.state, after.result, after.ended_by, after.ended_at) == ("settled", ANSWER, "connection", NOW + 3)


def test_an_error_is_an_answer_too() -> None:
    failed: Failure = failure("failed", "no satellite")
    change = transition(STATES["mine"], Settle(failed, "me", "mine"), NOW)
    assert (change.call.state, change.call.result) == ("settled", failed)
    assert change.event == told("settled", tool_call_id="call-1", name="get_location", result=failed.model_dump())
