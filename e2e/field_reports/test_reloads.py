"""F7, F8, F9, F10, F17: what becomes of calls when their page is loaded again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from e2e.browser.conftest import OpenTab, Tab, Wire, one_agent, planned
from e2e.conftest import Chromium
from e2e.field_reports.conftest import reload_amid_two_tools

PONG = {"status": "success", "value": "pong"}


def roles(tab: Tab) -> list[str]:
    return [message["role"] for message in tab.view["messages"] if message["text"]]


@one_agent
def test_f7_a_call_that_comes_after_a_reload_reaches_the_new_page(open_tab: OpenTab, agent: str) -> None:
    """The model still thinks when the page is reloaded."""
    tab = open_tab(agent)
    tab.submit_and_wait({"calls": [planned("hold", name="first")], "think": tab.thread})
    tab.reload()
    view = tab.until("status === 'running'")
    assert (view["calls"], view["log"]) == ([], [])
    tab.open_gate()
    tab.until_begun("hold")
    tab.release("first", "done")
    assert tab.answer() == [{"status": "success", "value": "done"}]


@one_agent
def test_f8_who_waits_after_a_reload_gets_the_answer(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    lost, again = reload_amid_two_tools(tab)
    assert (lost["status"], lost["code"]) == ("error", "interrupted")
    assert again == {"status": "success", "value": "done"}
    assert tab.ask(planned("ping", word="ping")) == [PONG]


@one_agent
@pytest.mark.parametrize("tool", ["hold", "hold_again"])
def test_f8_who_speaks_after_a_reload_is_answered(open_tab: OpenTab, agent: str, tool: str) -> None:
    tab = open_tab(agent)
    tab.call(planned(tool, name="first"))
    tab.until_begun(tool)
    tab.reload()
    tab.until("messages.length > 0")
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    first, second = tab.view["calls"]
    assert second["state"] == "answered"
    # It had been begun: the server may hear that from the new page before it hears the message, or after.
    assert first["code"] in {"hold": {"interrupted", "cancelled"}, "hold_again": {"cancelled"}}[tool]
    assert roles(tab).count("human") == 2
    assert [entry["tool"] for entry in tab.bodies() if entry["body"] == "begun"].count("hold") == 0


@one_agent
@pytest.mark.parametrize("tool", ["hold", "hold_again"])
def test_f8_who_speaks_as_soon_as_the_page_is_there_is_answered(open_tab: OpenTab, agent: str, tool: str) -> None:
    """Before the page knows what went on before it."""
    tab = open_tab(agent)
    tab.call(planned(tool, name="first"))
    tab.until_begun(tool)
    tab.open(say=json.dumps({"calls": [planned("ping", word="ping")]}))
    view = tab.until("messages.at(-1)?.role === 'ai' && !messages.at(-1).streaming && status === 'idle'")
    assert json.loads(view["messages"][-1]["text"]) == [PONG]
    assert view["states"]["status"] == ["running", "idle"]
    assert [call["state"] for call in view["calls"]][1:] == ["answered"]
    assert [message["role"] for message in view["messages"]].count("human") == 2


@one_agent
@pytest.mark.parametrize("end", ["reload", "kill"])
def test_f9_only_what_may_run_again_does(
    open_tab: OpenTab, start_chromium: Callable[..., Chromium], tmp_path: Path, agent: str, end: str
) -> None:
    chromium = start_chromium(tmp_path / "profile")
    tab = open_tab(agent, context=chromium.context)
    tab.call(planned("hold", name="pay"), planned("hold_again", name="look"))
    tab.until_begun("hold")
    tab.until_begun("hold_again")
    if end == "reload":
        tab.reload()
    else:
        chromium.kill_pages()
        tab = open_tab(agent, context=chromium.context, thread=tab.thread)
    tab.until_begun("hold_again")
    tab.release("look", "seen")
    paid, looked = tab.answer()
    assert (paid["status"], paid["code"]) == ("error", "interrupted")
    assert looked == {"status": "success", "value": "seen"}
    assert [(entry["tool"], entry["body"]) for entry in tab.bodies()] == [("hold_again", "begun")]
    assert [call["state"] for call in tab.view["calls"]] == ["failed", "answered"]


ENDED = "harness.until(() => threads.every((each) => each.getSnapshot().status === 'idle'))"
PLANS = [
    [planned("ping", word="ping")],
    [planned("ping", word="ping"), planned("throw", message="no"), planned("recall", key="nothing")],
    [planned("ping", word="pong")],
    [planned("hold", name="stopped"), planned("ping", word="ping")],
]
"""Calls that are answered, that fail, that the page refuses, that are cancelled."""


@one_agent
def test_f10_twenty_old_threads_are_opened_and_nothing_runs(
    open_tab: OpenTab, new_context: Callable[..., BrowserContext], agent: str
) -> None:
    """In the browser that ran them, and in another one. Then each of them runs what it is told to run now."""
    context = new_context()
    tab = open_tab(agent, context=context)
    old = {f"{tab.thread}-{number}": PLANS[number % len(PLANS)] for number in range(20)}
    tab.run(f"void (window.threads = harness.open({json.dumps(list(old))}))")
    for number, plan in enumerate(old.values()):
        tab.run(f"void threads[{number}].submit({json.dumps(json.dumps({'calls': plan}))})")
    tab.until_begun("hold", 5)
    tab.run("Promise.all(threads.filter((_, at) => at % 4 === 3).map((each) => each.stop()))")
    tab.run(ENDED)
    ended = tab.run("threads.map((each) => each.getSnapshot().toolCalls.map(({ state }) => state))")
    assert {str(states) for states in ended[:3]} == {
        "['answered']",
        "['answered', 'failed', 'answered']",
        "['failed']",
    }
    assert all(states[0] == "cancelled" for states in ended[3::4])
    tab.page.close()

    for browser in (context, new_context()):
        tab = open_tab(agent, context=browser)
        tab.run(f"void (window.threads = harness.open({json.dumps(list(old))}))")
        tab.run(ENDED)
        states = tab.run("threads.map((each) => each.getSnapshot().toolCalls.map(({ state }) => state))")
        assert [found[: len(before)] for found, before in zip(states, ended, strict=True)] == ended
        assert tab.bodies() == []
        assert [command["method"] for command in tab.sent if command["method"].startswith("call.")] == []
        # Whatever is on its way arrives before the answers to these do.
        plan = json.dumps({"calls": [planned("ping", word="ping")]})
        tab.run(f"Promise.all(threads.map((each) => each.submit({json.dumps(plan)})))")
        tab.run(ENDED)
        assert len(tab.bodies()) == 20
        assert len(tab.commands("call.settle")) == 20


@one_agent
def test_f17_a_result_that_is_computed_after_a_rejoin_leaves_the_page(
    open_wired_tab: Callable[..., tuple[Tab, Wire]], agent: str
) -> None:
    """The connection is lost, and made anew, twice while the tool runs."""
    tab, wire = open_wired_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    for rejoined in (1, 2):
        wire.cut()
        tab.until(f"states.connection.join() === 'connecting,open{',connecting,open' * rejoined}'")
    # The page has been told what is open, and still holds its call.
    tab.run("harness.until(() => harness.thread.getSnapshot().toolCalls[0].state === 'running')")
    tab.release("first", "done")
    assert tab.answer() == [{"status": "success", "value": "done"}]
    assert [entry["body"] for entry in tab.bodies()] == ["begun"]
    assert [command["result"] for command in wire.commands("call.settle")] == [{"status": "success", "value": "done"}]
