"""What goes wrong in a page, or before it: always an error with a code that the model hears of."""

from __future__ import annotations

from e2e.browser.conftest import OpenTab, each_kind, one_agent, planned


@each_kind
def test_what_a_body_throws_reaches_the_model_as_an_error(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    (outcome,) = tab.ask(planned("throw", message="the lamp is broken"))
    assert (outcome["status"], outcome["code"]) == ("error", "failed")
    assert "the lamp is broken" in outcome["message"]
    view = tab.view
    assert (view["calls"][0]["state"], view["calls"][0]["code"]) == ("failed", "failed")
    assert view["log"][-1] == {"tool": "throw", "phase": "error", "code": "failed"}
    # The conversation goes on.
    assert tab.ask(planned("ping", word="ping")) == [{"status": "success", "value": "pong"}]


@one_agent
def test_a_tool_that_no_page_has_waits_until_its_deadline(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    (outcome,) = tab.ask(planned("nowhere"))
    assert (outcome["status"], outcome["code"]) == ("error", "timed_out")
    view = tab.view
    assert view["states"]["nowhere"][-2:] == ["waiting", "failed"]
    assert view["calls"][0]["code"] == "timed_out"
    assert view["log"] == []
    assert tab.commands("call.claim") == []


@one_agent
def test_arguments_that_the_page_refuses_do_not_reach_the_body(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    (outcome,) = tab.ask(planned("ping", word="pong"))
    assert (outcome["status"], outcome["code"]) == ("error", "invalid_args")
    assert "word: expected ping, got pong" in outcome["message"]
    view = tab.view
    assert (view["calls"][0]["state"], view["calls"][0]["code"]) == ("failed", "invalid_args")
    assert tab.bodies() == []


@each_kind
def test_arguments_that_the_server_refuses_reach_no_page(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    (outcome,) = tab.ask(planned("draw", width=0, height="high", color="red"))
    assert (outcome["status"], outcome["code"]) == ("error", "invalid_args")
    assert "width" in outcome["message"]
    assert "height" in outcome["message"]
    view = tab.view
    assert view["log"] == []
    assert [call for call in view["calls"] if call["isAsked"]] == []
    assert tab.commands("call.claim") == []
    # What the model asked for is shown, and that it failed.
    assert [call["state"] for call in view["calls"]] == ([] if agent == "function" else ["failed"])


@each_kind
def test_a_result_that_the_server_refuses_is_an_error(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    (outcome,) = tab.ask(planned("mislead"))
    assert (outcome["status"], outcome["code"]) == ("error", "invalid_result")
    (call,) = tab.view["calls"]
    assert (call["state"], call["code"]) == ("failed", "invalid_result")
    assert len(tab.commands("call.settle")) == 1


@each_kind
def test_one_of_two_calls_fails(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    failed, answered = tab.ask(planned("throw", message="no"), planned("ping", word="ping"))
    assert (failed["status"], failed["code"]) == ("error", "failed")
    assert answered == {"status": "success", "value": "pong"}
    assert [call["state"] for call in tab.view["calls"]] == ["failed", "answered"]
