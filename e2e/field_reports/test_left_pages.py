"""Pages that are left and come back: out of the back/forward cache, where the browser keeps them there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from e2e.browser.conftest import OpenTab, Tab, new_thread, planned
from e2e.conftest import Chromium
from e2e.field_reports.conftest import IMPATIENT

AGENT = "function"  # what is tested is the page's half
PONG = {"status": "success", "value": "pong"}
CAME_BACK = "window.cameBack = false; addEventListener('pageshow', ({ persisted }) => (cameBack = persisted))"
NO_LOCKS = "delete Navigator.prototype.locks"

each_page = pytest.mark.parametrize("without", ["", NO_LOCKS], ids=["", "no_locks"])
"""A page that holds a lock is one that a browser may not want to keep."""


@pytest.fixture
def open_kept_tab(
    open_tab: OpenTab, start_chromium: Callable[..., Chromium], tmp_path: Path, page_errors: list[str]
) -> Iterator[OpenTab]:
    """A tab of a browser that has a back/forward cache."""

    def open_kept_tab(without: str, **options: Any) -> Tab:
        def prepare(page: Page) -> None:
            page.add_init_script(f"{CAME_BACK}; {without}")

        context = start_chromium(tmp_path / "profile").context
        return open_tab(AGENT, context=context, prepare=prepare, **options)

    yield open_kept_tab
    page_errors[:] = [error for error in page_errors if "Back-Forward Cache" not in error]


def come_back(tab: Tab) -> bool:
    """Go back to the tab's page; whether it is the one that was left, not a new one."""
    # Playwright waits in vain for such a page to load.
    tab.page.go_back(wait_until="commit")
    tab.page.wait_for_function("window.harness !== undefined")
    return tab.run("cameBack")


def begun(tab: Tab) -> int:
    return len([entry for entry in tab.bodies() if entry["body"] == "begun"])


@each_page
def test_a_page_that_was_left_executes_once_when_it_is_back(open_kept_tab: OpenTab, without: str) -> None:
    tab = open_kept_tab(without)
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    for turn in (1, 2):
        tab.page.goto("about:blank")
        before = begun(tab) if come_back(tab) else 0
        assert before in (0, turn)
        tab.until("connection === 'open' && status === 'idle'")
        assert tab.ask(planned("ping", word="ping")) == [PONG]
        tab.until(f"calls.length === {turn + 1} && calls.every(({{ state }}) => state === 'answered')")
        assert begun(tab) == before + 1


@each_page
def test_a_call_that_comes_while_the_page_is_left_runs_once(open_kept_tab: OpenTab, without: str) -> None:
    """It is offered to a page that does not hear of it; that page, or a new one, gets it when it is back."""
    tab = open_kept_tab(without, app=IMPATIENT)
    tab.submit_and_wait({"calls": [planned("ping", word="ping")], "think": tab.thread})
    tab.page.goto("about:blank")
    tab.open_gate()
    come_back(tab)
    assert tab.answer() == [PONG]
    assert begun(tab) == 1


@each_page
def test_a_body_of_a_page_that_is_left_goes_on_or_is_interrupted(open_kept_tab: OpenTab, without: str) -> None:
    """It goes on with the page that is back; a new page knows that it was begun."""
    tab = open_kept_tab(without)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    tab.page.goto("about:blank")
    if come_back(tab):
        tab.until("connection === 'open' && calls[0].state === 'running'")
        tab.release("first", "done")
        assert tab.answer() == [{"status": "success", "value": "done"}]
        assert [entry["body"] for entry in tab.bodies()] == ["begun"]
    else:
        (outcome,) = tab.answer()
        assert (outcome["status"], outcome["code"]) == ("error", "interrupted")
        assert tab.bodies() == []


def test_two_pages_of_one_tab_are_two_pages(open_kept_tab: OpenTab) -> None:
    """The second one inherits the tab's id while the first one, which is kept, still has it."""
    tab = open_kept_tab("")
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    tab.open(thread=new_thread())
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    assert begun(tab) == 1
    came_back = come_back(tab)
    tab.until("connection === 'open' && status === 'idle' && calls.length === 1")
    before = begun(tab)
    assert before == (1 if came_back else 0)
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    assert begun(tab) == before + 1
