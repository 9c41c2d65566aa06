"""F24: a tab that is frozen, or whose script does not end, holds nobody up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.browser.conftest import OpenTab, Tab, one_agent, planned
from e2e.conftest import Chromium
from e2e.field_reports.conftest import IMPATIENT

PONG = {"status": "success", "value": "pong"}
TIMED_OUT = "calls[0]?.state === 'failed' && calls[0].code === 'timed_out' && status === 'idle'"


@contextmanager
def frozen(tab: Tab) -> Iterator[None]:
    """The browser freezes the tab, which must be hidden; it is awake again afterwards."""
    assert tab.run("document.visibilityState") == "hidden"
    tab.run("window.ticks = 0; void setInterval(() => (ticks += 1), 10)")
    session = tab.page.context.new_cdp_session(tab.page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    before = tab.run("ticks")
    yield
    assert tab.run("ticks") == before
    session.send("Page.setWebLifecycleState", {"state": "active"})


@pytest.fixture
def open_two_tabs(
    open_tab: OpenTab, start_chromium: Callable[..., Chromium], tmp_path: Path, page_errors: list[str]
) -> Iterator[Callable[..., tuple[Tab, Tab]]]:
    """A tab that is hidden and one that is seen, of a browser that freezes tabs, on one thread."""

    def open_two_tabs(agent: str, **options: str) -> tuple[Tab, Tab]:
        context = start_chromium(tmp_path / "profile").context
        hidden = open_tab(agent, context=context, **options)
        return hidden, open_tab(agent, context=context, thread=hidden.thread, **options)

    yield open_two_tabs
    # Freezing may cut the connection; the browser says so.
    page_errors[:] = [error for error in page_errors if "Back-Forward Cache" not in error]


@one_agent
def test_f24_the_deadline_fires_although_the_tab_is_frozen(
    open_two_tabs: Callable[..., tuple[Tab, Tab]], agent: str
) -> None:
    """The other tab sees it at once; the frozen one when it is awake again, and its body has been aborted."""
    tab, watcher = open_two_tabs(agent)
    tab.call(planned("hold_soon", name="first"))
    tab.until_begun("hold_soon")
    with frozen(tab):
        watcher.until(TIMED_OUT)
        assert [entry["body"] for entry in tab.bodies()] == ["begun"]
    (outcome,) = watcher.answer()
    assert (outcome["status"], outcome["code"]) == ("error", "timed_out")
    tab.until(TIMED_OUT)
    tab.until("log.some(({ body }) => body === 'aborted')")
    tab.release("first", "too late")
    for each in (tab, watcher):
        assert each.ask(planned("ping", word="ping")) == [PONG]
    assert [entry["body"] for entry in tab.bodies()] == ["begun", "aborted", "begun"]
    assert len(tab.commands("call.settle")) == 1
    assert [entry["body"] for entry in watcher.bodies()] == ["begun"]


@one_agent
def test_f24_a_frozen_tab_is_passed_over(open_two_tabs: Callable[..., tuple[Tab, Tab]], agent: str) -> None:
    """It asked, so it is offered the call first; it does not claim it, and the next tab gets it."""
    tab, other = open_two_tabs(agent, app=IMPATIENT)
    tab.submit_and_wait({"calls": [planned("ping", word="ping")], "think": tab.thread})
    with frozen(tab):
        other.open_gate()
        assert other.answer() == [PONG]
        assert [entry["body"] for entry in other.bodies()] == ["begun"]
    assert tab.answer() == [PONG]
    assert tab.bodies() == []
    # It is not passed over for ever.
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    assert [entry["body"] for entry in tab.bodies()] == ["begun"]


@one_agent
def test_f24_the_deadline_fires_although_the_tab_is_busy(open_tab: OpenTab, agent: str) -> None:
    """A script that does not end keeps the tab from hearing anything."""
    tab = open_tab(agent)
    watcher = open_tab(agent, thread=tab.thread)
    tab.call(planned("hold_soon", name="first"))
    tab.until_begun("hold_soon")
    wait = f"const waiting = new XMLHttpRequest(); waiting.open('GET', '/gates/{tab.thread}', false); waiting.send()"
    tab.run(f"void setTimeout(() => {{ {wait} }})")
    watcher.until(TIMED_OUT)
    (outcome,) = watcher.answer()
    assert (outcome["status"], outcome["code"]) == ("error", "timed_out")
    watcher.open_gate()
    tab.until(TIMED_OUT)
    tab.until("log.some(({ body }) => body === 'aborted')")
    assert [entry.get("code") for entry in tab.bodies()] == [None, "timed_out"]
    assert tab.commands("call.settle") == []


@one_agent
def test_f24_a_tab_whose_script_never_ends_is_passed_over(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent, app=IMPATIENT)
    other = open_tab(agent, app=IMPATIENT, thread=tab.thread)
    tab.run(
        "void harness.thread.submit(JSON.stringify({ calls: [{ name: 'ping', args: { word: 'ping' } }] }))"
        ".then(() => { for (;;); })"
    )
    other.until("calls.some(({ state }) => state === 'answered') && status === 'idle'")
    assert other.answer() == [PONG]
    assert [entry["body"] for entry in other.bodies()] == ["begun"]
