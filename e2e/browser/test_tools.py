"""Real browser APIs, from the agent's call to what it is told."""

from __future__ import annotations

import pytest
from playwright.sync_api import Geolocation

from e2e.browser.conftest import OpenTab, each_encoding, each_kind, one_agent, planned

BERLIN: Geolocation = {"latitude": 52.52, "longitude": 13.405, "accuracy": 20}


@each_kind
def test_a_location_arrives_as_it_was_measured(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.page.context.set_geolocation(BERLIN)
    tab.grant("geolocation")
    assert tab.ask(planned("get_location")) == [{"status": "success", "value": BERLIN}]
    (call,) = tab.view["calls"]
    assert (call["state"], call["result"]) == ("answered", BERLIN)


@each_kind
def test_a_denied_location_reaches_the_model_as_permission_denied(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.deny("geolocation")
    (outcome,) = tab.ask(planned("get_location"))
    assert (outcome["status"], outcome["code"]) == ("error", "permission_denied")
    (call,) = tab.view["calls"]
    assert (call["state"], call["code"]) == ("failed", "permission_denied")


@one_agent
def test_a_location_that_the_browser_gives_up_is_timed_out(open_tab: OpenTab, agent: str) -> None:
    """The position error's code 3."""
    tab = open_tab(agent)
    tab.page.context.set_geolocation(BERLIN)
    tab.grant("geolocation")
    (outcome,) = tab.ask(planned("get_location", timeout=0))
    assert (outcome["status"], outcome["code"]) == ("error", "timed_out")
    assert tab.view["log"][-1] == {"tool": "get_location", "phase": "error", "code": "timed_out"}


@one_agent
def test_a_location_that_never_comes_ends_at_the_servers_deadline(open_tab: OpenTab, agent: str) -> None:
    """Without a source of positions the browser never answers; the body hears of the deadline by its signal."""
    tab = open_tab(agent)
    tab.grant("geolocation")
    (outcome,) = tab.ask(planned("get_location_soon"))
    assert (outcome["status"], outcome["code"]) == ("error", "timed_out")
    view = tab.until("log.some(({ phase }) => phase === 'cancelled')")
    assert [entry for entry in view["log"] if "body" not in entry or entry["body"] == "aborted"] == [
        {"tool": "get_location_soon", "phase": "start"},
        {"tool": "get_location_soon", "body": "aborted", "code": "timed_out"},
        {"tool": "get_location_soon", "phase": "cancelled", "code": "timed_out"},
    ]
    assert tab.commands("call.settle") == []


@each_encoding
@one_agent
def test_the_clipboard_is_written_and_read(open_tab: OpenTab, agent: str, encoding: str) -> None:
    text = 'Grüße from the far side 🌘\n\u2028 \\ "quoted"'
    tab = open_tab(agent, encoding=encoding)
    tab.grant("clipboard-read")
    assert tab.run("navigator.userActivation.isActive") is False
    assert tab.ask(planned("copy_text", text=text)) == [{"status": "success", "value": len(text) + 1}]
    assert tab.run("navigator.clipboard.readText()") == text
    assert tab.ask(planned("paste_text")) == [{"status": "success", "value": text}]
    assert tab.run("navigator.userActivation.isActive") is False


@one_agent
def test_a_clipboard_that_wants_a_click_says_so(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    assert tab.run("navigator.userActivation.isActive") is False
    (outcome,) = tab.ask(planned("copy_text", text="unheard"))
    assert (outcome["status"], outcome["code"]) == ("error", "needs_gesture")


@one_agent
def test_a_tool_that_wants_a_click_waits_for_it(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.call(planned("copy_text_on_click", text="clicked"))
    tab.until("log.some(({ phase }) => phase === 'waiting')")
    assert tab.bodies() == []
    assert tab.run("navigator.userActivation.isActive") is False
    tab.page.mouse.click(100, 100)
    assert tab.answer() == [{"status": "success", "value": len("clicked")}]
    tab.grant("clipboard-read")
    assert tab.run("navigator.clipboard.readText()") == "clicked"


@one_agent
def test_a_click_does_not_help_where_the_permission_is_denied(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.deny("clipboard-read")
    tab.page.mouse.click(100, 100)
    assert tab.run("navigator.userActivation.isActive") is True
    (outcome,) = tab.ask(planned("paste_text"))
    assert (outcome["status"], outcome["code"]) == ("error", "permission_denied")


@each_encoding
@one_agent
def test_what_indexeddb_remembers_survives_a_reload(open_tab: OpenTab, agent: str, encoding: str) -> None:
    tab = open_tab(agent, encoding=encoding)
    remember = planned("remember", key="motto", value="small steps")
    assert tab.ask(remember) == [{"status": "success", "value": "motto"}]
    tab.open()
    assert tab.ask(planned("recall", key="motto")) == [{"status": "success", "value": "small steps"}]
    # Nothing was found: undefined, which the wire does not have.
    assert tab.ask(planned("recall", key="nothing")) == [{"status": "success", "value": None}]


@each_encoding
@each_kind
def test_the_bytes_of_a_picture_arrive_exactly(open_tab: OpenTab, agent: str, encoding: str) -> None:
    tab = open_tab(agent, encoding=encoding)
    (outcome,) = tab.ask(planned("draw", width=401, height=200, color="#c81e3c"))
    view = tab.view
    (drawn,) = [entry["drawn"] for entry in view["log"] if "drawn" in entry]
    assert drawn["length"] > 100_000
    assert outcome == {"status": "success", "value": {**drawn, "size": [401, 200], "left": ["#c81e3c"]}}
    assert tab.frames == {str if encoding == "json" else bytes}
    # The page has them too, when they happen and when they are read back.
    assert view["calls"][0]["result"] == {"bytes": drawn["length"]}
    tab.open()
    assert tab.until("messages.length > 1")["calls"][0]["result"] == {"bytes": drawn["length"]}


@pytest.mark.parametrize("form", ["canvas", "offscreen", "image data", "bitmap", "blob", "file", "bytes"])
def test_a_picture_arrives_whatever_form_the_page_has_it_in(open_tab: OpenTab, form: str) -> None:
    tab = open_tab("function")
    (outcome,) = tab.ask(planned("give", form=form))
    given = outcome["value"]
    data = given if form == "bytes" else given.pop("data")
    assert (data["size"], data["left"]) == ([4, 2], ["#ff0000"])
    if form != "bytes":
        assert given == {"mime_type": "image/png", **({"name": "red.png"} if form == "file" else {})}
