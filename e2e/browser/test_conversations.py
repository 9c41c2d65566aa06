"""Turns, tabs and browsers: one conversation, however it is looked at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext

from e2e.browser.conftest import OpenTab, each_kind, one_agent, planned


@each_kind
def test_two_calls_are_answered_in_reverse_order(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.call(planned("hold", name="first"), planned("hold", name="second"))
    tab.until_begun("hold", 2)
    tab.release("second", 2)
    view = tab.until("calls[1].state === 'answered'")
    assert (view["status"], view["calls"][0]["state"]) == ("running", "running")
    tab.release("first", 1)
    assert tab.answer() == [{"status": "success", "value": 1}, {"status": "success", "value": 2}]
    assert [call["result"] for call in tab.view["calls"]] == [1, 2]


@one_agent
def test_what_is_said_as_soon_as_a_thread_is_opened_is_answered(open_tab: OpenTab, agent: str) -> None:
    """On many threads at once: the first run's call falls into every moment of the connection's beginning."""
    tab = open_tab(agent)
    plan = json.dumps({"calls": [planned("ping", word="ping")]})
    for turn in (1, 2):
        # More at once the browser would hold back.
        answers = tab.run(f"harness.converse(16, {json.dumps(plan)})")
        assert Counter(map(str.strip, answers)) == {json.dumps([{"status": "success", "value": "pong"}]): 16}
        assert len(tab.bodies()) == turn * 16


@each_kind
def test_text_streams_into_the_page(open_tab: OpenTab, agent: str) -> None:
    """The agent says each piece only after the page has seen the one before."""
    tab = open_tab(agent)
    tab.submit({"say": ["One ", "two ", "three ", "four."], "gate": tab.thread})
    for seen in ("One ", "One two ", "One two three "):
        view = tab.until(f"texts.at(-1) === {seen!r}")
        assert (view["status"], view["messages"][-1]["streaming"]) == ("running", True)
        tab.open_gate()
    view = tab.until("status === 'idle'")
    assert view["texts"] == ["One ", "One two ", "One two three ", "One two three four."]
    assert view["messages"][-1] == {"role": "ai", "text": "One two three four.", "streaming": False}


@one_agent
def test_a_tab_that_opens_in_the_middle_of_a_text_gets_all_of_it(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.submit({"say": ["One ", "two ", "three."], "gate": tab.thread})
    tab.until("texts.at(-1) === 'One '")
    tab.open_gate()
    tab.until("texts.at(-1) === 'One two '")
    late = open_tab(agent, thread=tab.thread)
    view = late.until("texts.at(-1) === 'One two '")
    assert (view["status"], view["messages"][-1]["streaming"]) == ("running", True)
    tab.open_gate()
    expected = tab.until("status === 'idle'")["messages"]
    assert expected[-1]["text"] == "One two three."
    assert late.until("status === 'idle'")["messages"] == expected


@each_kind
def test_stop_ends_a_body_and_everything_after_it(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    tab.run("harness.thread.stop()")
    view = tab.until("status === 'idle' && calls[0].state === 'cancelled'")
    assert view["calls"][0]["code"] == "cancelled"
    assert [entry["body"] for entry in tab.bodies()] == ["begun", "aborted"]
    assert tab.bodies()[1]["code"] == "cancelled"
    count = len(tab.sent)
    tab.release("first", "too late")
    # An answer on its way would have been sent, and would be noticed, before the next turn's.
    assert tab.ask(planned("ping", word="ping")) == [{"status": "success", "value": "pong"}]
    assert [command["method"] for command in tab.sent[count:]] == ["run.start", "call.claim", "call.settle"]
    view = tab.view
    assert [call["state"] for call in view["calls"]] == ["cancelled", "answered"]
    assert [message["role"] for message in view["messages"] if message["text"]] == ["human", "human", "ai"]
    # A fresh page is told the same.
    assert open_tab(agent, thread=tab.thread).until("messages.length > 0")["calls"] == view["calls"]


@each_kind
def test_stop_in_the_middle_of_a_text_leaves_all_pages_the_same(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.submit({"say": ["One ", "two."], "gate": tab.thread})
    tab.until("texts.at(-1) === 'One '")
    tab.run("harness.thread.stop()")
    view = tab.until("status === 'idle'")
    assert all(message["text"] for message in view["messages"])
    fresh = open_tab(agent, thread=tab.thread).until("status === 'idle' && messages.length > 0")
    assert fresh["messages"] == view["messages"]


@one_agent
def test_a_message_that_is_stopped_at_once_is_not_lost(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    plan = json.dumps({"calls": [planned("hold", name="first")]})
    tab.run(f"harness.thread.submit({json.dumps(plan)}); harness.thread.stop()")
    tab.until("status === 'idle'")
    assert tab.ask(planned("ping", word="ping")) == [{"status": "success", "value": "pong"}]
    view = tab.view
    assert [message["role"] for message in view["messages"]].count("human") == 2
    fresh = open_tab(agent, thread=tab.thread).until("messages.length > 0")
    assert (fresh["messages"], fresh["calls"]) == (view["messages"], view["calls"])


@each_kind
def test_a_fresh_page_shows_what_the_old_one_does(open_tab: OpenTab, agent: str) -> None:
    """However the calls ended."""
    tab = open_tab(agent)
    drawing = {"width": 4, "height": 4, "color": "#ffffff"}
    tab.ask(
        planned("throw", message="no"),
        planned("draw", **drawing),
        planned("draw", **drawing | {"width": 0}),
        planned("ping", word="pong"),
        planned("nowhere"),
    )
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    tab.ask(planned("ping", word="ping"))
    view = tab.view
    fresh = open_tab(agent, thread=tab.thread).until("messages.length > 0")
    assert (fresh["messages"], fresh["calls"]) == (view["messages"], view["calls"])


@each_kind
def test_a_new_message_cancels_the_call_that_is_open(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    assert tab.ask(planned("ping", word="ping")) == [{"status": "success", "value": "pong"}]
    assert [call["state"] for call in tab.view["calls"]] == ["cancelled", "answered"]
    assert [entry.get("code") for entry in tab.bodies() if entry["body"] == "aborted"] == ["cancelled"]


@one_agent
def test_a_second_tab_shows_the_conversation_and_executes_nothing(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.ask(planned("ping", word="ping"))
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    second = open_tab(agent, thread=tab.thread, context=tab.page.context)
    view = second.until("calls.at(-1)?.name === 'hold' && calls.at(-1).state === 'running'")
    assert view["status"] == "running"
    assert view["messages"] == tab.view["messages"]
    tab.release("first", "done")
    assert tab.answer() == [{"status": "success", "value": "done"}]
    assert second.answer() == [{"status": "success", "value": "done"}]
    assert second.view["messages"] == tab.view["messages"]
    assert second.view["calls"] == tab.view["calls"]
    assert second.view["log"] == []


@pytest.mark.parametrize("agent", ["graph", "pydantic_ai"])
def test_calls_whose_ids_repeat_are_told_apart(open_tab: OpenTab, agent: str) -> None:
    """A model may give the same id again in a later message."""
    tab = open_tab(agent)
    tab.ask(planned("ping", word="ping") | {"id": "call_1"})
    tab.call(planned("hold", name="first") | {"id": "call_1"})
    tab.until_begun("hold")
    second = open_tab(agent, thread=tab.thread)
    view = second.until("messages.length > 0")
    assert [(call["name"], call["state"]) for call in view["calls"]] == [("ping", "answered"), ("hold", "running")]
    tab.release("first", "done")
    assert tab.answer() == [{"status": "success", "value": "done"}]
    second.answer()
    for view in (tab.view, second.view):
        calls = [(call["name"], call["state"], call["result"]) for call in view["calls"]]
        assert calls == [("ping", "answered", "pong"), ("hold", "answered", "done")]


@one_agent
def test_of_two_tabs_one_executes(open_tab: OpenTab, agent: str) -> None:
    first = open_tab(agent)
    second = open_tab(agent, thread=first.thread, context=first.page.context)
    for turn in (1, 2, 3):
        asking = second if turn == 2 else first
        ended = f"status === 'idle' && calls.filter(({{ state }}) => state === 'answered').length === {2 * turn}"
        asking.call(planned("ping", word="ping"), planned("ping", word="ping"))
        views = [tab.until(ended) for tab in (first, second)]
        assert views[0]["messages"] == views[1]["messages"]
        assert views[0]["calls"] == views[1]["calls"]
        begun = [entry for view in views for entry in view["log"] if entry.get("body") == "begun"]
        assert len(begun) == 2 * turn


@one_agent
def test_a_closed_tab_leaves_its_open_call_to_another(open_tab: OpenTab, agent: str) -> None:
    """Nobody had begun it: the tab that asked did not have the tool."""
    tab = open_tab(agent)
    tab.run("harness.client.setTools([])")
    tab.call(planned("ping", word="ping"))
    tab.until("calls[0]?.state === 'waiting' && calls[0].isAsked")
    tab.page.close()
    late = open_tab(agent, thread=tab.thread)
    assert late.until("messages.length > 0 && status === 'idle'")["calls"][0]["state"] == "answered"
    assert late.answer() == [{"status": "success", "value": "pong"}]


@one_agent
def test_a_tool_that_comes_later_takes_the_call_that_waits(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.run("harness.client.setTools([])")
    tab.call(planned("ping", word="ping"))
    tab.until("calls[0]?.state === 'waiting' && calls[0].isAsked")
    tab.run("harness.client.setTools(harness.tools)")
    assert tab.answer() == [{"status": "success", "value": "pong"}]


@one_agent
def test_a_message_in_the_middle_of_an_answer_waits_for_its_turn(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.submit({"say": ["One ", "two."], "gate": tab.thread})
    tab.until("texts.at(-1) === 'One '")
    tab.call(planned("ping", word="ping"))
    tab.run("harness.until(() => harness.thread.getSnapshot().queued.length === 1)")
    assert tab.bodies() == []
    late = open_tab(agent, thread=tab.thread)
    late.run("harness.until(() => harness.thread.getSnapshot().queued.length === 1)")
    tab.open_gate()
    assert tab.answer() == [{"status": "success", "value": "pong"}]
    for each in (tab, late):
        messages = each.until("status === 'idle' && messages.length >= 4")["messages"]
        assert messages[1]["text"] == "One two."
        assert json.loads(messages[-1]["text"]) == [{"status": "success", "value": "pong"}]
        assert each.run("harness.thread.getSnapshot().queued") == []


@one_agent
def test_a_new_browser_finds_the_conversation_and_goes_on(
    open_tab: OpenTab, new_context: Callable[..., BrowserContext], agent: str
) -> None:
    context = new_context()
    tab = open_tab(agent, context=context)
    tab.ask(planned("ping", word="ping"))
    before = tab.view
    context.close()

    tab = open_tab(agent, thread=tab.thread)
    view = tab.until("messages.length > 0")
    assert (view["messages"], view["calls"], view["status"]) == (before["messages"], before["calls"], "idle")
    assert tab.bodies() == []
    assert tab.ask(planned("ping", word="ping")) == [{"status": "success", "value": "pong"}]
    view = tab.view
    assert view["messages"][: len(before["messages"])] == before["messages"]
    assert len(view["messages"]) == 2 * len(before["messages"])
    assert [call["state"] for call in view["calls"]] == ["answered", "answered"]
