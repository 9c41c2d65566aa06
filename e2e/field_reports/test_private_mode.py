"""Pages that the browser lets store nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from e2e.browser.conftest import OpenTab, Tab, planned
from e2e.field_reports.conftest import IMPATIENT, reload_amid_two_tools

AGENT = "function"  # what is tested is the page's half
PONG = {"status": "success", "value": "pong"}

WAYS = {
    "missing": "Object.defineProperty(window, 'indexedDB', { value: undefined })",
    "refuses": "IDBFactory.prototype.open = () => { throw new DOMException('not here', 'SecurityError') }",
    # A newer farside has been here.
    "fails": "indexedDB.open('farside.journal', 2)",
    "does_not_answer": "IDBFactory.prototype.open = () => ({})",
    "has_no_space": """
        IDBObjectStore.prototype.put = function () { throw new DOMException("it is full", "QuotaExceededError") }""",
}


def open_page(open_tab: OpenTab, way: str, **options: str) -> tuple[Tab, list[str]]:
    """A tab without IndexedDB, and the warnings on its console."""
    warnings: list[str] = []

    def prepare(page: Page) -> None:
        page.add_init_script(WAYS[way])
        page.on("console", lambda message: warnings.append(message.text) if message.type == "warning" else None)

    return open_tab(AGENT, prepare=prepare, **options), warnings


@pytest.mark.parametrize("way", WAYS)
def test_without_indexeddb_tools_run_and_the_console_is_warned_once(open_tab: OpenTab, way: str) -> None:
    tab, warnings = open_page(open_tab, way)
    for turn in (1, 2, 3):
        assert tab.ask(planned("ping", word="ping"), planned("ping", word="ping")) == [PONG, PONG]
        assert [entry["body"] for entry in tab.bodies()] == ["begun"] * 2 * turn
    (warning,) = warnings
    assert "IndexedDB" in warning


@pytest.mark.parametrize("way", WAYS)
def test_without_indexeddb_nothing_runs_twice(open_tab: OpenTab, way: str) -> None:
    """After a reload nobody knows what had been begun: only what may run again does."""
    tab, _ = open_page(open_tab, way, app=IMPATIENT)
    lost, again = reload_amid_two_tools(tab)
    assert (lost["status"], lost["code"]) == ("error", "interrupted")
    assert again == {"status": "success", "value": "done"}
    assert [(entry["tool"], entry["body"]) for entry in tab.bodies()] == [("hold_again", "begun")]


def test_without_sessionstorage_tools_run(open_tab: OpenTab) -> None:
    """The page has another id after a reload; its journal tells it what the one before has begun."""
    refuses = (
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError') } })"
    )
    tab = open_tab(AGENT, prepare=lambda page: page.add_init_script(refuses))
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    tab.call(planned("hold", name="pay"))
    tab.until_begun("hold")
    tab.reload()
    (paid,) = tab.answer()
    assert (paid["status"], paid["code"]) == ("error", "interrupted")
    assert tab.bodies() == []
