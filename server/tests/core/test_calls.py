"""The life of a call: every state times every action, and what no sequence of actions can do (L2, L3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.core.calls import Action, Cancel, Claim, Progress, Release, Settle, Tick, opened, transition
from farside.core.model import Call, failure, success
from farside.errors import FarsideError
from server.tests.samples import NOW, call

LEASE = 30_000
DEADLINE = NOW + 60_000
ANSWER = success({"lat": 1.5})

STATES: dict[str, Call] = {
    "open": call(deadline=DEADLINE),
    "mine": call(deadline=DEADLINE, state="claimed", client_id="me", lease_until=NOW + LEASE),
    "another's": call(deadline=DEADLINE, state="claimed", client_id="another", lease_until=NOW + LEASE),
    "a plain connection's": call(deadline=DEADLINE, state="claimed", client_id="connection", lease_until=None),
    "settled": call(state="settled", client_id="me", result=ANSWER),
    "cancelled": call(state="cancelled", client_id="me", result=failure("cancelled", "stopped")),
    "expired": call(state="expired", client_id="me", result=failure("timed_out", "too late")),
}
ENDED = ("settled", "cancelled", "expired")

ACTIONS: dict[str, Action] = {
    "claim": Claim("me", LEASE),
    "claim for as long as the client is there": Claim("me", None),
    "release": Release("me"),
    "progress": Progress("me", LEASE, 0.5),
    "settle": Settle(ANSWER, "me"),
    "settle by the id alone": Settle(ANSWER),
    "cancel": Cancel("the run was stopped"),
    "tick": Tick(),
}

ENDS = {"event": "settled", "interrupt_id": "interrupt-1", "tool_call_id": "call-1", "name": "get_location"}
SETTLED = ({"state": "settled", "result": ANSWER, "lease_until": None}, {**ENDS, "result": ANSWER.model_dump()})
STOPPED = failure("cancelled", "the run was stopped")
CANCELLED = (
    {"state": "cancelled", "result": STOPPED, "lease_until": None},
    {**ENDS, "event": "cancelled", "result": STOPPED.model_dump()},
)
TAKEN = {"event": "claimed", "interrupt_id": "interrupt-1", "client_id": "me"}
MINE = {"state": "claimed", "client_id": "me", "lease_until": NOW + 1 + LEASE}
NOTHING: tuple[dict[str, Any], None] = ({}, None)

# What each action does to each state, one millisecond later: the changes and the event, or the code.
TABLE: dict[str, dict[str, Any]] = {
    "open": {
        "claim": (MINE, TAKEN),
        "claim for as long as the client is there": ({**MINE, "lease_until": None}, TAKEN),
        "release": "claim_lost",
        "progress": "claim_lost",
        "settle": SETTLED,
        "settle by the id alone": SETTLED,
        "cancel": CANCELLED,
        "tick": NOTHING,
    },
    "mine": {
        "claim": (MINE, None),
        "claim for as long as the client is there": ({"lease_until": None}, None),
        "release": (
            {"state": "open", "client_id": None, "lease_until": None},
            {"event": "released", "interrupt_id": "interrupt-1"},
        ),
        "progress": (MINE, {"event": "progress", "interrupt_id": "interrupt-1", "value": 0.5}),
        "settle": SETTLED,
        "settle by the id alone": SETTLED,
        "cancel": CANCELLED,
        "tick": NOTHING,
    },
    "another's": {
        "claim": "claim_lost",
        "claim for as long as the client is there": "claim_lost",
        "release": "claim_lost",
        "progress": "claim_lost",
        "settle": "claim_lost",
        "settle by the id alone": SETTLED,
        "cancel": CANCELLED,
        "tick": NOTHING,
    },
}
TABLE["a plain connection's"] = TABLE["another's"]
TABLE |= {state: {**dict.fromkeys(ACTIONS, "call_settled"), "tick": NOTHING} for state in ENDED}


def test_the_table_is_total() -> None:
    assert TABLE.keys() == STATES.keys()
    assert all(row.keys() == ACTIONS.keys() for row in TABLE.values())
    assert {type(action) for action in ACTIONS.values()} == set(Action.__args__)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("state", STATES)
def test_transition(state: str, action: str) -> None:
    before, expected = STATES[state], TABLE[state][action]
    if isinstance(expected, str):
        with pytest.raises(FarsideError) as caught:
            transition(before, ACTIONS[action], NOW + 1)
        assert caught.value.code == expected
    else:
        changes, event = expected
        change = transition(before, ACTIONS[action], NOW + 1)
        assert change.call == replace(before, **changes)
        assert change.event == event


def test_a_release_tells_its_reason() -> None:
    change = transition(STATES["mine"], Release("me", "the page closes"), NOW)
    assert change.event == {"event": "released", "interrupt_id": "interrupt-1", "reason": "the page closes"}


# --- time ---


@pytest.mark.parametrize("state", ["open", "mine", "another's", "a plain connection's"])
@pytest.mark.parametrize("late", [0, 1, 10**9])
def test_a_deadline_expires_the_call(state: str, late: int) -> None:
    assert transition(STATES["open"], Tick(), DEADLINE - 1).call == STATES["open"]
    change = transition(STATES[state], Tick(), DEADLINE + late)
    assert change.call.state == "expired"
    assert change.call.lease_until is None
    assert change.call.result is not None
    assert change.call.result.status == "error"
    assert change.call.result.error.code == "timed_out"
    assert change.event == {**ENDS, "event": "expired", "result": change.call.result.model_dump()}


@pytest.mark.parametrize("late", [0, 1])
def test_the_end_of_a_lease_frees_an_idempotent_call(late: int) -> None:
    held = replace(STATES["mine"], idempotent=True)
    assert transition(held, Tick(), NOW + LEASE - 1).call == held
    change = transition(held, Tick(), NOW + LEASE + late)
    assert change.call == replace(held, state="open", client_id=None, lease_until=None)
    assert change.event == {"event": "released", "interrupt_id": "interrupt-1", "reason": "lease ended"}


@pytest.mark.parametrize("late", [0, 1])
def test_the_end_of_a_lease_interrupts_any_other_call(late: int) -> None:
    change = transition(STATES["mine"], Tick(), NOW + LEASE + late)
    assert change.call.state == "settled"
    assert change.call.result is not None
    assert change.call.result.status == "error"
    assert change.call.result.error.code == "interrupted"
    assert change.event == {**ENDS, "result": change.call.result.model_dump()}


def test_when_deadline_and_lease_have_passed_the_deadline_counts() -> None:
    for idempotent in (True, False):
        assert transition(replace(STATES["mine"], idempotent=idempotent), Tick(), DEADLINE).call.state == "expired"


def test_a_claim_without_a_lease_lasts() -> None:
    held = replace(STATES["a plain connection's"], deadline=None)
    assert transition(held, Tick(), NOW + 10**12).call == held


def test_opened() -> None:
    bare = {"interrupt_id": "interrupt-1", "tool_call_id": "call-1", "run_id": "run-1", "name": "get_location"}
    assert opened(call()) == {"event": "opened", **bare, "args": {"high": True}, "state": "open"}
    assert opened(call(deadline=5, title="T")) == {**opened(call()), "deadline": 5, "title": "T"}


# --- sequences ---

CLIENTS = st.sampled_from(["me", "another", "third"])
LEASES = st.integers(1, 20)
ANY_ACTION: st.SearchStrategy[Action] = st.one_of(
    st.builds(Claim, CLIENTS, st.none() | LEASES),
    st.builds(Release, CLIENTS, st.none() | st.text()),
    st.builds(Progress, CLIENTS, LEASES, st.integers()),
    st.builds(Settle, st.builds(success, st.integers()), st.none() | CLIENTS),
    st.builds(Cancel, st.text()),
    st.just(Tick()),
)
STEPS = st.lists(st.tuples(ANY_ACTION, st.integers(0, 10)), max_size=60)
CALLS = st.builds(call, idempotent=st.booleans(), deadline=st.none() | st.integers(0, 300).map(lambda ms: NOW + ms))


@given(CALLS, STEPS)
def test_no_sequence_of_actions_breaks_a_law(now_open: Call, steps: list[tuple[Action, int]]) -> None:
    current, now, ends, holder = now_open, NOW, 0, None
    for action, passed in steps:
        now += passed
        before = current
        try:
            change = transition(current, action, now)
        except FarsideError as error:
            assert error.code in ("call_settled", "claim_lost")
            assert error.code == "claim_lost" or before.ended
            continue
        current = change.call
        if before.ended:
            assert (current, change.event) == (before, None), "an ended call changed"
        event = change.event or {}
        ends += event.get("event") in ENDED
        if event.get("event") == "claimed":
            assert holder is None, "two clients hold the call"
            holder = event["client_id"]
        elif event.get("event") in ("released", *ENDED):
            holder = None
        assert (change.event is None) <= (current == before or before.client_id == current.client_id)
        assert current.ended == (current.state in ENDED) == (current.result is not None)
        assert (current.state == "claimed") <= (current.client_id is not None)
        assert (current.state == "open") == (current.client_id is None and not current.ended)
        if not current.ended:
            assert current.client_id == holder
        assert ends == int(current.ended), "settled twice"
        kept = {"state": "open", "client_id": None, "lease_until": None, "result": None}
        assert replace(current, **kept) == replace(now_open, **kept), "who or what the call is changed"


@given(CALLS, STEPS)
def test_who_does_not_hold_the_call_cannot_move_it(now_open: Call, steps: list[tuple[Action, int]]) -> None:
    current, now = now_open, NOW
    for action, passed in steps:
        now += passed
        try:
            after = transition(current, action, now).call
        except FarsideError:
            continue
        actor = getattr(action, "client_id", None)
        if actor is not None and not isinstance(action, Settle):
            assert current.client_id in (None, actor)
        current = after


@given(CALLS, STEPS)
def test_time_alone_ends_every_call_that_has_a_deadline(now_open: Call, steps: list[tuple[Action, int]]) -> None:
    current, now = now_open, NOW
    for action, passed in steps:
        now += passed
        try:
            current = transition(current, action, now).call
        except FarsideError:
            continue
    while (due := current.due) is not None:
        after = transition(current, Tick(), max(now, due)).call
        assert after != current, "due, but nothing happens"
        current = after
    assert current.ended or (current.deadline is None and current.lease_until is None)
