"""A tab that is frozen, or whose script never ends, holds nobody up (F24)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e.browser.conftest import OpenTab, Tab, each_agent, new_thread, planned

APP = "e2e.field_reports.app:app"
IMPATIENT = "e2e.field_reports.app:impatient"


@each_agent
def test_f24_the_deadline_fires_although_the_tab_is_frozen(
    serve: Callable[[str], str],
    start_chromium: Callable[..., Any],
    page_errors: list[str],
    tmp_path: Path,
    agent: str,
) -> None:
    """The other tab sees it at once; the frozen one when it is awake again, and its body has been aborted."""
    chromium = start_chromium(tmp_path / "profile")
    thread = new_thread()
    tab = Tab(chromium.context.new_page(), serve(APP), agent=agent, thread=thread).open()
    watcher = Tab(chromium.context.new_page(), serve(APP), agent=agent, thread=thread).open()
    tab.call(planned("hold_soon", name="first"))
    tab.until_begun("hold_soon")
    session = tab.page.context.new_cdp_session(tab.page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    watcher.until("calls.some(({ state, code }) => state === 'failed' && code === 'timed_out')")
    session.send("Page.setWebLifecycleState", {"state": "active"})

    (outcome,) = watcher.answer()
    assert (outcome["status"], outcome["code"]) == ("error", "timed_out")
    tab.until("calls.some(({ state, code }) => state === 'failed' && code === 'timed_out') && status === 'idle'")
    assert [entry["body"] for entry in tab.bodies()] == ["begun", "aborted"]
    assert watcher.bodies() == []
    # Freezing may cut the connection; the browser says so.
    page_errors[:] = [error for error in page_errors if "Back-Forward Cache" not in error]


@each_agent
def test_f24_a_tab_whose_script_never_ends_is_passed_over(open_tab: OpenTab, agent: str) -> None:
    """It asked, so it is offered the call first; it does not claim it, and the next tab gets it."""
    tab = open_tab(agent, app=IMPATIENT)
    other = open_tab(agent, app=IMPATIENT, thread=tab.thread)
    tab.run(
        "void harness.thread.submit(JSON.stringify({ calls: [{ name: 'ping', args: { word: 'ping' } }] }))"
        ".then(() => { for (;;); })"
    )
    other.until("calls.some(({ state }) => state === 'answered') && status === 'idle'")
    assert other.answer() == [{"status": "success", "value": "pong"}]
    assert len(other.bodies()) > 0
