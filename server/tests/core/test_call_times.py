"""What time does to a call, at which moment, and what becomes of an execution whose outcome nobody knows (L8, L9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    Settle,
    Tick,
    transition,
)
from farside.core.model import Call, success
from farside.errors import FarsideError
from server.tests.samples import NOW, call

CLAIM, GRACE, LEASE = 5_000, 10_000, 30_000
DEADLINE = NOW + 60_000

OPEN = call(deadline=DEADLINE)
OFFERED = replace(OPEN, state="offered", client_id="me", lease_until=NOW + CLAIM)
CLAIMED = replace(OPEN, state="claimed", client_id="me", claim_id="mine", lease_until=NOW + LEASE)
PLAIN = replace(OPEN, state="claimed", client_id="connection", claim_id="its")
FREE = replace(OPEN, state="open", client_id=None, claim_id=None, lease_until=None)

HARMLESS = (0, 1, 10**9)
"""How late the timer may be."""


def code(ended: Call) -> str:
    assert ended.result is not None
    assert ended.result.status == "error"
    return ended.result.error.code


# --- deadlines ---


@pytest.mark.parametrize("before", [OPEN, OFFERED, CLAIMED, PLAIN], ids=lambda before: f"{before.state} {before.due}")
@pytest.mark.parametrize("late", HARMLESS)
def test_a_deadline_expires_the_call(before: Call, late: int) -> None:
    change = transition(before, Tick(), DEADLINE + late)
    assert (change.call.state, code(change.call)) == ("expired", "timed_out")
    assert (change.call.lease_until, change.call.ended_at, change.call.ended_by) == (None, DEADLINE + late, None)
    assert change.event == {
        "event": "expired",
        "interrupt_id": "interrupt-1",
        "tool_call_id": "call-1",
        "name": "get_location",
        "result": change.call.result and change.call.result.model_dump(),
    }


def test_a_millisecond_before_its_deadline_nothing_happens() -> None:
    for before in (OPEN, PLAIN):
        assert transition(before, Tick(), DEADLINE - 1) == Change(before, None)


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("before", [OFFERED, CLAIMED], ids=lambda before: before.state)
def test_when_both_have_passed_the_deadline_counts(before: Call, idempotent: bool) -> None:
    assert transition(replace(before, idempotent=idempotent), Tick(), DEADLINE).call.state == "expired"
    both = replace(before, idempotent=idempotent, lease_until=DEADLINE)
    assert transition(both, Tick(), DEADLINE).call.state == "expired"


def test_a_claim_does_not_move_the_deadline() -> None:
    after = transition(OPEN, Claim("me", "x", 10**9), NOW).call
    assert (after.deadline, after.due) == (DEADLINE, DEADLINE)


# --- offers ---


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("late", [0, 1])
def test_an_offer_that_nobody_took_is_void(idempotent: bool, late: int) -> None:
    offered = replace(OFFERED, idempotent=idempotent)
    assert transition(offered, Tick(), NOW + CLAIM - 1) == Change(offered, None)
    change = transition(offered, Tick(), NOW + CLAIM + late)
    assert change.call == replace(FREE, idempotent=idempotent)
    assert change.event == {"event": "released", "interrupt_id": "interrupt-1", "reason": "not claimed in time"}


def test_an_offer_is_void_when_its_client_leaves_or_the_server_was_away() -> None:
    for gone in (Leave("me", GRACE), Restart(LEASE)):
        change = transition(OFFERED, gone, NOW)
        assert change.call == FREE
        assert change.event == {"event": "released", "interrupt_id": "interrupt-1", "reason": "gone"}


# --- an unknown outcome (L8) ---


def at_the_end_of_the_lease(held: Call) -> Change:
    assert transition(held, Tick(), NOW + LEASE - 1) == Change(held, None)
    return transition(held, Tick(), NOW + LEASE)


def long_after_the_lease(held: Call) -> Change:
    return transition(held, Tick(), NOW + LEASE + 1)


def at_the_end_of_the_grace(held: Call) -> Change:
    left = transition(held, Leave("me", GRACE), NOW).call
    assert transition(left, Tick(), NOW + GRACE - 1) == Change(left, None)
    return transition(left, Tick(), NOW + GRACE)


def at_the_end_of_a_plain_connections_grace(held: Call) -> Change:
    left = transition(replace(held, lease_until=None), Leave("me", GRACE), NOW).call
    assert transition(left, Tick(), NOW + GRACE - 1) == Change(left, None)
    return transition(left, Tick(), NOW + GRACE)


def when_nobody_comes_back_after_a_restart(held: Call) -> Change:
    restarted = transition(held, Restart(LEASE), NOW + LEASE - 1).call
    assert transition(restarted, Tick(), NOW + 2 * LEASE - 2) == Change(restarted, None)
    return transition(restarted, Tick(), NOW + 2 * LEASE - 1)


def when_it_is_given_back_as_started(held: Call) -> Change:
    return transition(held, Release("me", "mine", started=True, reason="the page was reloaded"), NOW)


def when_a_page_without_a_journal_gives_it_back(held: Call) -> Change:
    return transition(held, Release("me", started=True), NOW)


def when_a_page_that_was_reopened_gives_it_back(held: Call) -> Change:
    return transition(held, Release("reopened", "mine", started=True), NOW)


WAYS = [
    at_the_end_of_the_lease,
    long_after_the_lease,
    at_the_end_of_the_grace,
    at_the_end_of_a_plain_connections_grace,
    when_nobody_comes_back_after_a_restart,
    when_it_is_given_back_as_started,
    when_a_page_without_a_journal_gives_it_back,
    when_a_page_that_was_reopened_gives_it_back,
]

every_way = pytest.mark.parametrize("lose", WAYS, ids=lambda lose: lose.__name__)


@every_way
def test_an_idempotent_call_is_free_again(lose: Callable[[Call], Change]) -> None:
    change = lose(replace(CLAIMED, idempotent=True))
    assert change.call == replace(FREE, idempotent=True)
    assert change.event is not None
    assert change.event["event"] == "released"
    assert change.event["reason"]


@every_way
def test_any_other_call_is_interrupted(lose: Callable[[Call], Change]) -> None:
    change = lose(CLAIMED)
    assert (change.call.state, code(change.call)) == ("settled", "interrupted")
    assert (change.call.lease_until, change.call.ended_by) == (None, None)
    assert change.call.ended_at is not None
    assert change.event is not None
    assert change.call.result is not None
    assert change.event["event"] == "settled"
    assert change.event["result"] == change.call.result.model_dump()


@pytest.mark.parametrize("idempotent", [False, True])
def test_what_was_not_started_is_free_again(idempotent: bool) -> None:
    held = replace(CLAIMED, idempotent=idempotent)
    assert transition(held, Release("me", "mine"), NOW).call == replace(FREE, idempotent=idempotent)


def test_what_may_have_been_started_is_not_free_by_a_late_word() -> None:
    """An offer that is declined late, or a claim that a page gave up of which another has taken it since."""
    for late in (Release("me"), Release("reopened", "mine")):
        with pytest.raises(FarsideError, match="expected to hold"):
            transition(CLAIMED, late, NOW)


# --- who is away, and comes back ---


def test_a_plain_connections_claim_lasts_while_it_is_there() -> None:
    held = replace(PLAIN, deadline=None)
    assert held.due is None
    assert transition(held, Tick(), NOW + 10**12) == Change(held, None)


def test_grace_never_makes_a_lease_longer() -> None:
    nearly_over = replace(CLAIMED, lease_until=NOW + 1)
    assert transition(nearly_over, Leave("me", GRACE), NOW) == Change(nearly_over, None)
    left = transition(CLAIMED, Leave("me", GRACE), NOW).call
    assert transition(left, Leave("me", GRACE), NOW + 5) == Change(left, None)


@pytest.mark.parametrize(
    "back",
    [
        Claim("me", "mine", LEASE),
        Claim("reopened", "mine", LEASE),
        Progress("mine", LEASE, 1),
    ],
    ids=str,
)
def test_who_comes_back_in_time_has_a_whole_lease_again(back: Action) -> None:
    left = transition(CLAIMED, Leave("me", GRACE), NOW).call
    again = transition(left, back, NOW + GRACE - 1).call
    assert (again.state, again.claim_id, again.lease_until) == ("claimed", "mine", NOW + GRACE - 1 + LEASE)


@pytest.mark.parametrize("lease_until", [None, NOW - 10**9, NOW, NOW + 1, NOW + LEASE - 1], ids=str)
def test_after_a_restart_the_holder_has_a_whole_lease_to_come_back(lease_until: int | None) -> None:
    held = replace(CLAIMED, lease_until=lease_until)
    assert transition(held, Restart(LEASE), NOW) == Change(replace(held, lease_until=NOW + LEASE), None)


def test_a_restart_makes_no_lease_shorter() -> None:
    held = replace(CLAIMED, lease_until=NOW + LEASE + 1)
    assert transition(held, Restart(LEASE), NOW) == Change(held, None)


def test_a_restart_does_not_move_the_deadline() -> None:
    late = transition(CLAIMED, Restart(LEASE), DEADLINE).call
    assert transition(late, Tick(), DEADLINE).call.state == "expired"


# --- sequences ---

CLIENTS = st.sampled_from(["me", "another", "third"])
CLAIMS = st.sampled_from(["x", "y", "z"])
TIMES = st.integers(1, 20)
ANY_ACTION: st.SearchStrategy[Action] = st.one_of(
    st.builds(Offer, CLIENTS, TIMES),
    st.builds(Claim, CLIENTS, CLAIMS, st.none() | TIMES),
    st.builds(Release, CLIENTS, st.none() | CLAIMS, st.booleans(), st.none() | st.text()),
    st.builds(Progress, CLAIMS, TIMES, st.integers()),
    st.builds(Leave, CLIENTS, TIMES),
    st.builds(Restart, TIMES),
    st.builds(Settle, st.builds(success, st.integers()), CLIENTS, st.none() | CLAIMS),
    st.builds(Cancel, st.text()),
    st.just(Tick()),
)
STEPS = st.lists(st.tuples(ANY_ACTION, st.integers(0, 10)), max_size=60)
CALLS = st.builds(call, idempotent=st.booleans(), deadline=st.none() | st.integers(0, 300).map(lambda ms: NOW + ms))


def act(before: Call, action: Action, now: int) -> Change | None:
    """What an action changed; None when it was refused, as it may be."""
    try:
        return transition(before, action, now)
    except FarsideError as error:
        assert error.code == ("call_settled" if before.ended else "claim_lost")
        return None


@given(CALLS, STEPS)
def test_listeners_always_know_who_has_a_call(current: Call, steps: list[tuple[Action, int]]) -> None:
    first, now, told = current, NOW, ("open", None)
    for action, passed in steps:
        now, before = now + passed, current
        change = act(before, action, now)
        if change is None:
            continue
        current = change.call
        event = change.event or {"event": "progress"}
        if event["event"] in ("offered", "claimed"):
            told = (event["event"], event["client_id"])
        elif event["event"] == "released":
            told = ("open", None)
        elif event["event"] != "progress":
            assert not before.ended, "it ends twice"
            told = (event["event"], None)
        assert (current.state, None if current.ended else current.client_id) == told
        assert current.ended == (current.ended_at is not None) == (current.state in ("settled", "cancelled", "expired"))
        assert (current.state in ("offered", "claimed")) <= (current.client_id is not None)
        assert (current.state == "claimed") <= (current.claim_id is not None)
        assert (current.state == "offered") <= (current.lease_until is not None)
        same = {each: getattr(first, each) for each in ("state", "client_id", "claim_id", "lease_until", "result")}
        assert replace(current, **same, ended_at=None, ended_by=None) == first, "what the call is has changed"


@given(CALLS, STEPS)
def test_an_ended_call_stays_as_it_is(current: Call, steps: list[tuple[Action, int]]) -> None:
    now = NOW
    for action, passed in steps:
        now, before = now + passed, current
        change = act(before, action, now)
        if change is not None:
            assert not before.ended or change == Change(before, None)
            current = change.call


@given(CALLS, STEPS)
def test_a_claim_is_taken_from_nobody_while_it_holds(current: Call, steps: list[tuple[Action, int]]) -> None:
    now = NOW
    for action, passed in steps:
        now, before = now + passed, current
        change = act(before, action, now)
        current = before if change is None else change.call
        if before.state == current.state == "claimed":
            assert current.claim_id == before.claim_id


@given(CALLS, STEPS)
def test_time_alone_ends_every_call_that_has_a_deadline(current: Call, steps: list[tuple[Action, int]]) -> None:
    now = NOW
    for action, passed in steps:
        now += passed
        change = act(current, action, now)
        current = current if change is None else change.call
    while (due := current.due) is not None:
        after = transition(current, Tick(), max(now, due)).call
        assert after != current, "due, but nothing happens"
        current = after
    assert current.ended or (current.deadline is None and current.lease_until is None)
