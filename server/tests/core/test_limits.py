"""How much one run may do."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from farside.core.limits import Meter
from farside.errors import FarsideError

Told = tuple[str, dict[str, Any]]

MODEL_TURN: Told = ("messages", {"event": "message-start", "role": "ai"})


def started(tool_call_id: str) -> Told:
    return "tools", {"event": "tool-started", "tool_call_id": tool_call_id}


def opened(tool_call_id: str) -> Told:
    return "calls", {"event": "opened", "tool_call_id": tool_call_id}


def refusals(meter: Meter, *events: Told) -> int:
    """How many events of a run, one after another, are refused."""
    refused = 0
    for event in events:
        try:
            meter.count(*event)
        except FarsideError as error:
            assert error.code == "limit_exceeded"
            refused += 1
    return refused


def test_what_goes_beyond_the_limit_is_refused() -> None:
    assert refusals(Meter(None, 3), *[MODEL_TURN] * 3) == 0
    assert refusals(Meter(None, 3), *[MODEL_TURN] * 5) == 2
    assert refusals(Meter(3, None), *[started(str(n)) for n in range(3)]) == 0
    assert refusals(Meter(3, None), *[started(str(n)) for n in range(5)]) == 2


def test_each_has_its_own_limit() -> None:
    some = [started("1"), MODEL_TURN, started("2"), MODEL_TURN, MODEL_TURN]
    assert refusals(Meter(2, 3), *some) == 0
    assert refusals(Meter(1, None), *some) > 0
    assert refusals(Meter(None, 2), *some) == 1


def test_without_a_limit_there_is_none() -> None:
    meter = Meter(None, None)
    assert refusals(meter, *[MODEL_TURN] * 1000, *[started(str(n)) for n in range(1000)]) == 0


def test_a_limit_of_none_of_them_refuses_the_first() -> None:
    assert refusals(Meter(0, None), MODEL_TURN) == 0
    assert refusals(Meter(0, None), opened("1")) == 1


def test_a_call_that_is_told_of_twice_counts_once() -> None:
    for events in permutations([opened("1"), opened("2"), started("1"), started("2")]):
        assert refusals(Meter(2, None), *events) == 0
        assert refusals(Meter(1, None), *events) > 0


def test_a_tool_call_id_that_the_model_gives_again_is_another_call() -> None:
    again = [opened("1"), started("1"), opened("1"), started("1"), started("1")]
    assert refusals(Meter(3, None), *again) == 0
    assert refusals(Meter(2, None), *again) == 1


@pytest.mark.parametrize(
    "event",
    [
        ("tools", {"event": "tool-finished", "tool_call_id": "1"}),
        ("messages", {"event": "message-finish"}),
        ("messages", {"event": "tool-started"}),
        ("calls", {"event": "claimed", "interrupt_id": "1"}),
        ("values", {"messages": []}),
        ("custom", {"event": ["not", "a", "word"]}),
    ],
    ids=str,
)
def test_nothing_else_counts(event: Told) -> None:
    assert refusals(Meter(0, 0), event) == 0


def test_what_was_done_before_a_restart_counts() -> None:
    meter = Meter(2, 1)
    for event in (started("1"), opened("2"), started("2"), MODEL_TURN):
        meter.recall(*event)
    assert refusals(meter, ("tools", {"event": "tool-finished", "tool_call_id": "2"})) == 0
    assert refusals(meter, started("3")) == 1


def test_what_was_too_much_already_is_not_refused_while_it_is_recalled() -> None:
    meter = Meter(0, 0)
    meter.recall(*MODEL_TURN)
    meter.recall(*started("1"))
    assert refusals(meter, MODEL_TURN) == 1
