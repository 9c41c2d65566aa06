"""Who is offered a call."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.core.routing import Presence, choose

TOOL = {"get_location": frozenset[str]()}
PAGE = Presence("page", TOOL)


def page(client_id: str, **changes: Any) -> Presence:
    return replace(PAGE, client_id=client_id, **changes)


def chosen(*clients: Presence, starter: str | None = None, passed: frozenset[str] = frozenset()) -> str | None:
    """Who is chosen, in whatever order they are listed."""
    choices = [choose("get_location", order, starter, passed) for order in permutations(clients)]
    [client_id] = {None if choice is None else choice.client_id for choice in choices}
    return client_id


def test_nobody_is_chosen_where_nobody_can_take_it() -> None:
    assert chosen() is None
    assert chosen(page("a", tools={"other": frozenset()}), page("b", tools={})) is None
    assert chosen(page("a"), passed=frozenset({"a"})) is None


def test_who_does_not_implement_the_tool_is_not_chosen_whatever_speaks_for_it() -> None:
    other = page("other", tools={"other": frozenset()}, focused=True, active=9)
    assert chosen(page("able", visible=False), other, starter="other") == "able"


def test_who_declined_is_passed_over() -> None:
    assert chosen(page("a", focused=True), page("b"), passed=frozenset({"a"})) == "b"


def test_who_has_the_tool_with_other_schemas_is_not_chosen_where_that_matters() -> None:
    old = page("old", fingerprints={"get_location": "0", "other": "1"}, focused=True, active=9)
    for able in (page("new", fingerprints={"get_location": "1"}), page("mute"), page("plain", tools=None)):
        assert choose("get_location", [old, able], "old", fingerprint="1") == able
    assert choose("get_location", [old], "old", fingerprint="1") is None
    assert choose("get_location", [old, page("mute")], "old") == old


DENIED = {"tools": {"get_location": frozenset({"geolocation", "camera"})}, "denied": frozenset({"camera"})}
PLAIN = {"tools": None}

# Each comes before all that follow, whatever else speaks for those.
ORDER: dict[str, tuple[Presence, Presence]] = {
    "whose browser allows it": (page("first", visible=False), page("second", **DENIED, focused=True, active=9)),
    "who started the run": (page("starter", visible=False), page("second", focused=True, active=9)),
    "who said that it has the tool": (page("first", visible=False), page("second", **PLAIN, focused=True, active=9)),
    "who has the focus": (page("first", focused=True, visible=False), page("second", active=9)),
    "who is visible": (page("first"), page("second", visible=False, active=9)),
    "who was active last": (page("first", active=2), page("second", active=1)),
}


@pytest.mark.parametrize("reason", ORDER)
def test_first_comes(reason: str) -> None:
    first, second = ORDER[reason]
    assert chosen(first, second, starter="starter") == first.client_id


def test_a_plain_connection_that_started_the_run_comes_before_a_page_that_has_the_tool() -> None:
    assert chosen(page("starter", **PLAIN), page("second", focused=True), starter="starter") == "starter"


def test_a_permission_counts_only_for_the_tools_that_need_it() -> None:
    needs_another = page("first", tools={"get_location": frozenset({"geolocation"})}, denied=frozenset({"camera"}))
    assert chosen(replace(needs_another, focused=True), page("second")) == "first"


def test_who_started_the_run_is_not_chosen_where_a_permission_is_denied_and_another_can() -> None:
    assert chosen(page("starter", **DENIED), page("second", visible=False), starter="starter") == "second"


def test_where_all_are_denied_the_first_is_chosen_so_that_the_model_hears_why() -> None:
    assert chosen(page("a", **DENIED), page("b", **DENIED, focused=True)) == "b"


def test_a_plain_connection_is_denied_nothing() -> None:
    assert chosen(page("a", **DENIED), page("b", tools=None, denied=frozenset({"camera"}))) == "b"


PRESENCES = st.builds(
    Presence,
    st.sampled_from("abc"),
    st.none() | st.dictionaries(st.sampled_from(["get_location", "other"]), st.just(frozenset({"camera"}))),
    st.sampled_from([frozenset[str](), frozenset({"camera"})]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
)


@given(st.lists(PRESENCES, max_size=5), st.none() | st.sampled_from("abc"), st.sets(st.sampled_from("abc")))
def test_whoever_is_chosen_can_take_it_and_somebody_is_if_anybody_can(
    clients: list[Presence], starter: str | None, passed: set[str]
) -> None:
    able = [client for client in clients if client.implements("get_location") and client.client_id not in passed]
    choice = choose("get_location", clients, starter, passed)
    assert choice in able if able else choice is None
