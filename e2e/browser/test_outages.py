"""kill -9 and cut sockets at the moments that count: every body runs once, every answer counts once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from e2e.browser.conftest import (
    HASTY,
    OpenTab,
    Tab,
    Wire,
    each_agent,
    each_encoding,
    each_kind,
    one_agent,
    outage,
    planned,
    restarted,
)
from e2e.conftest import Server

pytestmark = pytest.mark.usefixtures("refusals_expected")

OpenWiredTab = Callable[..., tuple[Tab, Wire]]


def success(value: object) -> dict[str, object]:
    return {"status": "success", "value": value}


def begun(tab: Tab) -> int:
    return len([entry for entry in tab.bodies() if entry["body"] == "begun"])


# --- the server dies ---


@each_kind
def test_killed_while_calls_are_open(open_tab: OpenTab, server: Server, agent: str) -> None:
    """One is answered before, one while the server is down, one afterwards."""
    tab = open_tab(agent)
    tab.call(*(planned("hold", name=name) for name in ("before", "meanwhile", "after")))
    tab.until_begun("hold", 3)
    tab.release("before", 1)
    tab.until("calls[0].state === 'answered'")
    with outage(server):
        tab.until("connection === 'connecting'")
        tab.release("meanwhile", 2)
    tab.until("connection === 'open' && calls[1].state === 'answered'")
    tab.release("after", 3)
    assert tab.answer() == [success(1), success(2), success(3)]
    assert begun(tab) == 3
    assert [call["result"] for call in tab.view["calls"]] == [1, 2, 3]
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]


@each_agent
def test_killed_with_the_answer_on_its_way(open_wired_tab: OpenWiredTab, server: Server, agent: str) -> None:
    """The body has finished; the server dies before it hears of it."""
    tab, wire = open_wired_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    wire.lose_command("call.settle", server.kill)
    with restarted(server):
        tab.release("first", "done")
        tab.until("connection === 'connecting'")
    assert tab.answer() == [success("done")]
    assert begun(tab) == 1
    assert len(wire.commands("call.settle")) == 2


@each_kind
def test_killed_with_the_acknowledgement_on_its_way(open_wired_tab: OpenWiredTab, server: Server, agent: str) -> None:
    """The server has stored the answer and dies; the page does not know, and asks by sending it again."""
    tab, wire = open_wired_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    wire.lose_reply("call.settle", server.kill)
    with restarted(server):
        tab.release("first", "done")
        tab.until("connection === 'connecting'")
    assert tab.answer() == [success("done")]
    assert begun(tab) == 1
    assert len(wire.commands("call.settle")) == 2
    (call,) = tab.view["calls"]
    assert (call["state"], call["result"]) == ("answered", "done")
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]


@each_agent
def test_killed_before_any_page_took_the_call(open_wired_tab: OpenWiredTab, server: Server, agent: str) -> None:
    tab, wire = open_wired_tab(agent)
    wire.lose_command("call.claim", server.kill)
    with restarted(server):
        tab.call(planned("ping", word="ping"))
        tab.until("connection === 'connecting'")
    assert tab.answer() == [success("pong")]
    assert begun(tab) == 1


@each_agent
def test_killed_when_the_call_was_taken_but_the_page_does_not_know(
    open_wired_tab: OpenWiredTab, server: Server, agent: str
) -> None:
    tab, wire = open_wired_tab(agent)
    wire.lose_reply("call.claim", server.kill)
    with restarted(server):
        tab.call(planned("ping", word="ping"))
        tab.until("connection === 'connecting'")
    assert tab.answer() == [success("pong")]
    assert begun(tab) == 1


@one_agent
def test_a_deadline_passes_while_the_server_is_down(open_tab: OpenTab, server: Server, agent: str) -> None:
    tab = open_tab(agent)
    tab.grant("geolocation")
    tab.call(planned("get_location_soon"))
    tab.until_begun("get_location_soon")
    with outage(server):
        tab.until("connection === 'connecting'")
    (outcome,) = tab.answer()
    assert (outcome["status"], outcome["code"]) == ("error", "timed_out")
    assert [entry["body"] for entry in tab.bodies()] == ["begun", "aborted"]


@each_kind
def test_killed_in_the_middle_of_a_text(open_tab: OpenTab, server: Server, agent: str) -> None:
    """It is said again; nobody sees it twice, or a half of it for good."""
    tab = open_tab(agent)
    tab.submit({"say": ["One ", "two."], "gate": tab.thread})
    tab.until("texts.at(-1) === 'One '")
    with outage(server):
        tab.until("connection === 'connecting'")
    tab.until("connection === 'open'")
    tab.open_gate()
    view = tab.until("['idle', 'failed'].includes(status)")
    assert (view["status"], view["error"]) == ("idle", None)
    assert [message["text"] for message in view["messages"][1:]] == ["One two."]
    assert view["messages"][-1]["streaming"] is False


@each_agent
def test_said_while_the_server_is_down(open_tab: OpenTab, server: Server, agent: str) -> None:
    tab = open_tab(agent)
    with outage(server):
        tab.until("connection === 'connecting'")
        tab.call(planned("ping", word="ping"))
        view = tab.view
        assert (view["status"], len(view["messages"])) == ("running", 1)
    assert tab.answer() == [success("pong")]
    assert [message["role"] for message in tab.view["messages"]].count("human") == 1


# --- the page dies ---


@one_agent
def test_a_body_that_was_lost_with_its_page_does_not_run_again(open_tab: OpenTab, agent: str) -> None:
    """Nobody knows how far it came."""
    tab = open_tab(agent, app=HASTY)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    tab.open()
    (outcome,) = tab.answer()
    assert (outcome["status"], outcome["code"]) == ("error", "interrupted")
    (call,) = tab.view["calls"]
    assert (call["state"], call["code"]) == ("failed", "interrupted")
    assert tab.bodies() == []


@one_agent
def test_a_body_that_may_run_again_does_in_another_page(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent, app=HASTY)
    other = open_tab(agent, app=HASTY, thread=tab.thread)
    other.run("harness.client.setTools([])")
    tab.call(planned("hold_again", name="first"))
    tab.until_begun("hold_again")
    other.run("harness.client.setTools(harness.tools)")
    tab.page.close()
    other.until_begun("hold_again")
    other.release("first", "done")
    assert other.answer() == [success("done")]


# --- the socket dies ---


@one_agent
def test_cut_in_the_middle_of_a_body(open_wired_tab: OpenWiredTab, agent: str) -> None:
    """The body goes on; its answer is sent over the next connection."""
    tab, wire = open_wired_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    wire.cut()
    tab.until("states.connection.join() === 'connecting,open,connecting,open'")
    tab.release("first", "done")
    assert tab.answer() == [success("done")]
    assert begun(tab) == 1
    assert (wire.connections, len(wire.commands("call.settle"))) == (2, 1)


@each_encoding
@one_agent
def test_cut_with_the_answer_on_its_way(open_wired_tab: OpenWiredTab, agent: str, encoding: str) -> None:
    """It is sent again after the reconnect, byte for byte."""
    tab, wire = open_wired_tab(agent, encoding=encoding)
    wire.lose_command("call.settle", wire.cut)
    (outcome,) = tab.ask(planned("draw", width=20, height=10, color="#5b5bd6"))
    (drawn,) = [entry["drawn"] for entry in tab.view["log"] if "drawn" in entry]
    assert outcome == success({**drawn, "size": [20, 10], "left": ["#5b5bd6"]})
    assert begun(tab) == 1
    lost, sent = wire.commands("call.settle")
    assert lost == sent
    assert wire.connections == 2


@each_encoding
@one_agent
def test_cut_with_the_acknowledgement_on_its_way(open_wired_tab: OpenWiredTab, agent: str, encoding: str) -> None:
    """The page sends the answer again, which settles nothing again."""
    tab, wire = open_wired_tab(agent, encoding=encoding)
    wire.lose_reply("call.settle", wire.cut)
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]
    assert begun(tab) == 1
    assert len(wire.commands("call.settle")) == 2
    assert wire.connections == 2
    (call,) = tab.view["calls"]
    assert (call["state"], call["result"]) == ("answered", "pong")


@one_agent
def test_cut_with_the_claim_on_its_way(open_wired_tab: OpenWiredTab, agent: str) -> None:
    tab, wire = open_wired_tab(agent)
    wire.lose_command("call.claim", wire.cut)
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]
    assert (begun(tab), wire.connections) == (1, 2)


@one_agent
def test_cut_when_the_call_was_taken_but_the_page_does_not_know(open_wired_tab: OpenWiredTab, agent: str) -> None:
    """It finds its own claim when it comes back."""
    tab, wire = open_wired_tab(agent)
    wire.lose_reply("call.claim", wire.cut)
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]
    assert (begun(tab), wire.connections) == (1, 2)


@each_agent
def test_cut_with_a_message_on_its_way(open_wired_tab: OpenWiredTab, agent: str) -> None:
    tab, wire = open_wired_tab(agent)
    wire.lose_command("run.start", wire.cut)
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]
    assert [message["role"] for message in tab.view["messages"]].count("human") == 1


@one_agent
def test_cut_when_a_message_was_taken_but_the_page_does_not_know(open_wired_tab: OpenWiredTab, agent: str) -> None:
    """The page sends it again, which starts nothing again."""
    tab, wire = open_wired_tab(agent)
    wire.lose_reply("run.start", wire.cut)
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]
    assert len(wire.commands("run.start")) == 2
    assert begun(tab) == 1
    assert [message["role"] for message in tab.view["messages"]].count("human") == 1


@each_agent
def test_cut_when_the_run_was_stopped(open_wired_tab: OpenWiredTab, agent: str) -> None:
    tab, wire = open_wired_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    wire.lose_command("run.cancel", wire.cut)
    tab.run("harness.thread.stop()")
    view = tab.until("status === 'idle' && calls[0].state === 'cancelled'")
    assert view["calls"][0]["code"] == "cancelled"
    assert [entry["body"] for entry in tab.bodies()] == ["begun", "aborted"]
    assert tab.ask(planned("ping", word="ping")) == [success("pong")]


@each_kind
def test_cut_in_the_middle_of_a_text(open_wired_tab: OpenWiredTab, agent: str) -> None:
    """What was said meanwhile is not missed, and nothing is shown twice."""
    tab, wire = open_wired_tab(agent)
    tab.submit({"say": ["One ", "two ", "three."], "gate": tab.thread})
    tab.until("texts.at(-1) === 'One '")
    wire.cut()
    tab.open_gate()
    tab.until("texts.at(-1) === 'One two '")
    tab.open_gate()
    view = tab.until("status === 'idle'")
    assert [message["text"] for message in view["messages"][1:]] == ["One two three."]
    assert view["texts"] == ["One ", "One two ", "One two three."]
