"""What a run recorded, and whether a replay still does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from farside.core.journal import Journal
from farside.core.model import JournalEntry
from farside.errors import FarsideError
from server.tests.samples import call

STEP = JournalEntry("thread-1", "run-1", "run-1:1", "step", "fetch", {"a": 1})
SAY = JournalEntry("thread-1", "run-1", "run-1:2", "say", "", None)
CALL = call(interrupt_id="run-1:3")


def journal() -> Journal:
    return Journal("run-1", {entry.position: entry for entry in (STEP, SAY)}, {CALL.interrupt_id: CALL})


def test_gives_back_what_was_recorded() -> None:
    replay = journal()
    assert replay.entry("run-1:1", "step", "fetch") == STEP
    assert replay.entry("run-1:2", "say", "") == SAY
    assert replay.call("run-1:3", "get_location", {"high": True}) == CALL
    replay.finish()


def test_has_nothing_for_a_new_position() -> None:
    replay = journal()
    assert replay.entry("run-1:4", "step", "fetch") is None
    assert replay.call("run-1:5", "get_location", {}) is None


@pytest.mark.parametrize(
    ("ask", "recorded", "asked"),
    [
        (lambda j: j.entry("run-1:1", "step", "other"), "step fetch", "step other"),
        (lambda j: j.entry("run-1:1", "say", ""), "step fetch", "say"),
        (lambda j: j.entry("run-1:2", "step", "fetch"), "say", "step fetch"),
        (lambda j: j.entry("run-1:3", "step", "fetch"), "call get_location", "step fetch"),
        (lambda j: j.call("run-1:1", "get_location", {}), "step fetch", "call get_location"),
        (lambda j: j.call("run-1:2", "get_location", {}), "say", "call get_location"),
        (lambda j: j.call("run-1:3", "copy", {"high": True}), "call get_location", "call copy"),
        (lambda j: j.call("run-1:3", "get_location", {"high": False}), "{'high': True}", "{'high': False}"),
    ],
)
def test_something_else_at_a_position_is_a_mismatch(ask: Callable[[Journal], Any], recorded: str, asked: str) -> None:
    with pytest.raises(FarsideError) as caught:
        ask(journal())
    assert caught.value.code == "journal_mismatch"
    for words in ("run-1, position ", f"the journal has {recorded}" if "{" not in recorded else recorded, asked):
        assert words in caught.value.message


def test_a_replay_that_ends_early_is_a_mismatch() -> None:
    replay = journal()
    replay.entry("run-1:1", "step", "fetch")
    replay.entry("run-1:2", "say", "")
    with pytest.raises(FarsideError) as caught:
        replay.finish()
    assert caught.value.code == "journal_mismatch"
    assert "position 3:" in caught.value.message


def test_an_empty_journal_is_finished() -> None:
    Journal("run-1", {}, {}).finish()
