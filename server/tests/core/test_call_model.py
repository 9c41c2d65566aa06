"""A check of the whole life of a call: every history of one call, one server and two pages, within bounds.

All interleavings of what pages, server, network and time may do are searched, breadth first. A page may crash or be
closed at any moment, and be opened again, under its own id or another; connections may be lost, and what was sent on
them may arrive late, after what was sent on the next one, or never; a page may be slow; the server may restart; the run
may be cancelled, and the deadline pass, at any moment. In every state and at every step this holds:

- L2. A claim is not given to another client while it holds, and no two bodies run under one claim. Two bodies may run
  at once, but all but one of them in pages that are cut off, or have not read yet that the claim is not theirs any
  more: of our pages, one that hears everything runs only what it holds. And that only if the tool is idempotent, by:
- L8. The body of a call that is not idempotent begins at most once in the whole history, whatever crashes or is lost.
- L3. A call that has ended stays as it is.
- L4. What is acknowledged is what is stored, and by L3 it stays so.
- L9. A restart of the server leaves who holds a claim a whole lease to come back, and nobody for ever.
- Never begun, and it runs. While the call may run only once and its body has not begun, and nothing has ended it, there
  is a way to its result, if the pages come back in time and have journals: whoever proves a claim gets it, and nobody
  gives back as started what was not.
- No dead end. From every state, if nothing else goes wrong, time passes and one page is there, if only the one that was
  not: there is a way to the end of the call, after which no page that is there runs the body or remembers anything of
  it; without help from the other page, from the deadline or from cancellation.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Generator
from dataclasses import replace

import pytest

from farside.core.calls import Action, Change, Claim, Leave, Release, Restart, Settle, Tick, transition
from farside.core.model import Call
from server.tests.core.call_model import (
    Broken,
    Faults,
    Model,
    Transition,
    World,
    beginning,
    check,
    is_answered,
    is_over,
)
from server.tests.core.page_model import Kind

OURS: tuple[Kind, Kind] = ("journal", "journal")
FORGETFUL: tuple[Kind, Kind] = ("no journal", "no journal")
PLAIN_FIRST: tuple[Kind, Kind] = ("plain", "journal")
PLAIN_SECOND: tuple[Kind, Kind] = ("journal", "plain")

Leads = defaultdict[int, list[int]]
"""From which states a state is reached in one step."""


@pytest.fixture(autouse=True)
def no_garbage() -> Generator[None]:
    """A search keeps all that it makes: to look for garbage in it takes a third of the time and finds nothing."""
    gc.disable()
    yield
    gc.enable()


def search(model: Model, start: World) -> int:
    """Search everything; returns the number of states.

    Raises:
        Broken: with the history of a state in which a law does not hold, or from which nothing leads to the end.
    """
    states, before, happened = [start], [-1], ["in the beginning"]
    known = {start: 0}
    leads_back: Leads = defaultdict(list)
    comes_back: Leads = defaultdict(list)

    def history(state: int) -> str:
        lines: list[str] = []
        while state >= 0:
            lines.append(f"  {happened[state]}: {states[state].describe()}")
            state = before[state]
        return "\n".join(reversed(lines))

    current = 0
    while current < len(states):
        try:
            check(states[current])
            for what, is_fair, after, is_return in model.steps(states[current]):
                state = known.setdefault(after, len(states))
                if state == len(states):
                    states.append(after)
                    before.append(current)
                    happened.append(what)
                if is_fair:
                    leads_back[state].append(current)
                elif is_return:
                    comes_back[state].append(current)
        except Broken as broken:
            raise Broken(f"{broken}\n{history(current)}") from None
        current += 1
    for law, lost in (
        ("a dead end", dead_end(states, leads_back)),
        ("never begun: nor will it be", never_begun(states, leads_back, comes_back)),
    ):
        if lost is not None:
            raise Broken(f"{law}\n{history(lost)}")
    return len(states)


def dead_end(states: list[World], leads_back: Leads) -> int | None:
    """The first state from which no fair steps lead to the end."""
    reaches = leading([is_over(world) for world in states], leads_back)
    return reaches.index(False) if False in reaches else None


def never_begun(states: list[World], leads_back: Leads, comes_back: Leads) -> int | None:
    """The first state in which the call waits for its only execution, and no steps lead to that, though all pages come
    back. Pages without a journal may forget that they hold it."""
    if any(page.kind != "journal" for page in states[0].pages):
        return None
    reaches = leading([is_answered(world) for world in states], leads_back, comes_back)
    return next((n for n, world in enumerate(states) if world.is_untouched and not reaches[n]), None)


def leading(reaches: list[bool], *leads_back: Leads) -> list[bool]:
    """Which states lead to those that are marked, by state."""
    todo = [state for state, is_marked in enumerate(reaches) if is_marked]
    while todo:
        state = todo.pop()
        for source in (source for leads in leads_back for source in leads.get(state, ())):
            if not reaches[source]:
                reaches[source] = True
                todo.append(source)
    return reaches


# How much goes wrong, and how many states there are at least: a search that finds fewer has lost something.
BOUNDS = [
    ("any", OURS, Faults(), 55),
    ("once", OURS, Faults(crashes=1, cuts=1, restarts=1), 120_000),
    ("once", OURS, Faults(crashes=2), 55_000),
    ("once", OURS, Faults(crashes=1, declines=1, naps=1), 55_000),
    ("once", FORGETFUL, Faults(crashes=1, cuts=1), 21_500),
    ("once", PLAIN_FIRST, Faults(crashes=1, cuts=1, restarts=1), 30_000),
    ("once", PLAIN_SECOND, Faults(crashes=1, cuts=1), 14_000),
    ("any", OURS, Faults(crashes=1, restarts=1), 47_000),
    ("any", OURS, Faults(cuts=2), 15_000),
    ("any", OURS, Faults(cuts=1, naps=1), 11_500),
    ("any", FORGETFUL, Faults(crashes=1, restarts=1), 29_500),
    ("any", PLAIN_SECOND, Faults(crashes=1, cuts=1), 24_500),
]


@pytest.mark.parametrize(("runs", "kinds", "faults", "at_least"), BOUNDS, ids=str)
def test_no_history_breaks_a_law(runs: str, kinds: tuple[Kind, Kind], faults: Faults, at_least: int) -> None:
    states = search(Model(), beginning(runs == "any", kinds, faults))
    print(f"{states} states")
    assert states >= at_least


@pytest.mark.parametrize("idempotent", [False, True])
def test_no_history_breaks_a_law_where_pages_read_late(idempotent: bool) -> None:
    states = search(Model(unread=None), beginning(idempotent, OURS, Faults(cuts=1)))
    print(f"{states} states")
    assert states >= 2_900


# --- the search finds what it is for ---


def grants_what_another_holds(call: Call, action: Action, now: int) -> Change:
    if isinstance(action, Claim) and call.state == "claimed":
        call = replace(call, state="open")
    return transition(call, action, now)


def renews_for_anybody(call: Call, action: Action, now: int) -> Change:
    if isinstance(action, Claim) and call.state == "claimed":
        action = replace(action, claim_id=call.claim_id or "")
    return transition(call, action, now)


def moves_to_no_other_client(call: Call, action: Action, now: int) -> Change:
    if isinstance(action, Claim) and call.state == "claimed" and action.client_id != call.client_id:
        action = replace(action, claim_id="")
    return transition(call, action, now)


def forgets_the_claim_of_who_leaves(call: Call, action: Action, now: int) -> Change:
    change = transition(call, action, now)
    if isinstance(action, Leave) and change.call.state == "claimed" and call.client_id == action.client_id:
        return replace(change, call=replace(change.call, claim_id=""))
    return change


def frees_at_the_end_of_a_lease(call: Call, action: Action, now: int) -> Change:
    if not isinstance(action, Tick):
        return transition(call, action, now)
    change = transition(replace(call, idempotent=True), action, now)
    return replace(change, call=replace(change.call, idempotent=call.idempotent))


def takes_what_was_started_for_untouched(call: Call, action: Action, now: int) -> Change:
    return transition(call, replace(action, started=False) if isinstance(action, Release) else action, now)


def frees_what_its_client_leaves(call: Call, action: Action, now: int) -> Change:
    if isinstance(action, Leave) and call.client_id == action.client_id and not call.ended:
        return transition(call, Release(action.client_id, call.claim_id), now)
    return transition(call, action, now)


def frees_at_a_restart(call: Call, action: Action, now: int) -> Change:
    if isinstance(action, Restart) and call.state == "claimed":
        call = replace(call, state="offered")
    return transition(call, action, now)


def shortens_at_a_restart(call: Call, action: Action, now: int) -> Change:
    return transition(call, Restart(1) if isinstance(action, Restart) else action, now)


def settles_again(call: Call, action: Action, now: int) -> Change:
    if isinstance(action, Settle) and call.ended:
        call = replace(call, state="open", result=None)
    return transition(call, action, now)


def never_ends_a_lease(call: Call, action: Action, now: int) -> Change:
    if isinstance(action, Tick) and call.state == "claimed" and call.deadline is not None and now < call.deadline:
        return Change(call, None)
    return transition(call, action, now)


@pytest.mark.parametrize(
    ("wrong", "idempotent", "faults", "law"),
    [
        (grants_what_another_holds, False, Faults(cuts=1), "L2"),
        (renews_for_anybody, True, Faults(cuts=1), "L2"),
        (moves_to_no_other_client, False, Faults(crashes=1), "never begun"),
        (forgets_the_claim_of_who_leaves, False, Faults(crashes=1), "never begun"),
        (frees_at_the_end_of_a_lease, False, Faults(cuts=1), "L8"),
        (takes_what_was_started_for_untouched, False, Faults(crashes=1), "L8"),
        (frees_what_its_client_leaves, False, Faults(cuts=1), "L8"),
        (frees_at_a_restart, False, Faults(restarts=1), "L8"),
        (shortens_at_a_restart, False, Faults(restarts=1), "L9"),
        (settles_again, True, Faults(cuts=1), "L3"),
        (never_ends_a_lease, False, Faults(crashes=1), "a dead end"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_search_finds_a_transition_that(wrong: Transition, idempotent: bool, faults: Faults, law: str) -> None:
    with pytest.raises(Broken) as found:
        search(Model(wrong), beginning(idempotent, OURS, faults))
    assert str(found.value).startswith(law)
