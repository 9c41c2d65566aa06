"""F12: the connection dies, and nobody is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from e2e.browser.conftest import OpenTab, Tab, each_encoding, one_agent, planned
from e2e.field_reports.conftest import WATCHFUL, Network

RECONNECTED = "states.connection.join() === 'connecting,open,connecting,open'"


@pytest.fixture
def open_remote_tab(
    open_network: Callable[[str], Network], open_tab: OpenTab, serve: Callable[[str], str]
) -> Callable[..., tuple[Tab, Network]]:
    """A tab with a network between it and the server; both look for signs of life every second.

    The network is the first fixture, so that it is still there when the tab is closed.
    """

    def open_remote_tab(agent: str, encoding: str = "msgpack") -> tuple[Tab, Network]:
        network = open_network(serve(WATCHFUL))
        server = f"http://{network.address}/farside"
        return open_tab(agent, app=WATCHFUL, encoding=encoding, server=server), network

    return open_remote_tab


@each_encoding
@one_agent
def test_f12_an_answer_that_vanished_is_sent_again(
    open_remote_tab: Callable[..., tuple[Tab, Network]], agent: str, encoding: str
) -> None:
    tab, network = open_remote_tab(agent, encoding)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    with network.falls_silent():
        tab.release("first", "done")
    tab.until(RECONNECTED)
    assert tab.answer() == [{"status": "success", "value": "done"}]
    assert [entry["body"] for entry in tab.bodies()] == ["begun"]
    lost, sent = tab.commands("call.settle")
    assert lost == sent


@one_agent
def test_f12_a_call_that_vanished_on_its_way_to_the_page_runs_once(
    open_remote_tab: Callable[..., tuple[Tab, Network]], agent: str
) -> None:
    """The page looks alive to the server, and the other way round."""
    tab, network = open_remote_tab(agent)
    tab.submit_and_wait({"calls": [planned("ping", word="ping")], "think": tab.thread})
    with network.falls_silent():
        pass  # Until the first sign of life that does not arrive.
    tab.open_gate()
    assert tab.answer() == [{"status": "success", "value": "pong"}]
    assert tab.view["states"]["connection"] == ["connecting", "open", "connecting", "open"]
    assert [entry["body"] for entry in tab.bodies()] == ["begun"]


@one_agent
def test_f12_a_body_outlives_a_silence(open_remote_tab: Callable[..., tuple[Tab, Network]], agent: str) -> None:
    tab, network = open_remote_tab(agent)
    tab.call(planned("hold", name="first"))
    tab.until_begun("hold")
    with network.falls_silent():
        pass
    tab.until(RECONNECTED)
    tab.release("first", "done")
    assert tab.answer() == [{"status": "success", "value": "done"}]
    assert [entry["body"] for entry in tab.bodies()] == ["begun"]
    assert len(tab.commands("call.settle")) == 1
