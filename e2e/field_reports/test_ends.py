"""F16, F20: calls that end by a stop, and calls that end as soon as they begin."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from e2e.browser.conftest import OpenTab, Tab, one_agent, planned

PONG = {"status": "success", "value": "pong"}


def steps(tab: Tab) -> int:
    """How many steps the agent took in turns whose plans count them."""
    return tab.run(f"fetch('/steps/{tab.thread}').then((response) => response.json())")


@one_agent
def test_f16_after_a_stop_nothing_runs(open_tab: OpenTab, agent: str) -> None:
    """The body takes no notice of its signal, and finishes."""
    tab = open_tab(agent)
    tab.submit({"calls": [planned("hold", name="first")], "count": tab.thread})
    tab.until_begun("hold")
    tab.run("harness.thread.stop()")
    assert [entry.get("code") for entry in tab.bodies() if entry["body"] == "aborted"] == ["cancelled"]
    tab.until("status === 'idle'")
    tab.release("first", "too late")
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    assert steps(tab) == 1
    assert tab.commands("call.settle")[:-1] == []
    assert [message["role"] for message in tab.view["messages"] if message["text"]] == ["human", "human", "ai"]
    assert [call["state"] for call in tab.view["calls"]] == ["cancelled", "answered"]


@one_agent
def test_f16_a_stop_in_another_tab_reaches_the_body(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    other = open_tab(agent, thread=tab.thread)
    tab.submit({"calls": [planned("hold", name="first")], "count": tab.thread})
    tab.until_begun("hold")
    other.until("calls[0]?.state === 'running'")
    other.run("harness.thread.stop()")
    tab.until("log.some((entry) => entry.body === 'aborted' && entry.code === 'cancelled')")
    tab.release("first", "too late")
    assert tab.ask(planned("ping", word="ping")) == [PONG]
    assert steps(tab) == 1
    assert len(tab.commands("call.settle")) == 1


@one_agent
def test_f16_a_turn_that_is_not_stopped_takes_two_steps(open_tab: OpenTab, agent: str) -> None:
    """What the other tests count."""
    tab = open_tab(agent)
    tab.submit({"calls": [planned("ping", word="ping")], "count": tab.thread})
    assert tab.answer() == [PONG]
    assert steps(tab) == 2


def with_journal(_page: Page) -> None: ...


def without_journal(page: Page) -> None:
    """Nothing comes between the claim and the body, or between the body and its answer."""
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")


@one_agent
@pytest.mark.parametrize("prepare", [with_journal, without_journal])
def test_f20_what_is_answered_in_the_same_tick_is_not_lost(open_tab: OpenTab, agent: str, prepare: Any) -> None:
    tab = open_tab(agent, prepare=prepare)
    asked = [planned("ping", word="ping")] * 10
    for turn in (1, 2, 3):
        assert tab.ask(*asked) == [PONG] * 10
        assert len(tab.bodies()) == len(tab.commands("call.settle")) == 10 * turn
    # As the official clients have it.
    tab.run("harness.client.setTools([{ tool: { name: 'ping' }, execute: () => 'pong' }])")
    assert tab.ask(*asked) == [PONG] * 10
