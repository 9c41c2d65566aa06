"""F11, F28: several tabs on one thread."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from e2e.browser.conftest import OpenTab, Tab, one_agent, planned
from e2e.conftest import Chromium

PONG = {"status": "success", "value": "pong"}


def client_id(tab: Tab) -> str:
    """Under which id the server knows the tab."""
    return tab.commands("client.announce")[-1]["client_id"]


def begun(tab: Tab) -> int:
    return len([entry for entry in tab.bodies() if entry["body"] == "begun"])


def duplicated(tab: Tab) -> Tab:
    """A tab that has inherited the id under which the other one lives."""
    duplicate = tab.duplicate()
    assert client_id(tab) in duplicate.run("Object.values(sessionStorage)")
    return duplicate.open()


@one_agent
def test_f11_of_three_tabs_the_one_that_asked_executes(
    open_tab: OpenTab, start_chromium: Callable[..., Chromium], tmp_path: Path, agent: str
) -> None:
    """One of them is a duplicate of another; the browser shows one and hides two."""
    context = start_chromium(tmp_path / "profile").context
    first = open_tab(agent, context=context)
    tabs = [first, open_tab(agent, context=context, thread=first.thread), duplicated(first)]
    assert len({client_id(tab) for tab in tabs}) == 3
    assert sorted(tab.run("document.visibilityState") for tab in tabs) == ["hidden", "hidden", "visible"]
    for turn, asking in enumerate((0, 1, 2, 0), start=1):
        before = [begun(tab) for tab in tabs]
        asked = [planned("ping", word="ping"), planned("ping", word="ping")]
        assert tabs[asking].ask(*asked) == [PONG, PONG]
        for tab in tabs:
            tab.until(f"status === 'idle' && calls.filter((each) => each.state === 'answered').length === {2 * turn}")
        assert [begun(tab) - count for tab, count in zip(tabs, before, strict=True)] == [
            2 if at == asking else 0 for at in range(3)
        ]
    ids = [client_id(tab) for tab in tabs]
    assert [client_id(tab.reload()) for tab in tabs] == ids


@one_agent
def test_f11_a_tab_is_duplicated_while_it_executes(
    open_tab: OpenTab, start_chromium: Callable[..., Chromium], tmp_path: Path, agent: str
) -> None:
    """What the tab has noted belongs to it for as long as it lives."""
    first = open_tab(agent, context=start_chromium(tmp_path / "profile").context)
    first.call(planned("hold", name="pay"), planned("hold_again", name="look"))
    first.until_begun("hold")
    first.until_begun("hold_again")
    second = duplicated(first)
    second.until("calls.length === 2 && calls.every(({ state }) => state === 'running')")
    first.release("pay", "paid")
    second.until("calls[0].state === 'answered'")
    second.reload()
    first.release("look", "seen")
    for tab in (first, second):
        assert tab.answer() == [{"status": "success", "value": "paid"}, {"status": "success", "value": "seen"}]
    assert (begun(first), begun(second)) == (2, 0)
    # It has no need of the other one.
    first.page.close()
    assert second.ask(planned("ping", word="ping")) == [PONG]


@one_agent
def test_f28_the_status_is_running_for_as_long_as_a_tool_runs(open_tab: OpenTab, agent: str) -> None:
    """In the tab that executes, in one that watches, and in one that comes later."""
    tab = open_tab(agent)
    watching = open_tab(agent, thread=tab.thread)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    late = open_tab(agent, thread=tab.thread)
    for each in (tab, watching, late):
        view = each.until("calls[0]?.state === 'running'")
        assert view["status"] == "running"
        assert "answered" not in view["states"]["hold"]
    tab.release("first", "done")
    for each in (tab, watching, late):
        view = each.until("status === 'idle'")
        assert view["calls"][0]["state"] == "answered"
    # Once it was running it was nothing else until the answer was there.
    assert tab.view["states"]["status"][-2:] == ["running", "idle"]
    assert tab.view["states"]["status"].count("running") == 1
    assert watching.view["states"]["status"].count("running") == 1
    assert late.view["states"]["status"].count("running") == 1


@one_agent
def test_f28_a_page_that_speaks_at_once_is_at_work_until_the_answer(open_tab: OpenTab, agent: str) -> None:
    """The message ends a run that the page does not know of yet. Nobody is told that all is done before it is."""
    tab = open_tab(agent)
    tab.call(planned("hold_again", name="first"))
    tab.until_begun("hold_again")
    tab.open(say=json.dumps({"calls": [planned("ping", word="ping")]}))
    view = tab.until("status === 'idle' && messages.at(-1)?.role === 'ai' && !messages.at(-1).streaming")
    assert view["states"]["status"] == ["running", "idle"]
