"""React's official hook on pages that are reloaded, doubled, closed, or cut off while they execute a tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Route

from e2e.browser.conftest import Wire
from e2e.official.conftest import OVER, OpenTab, Tab, each_mode, each_transport, over_sse, over_websocket

AGAIN = ("human: call hold_again first", "ai: hold_again")
ONCE = ("human: call hold first", "ai: hold")
INTERRUPTED = re.compile(r"^tool: Error \(interrupted\)")


def say_more(tab: Tab, *before: str | re.Pattern[str]) -> None:
    """One more turn works, and shows that nothing else has happened meanwhile."""
    tab.say("say more")
    tab.ends_with(*before, "human: say more", "ai: more")


# --- a reload ---


@each_mode
def test_a_reload_runs_an_idempotent_tool_again(open_tab: OpenTab, transport: str, strict: bool) -> None:
    tab = open_tab(transport, strict=strict)
    tab.say("call hold_again first")
    tab.shows(executions=["hold_again first"])
    tab.reload()
    tab.shows(executions=["hold_again first"], messages=AGAIN, status=["loading"])
    tab.finish("first", "done")
    answered = (*AGAIN, "tool: done", "ai: heard done")
    tab.ends_with(*answered)
    say_more(tab, *answered)
    tab.browser_executed("hold_again first", "hold_again first")


@each_mode
def test_a_reload_interrupts_any_other_tool(open_tab: OpenTab, transport: str, strict: bool) -> None:
    tab = open_tab(transport, strict=strict)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    tab.reload()
    interrupted = (*ONCE, INTERRUPTED, "ai: heard interrupted")
    tab.ends_with(*interrupted)
    say_more(tab, *interrupted)
    tab.browser_executed("hold first")


@over_websocket
def test_a_reload_amid_two_tools(open_tab: OpenTab, transport: str) -> None:
    """The one that had ended does not run again."""
    tab = open_tab(transport)
    tab.say("call hold first, hold_again second")
    tab.shows(executions=["hold first", "hold_again second"])
    tab.finish("first", "one")
    tab.shows(tools=["hold: finished", "hold_again: running"])
    tab.reload()
    tab.shows(executions=["hold_again second"])
    tab.finish("second", "two")
    answered = (
        *("human: call hold first, hold_again second", "ai: hold hold_again"),
        *("tool: one", "tool: two", "ai: heard one and two"),
    )
    tab.ends_with(*answered)
    say_more(tab, *answered)
    tab.browser_executed("hold first", "hold_again second", "hold_again second")


@over_sse
def test_a_reload_while_the_agent_speaks(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport)
    gate = f"reload-{transport}"
    asked = f"human: slowly {gate} one two three"
    tab.say(f"slowly {gate} one two three")
    tab.open_gate(gate)
    tab.shows(messages=[asked, "ai: one two"])
    tab.reload()
    tab.shows(messages=[asked, "ai: one two"], status=["loading"])
    tab.open_gate(gate)
    tab.ends_with(asked, "ai: one two three")


# --- a second tab ---


@pytest.mark.parametrize(("transport", "named"), [("websocket", False), ("sse", True)])
def test_of_two_tabs_the_one_that_asks_executes(
    open_tab: OpenTab, new_context: Callable[..., BrowserContext], transport: str, named: bool
) -> None:
    """Over Server-Sent Events the pages say who they are, with a header that the hook can send."""
    context = new_context()
    names: list[dict[str, str]] = [{"client": "one"}, {"client": "two"}] if named else [{}, {}]
    tabs = [open_tab(transport, context=context, thread=f"asking-{transport}", **name) for name in names]
    said: list[str] = []
    for turn, asking in enumerate((0, 1, 0, 1)):
        tabs[asking].say(f"call hold {turn}")
        tabs[asking].shows(executions=[f"hold {each}" for each in range(turn + 1) if each % 2 == asking])
        tabs[asking].finish(str(turn), "done")
        said += [f"human: call hold {turn}", "ai: hold", "tool: done", "ai: heard done"]
        tabs[asking].ends_with(*said)
    tabs[0].ends_with(*said)
    tabs[0].browser_executed(*(f"hold {turn}" for turn in range(4)))


def test_one_of_two_tabs_executes(open_tab: OpenTab, new_context: Callable[..., BrowserContext]) -> None:
    """Over Server-Sent Events nothing tells which of two pages asks, if they do not say it."""
    context = new_context()
    tabs = [open_tab("sse", context=context, thread="one-of-two") for _ in range(2)]
    said: list[str] = []
    for turn in range(4):
        tabs[turn % 2].say(f"call hold {turn}")
        tabs[0].browser_executed(*(f"hold {each}" for each in range(turn + 1)))
        for tab in tabs:
            if tab.page.locator("#executions > li", has_text=f"hold {turn}").count():
                tab.finish(str(turn), "done")
        said += [f"human: call hold {turn}", "ai: hold", "tool: done", "ai: heard done"]
        tabs[turn % 2].ends_with(*said)
    tabs[0].browser_executed(*(f"hold {turn}" for turn in range(4)))


@each_transport
def test_a_second_tab_takes_over(open_tab: OpenTab, new_context: Callable[..., BrowserContext], transport: str) -> None:
    context = new_context()
    first = open_tab(transport, context=context)
    first.say("call hold_again first")
    first.shows(executions=["hold_again first"])
    second = open_tab(transport, context=context, thread=first.thread)
    second.shows(messages=AGAIN, tools=["hold_again: running"], status=["loading"])
    first.page.close()
    second.shows(executions=["hold_again first"])
    second.finish("first", "done")
    answered = (*AGAIN, "tool: done", "ai: heard done")
    second.ends_with(*answered)
    say_more(second, *answered)
    second.browser_executed("hold_again first", "hold_again first")


@each_transport
def test_a_second_tab_that_has_spoken_before_takes_over(
    open_tab: OpenTab, new_context: Callable[..., BrowserContext], transport: str
) -> None:
    context = new_context()
    second = open_tab(transport, context=context)
    second.say("call hold once")
    second.shows(executions=["hold once"])
    second.finish("once", "done")
    said = ("human: call hold once", "ai: hold", "tool: done", "ai: heard done")
    second.ends_with(*said)
    first = open_tab(transport, context=context, thread=second.thread)
    first.ends_with(*said)
    first.say("call hold_again first")
    second.shows(messages=[*said, *AGAIN], status=["loading"])
    first.page.close()
    second.shows(executions=["hold once", "hold_again first"])
    second.finish("first", "done")
    second.ends_with(*said, *AGAIN, "tool: done", "ai: heard done")


@over_websocket
def test_a_second_tab_watches(open_tab: OpenTab, new_context: Callable[..., BrowserContext], transport: str) -> None:
    """It comes while the first one executes, sees how that ends, and executes nothing."""
    context = new_context()
    first = open_tab(transport, context=context)
    first.say("call hold_again first")
    first.shows(executions=["hold_again first"])
    second = open_tab(transport, context=context, thread=first.thread)
    second.shows(messages=AGAIN, tools=["hold_again: running"], status=["loading"])
    first.finish("first", "done")
    answered = (*AGAIN, "tool: done", "ai: heard done")
    for tab in (first, second):
        tab.ends_with(*answered)
        tab.shows(tools=["hold_again: finished"])
    second.shows(executions=[])


# --- a connection that dies ---


@pytest.fixture
def losses_expected(page_errors: list[str]) -> Any:
    """The hook lets the answer that it could not send reject, and nobody listens; the browser logs failed requests."""
    yield
    known = r"Protocol WebSocket closed unexpectedly|ERR_FAILED"
    page_errors[:] = [error for error in page_errors if not re.search(known, error)]


def wired(open_tab: OpenTab) -> tuple[Tab, Wire]:
    """A tab with a hand on its WebSocket."""
    wires: list[Wire] = []
    tab = open_tab("websocket", prepare=lambda page: wires.append(Wire(page)))
    return tab, wires[0]


def test_a_tool_outlives_its_connection(open_tab: OpenTab) -> None:
    """It is not offered again: its answer comes over the next connection."""
    tab, wire = wired(open_tab)
    tab.say("call hold_again first")
    tab.shows(executions=["hold_again first"])
    with tab.page.expect_websocket():
        wire.cut()
    tab.finish("first", "done")
    answered = (*AGAIN, "tool: done", "ai: heard done")
    tab.ends_with(*answered)
    say_more(tab, *answered)
    tab.shows(executions=["hold_again first"])


@pytest.mark.usefixtures("losses_expected")
def test_the_lost_answer_of_an_idempotent_tool(open_tab: OpenTab) -> None:
    """The tool runs again."""
    tab, wire = wired(open_tab)
    tab.say("call hold_again first")
    tab.shows(executions=["hold_again first"])
    wire.lose_command("input.respond", then=wire.cut)
    tab.finish("first", "lost")
    tab.shows(executions=["hold_again first"] * 2)
    tab.finish("first", "done")
    tab.shows(messages=[*AGAIN, "tool: done", "ai: heard done"], status=["idle"], tools=["hold_again: finished"])
    say_more(tab, *AGAIN, "tool: done", "ai: heard done")
    tab.shows(executions=["hold_again first"] * 2)


@pytest.mark.usefixtures("losses_expected")
def test_the_lost_answer_of_any_other_tool(open_tab: OpenTab) -> None:
    """Nobody knows what it has done."""
    tab, wire = wired(open_tab)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    wire.lose_command("input.respond", then=wire.cut)
    tab.finish("first", "lost")
    interrupted = (*ONCE, INTERRUPTED, "ai: heard interrupted")
    tab.shows(messages=interrupted, status=["idle"], tools=[OVER])
    say_more(tab, *interrupted)
    tab.shows(executions=["hold first"])


@pytest.mark.usefixtures("losses_expected")
def test_the_lost_acknowledgement_of_an_answer(open_tab: OpenTab) -> None:
    """The answer counts."""
    tab, wire = wired(open_tab)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    wire.lose_reply("input.respond", then=wire.cut)
    tab.finish("first", "done")
    answered = (*ONCE, "tool: done", "ai: heard done")
    tab.shows(messages=answered, status=["idle"])
    say_more(tab, *answered)
    tab.shows(executions=["hold first"])


@pytest.mark.usefixtures("losses_expected")
@pytest.mark.parametrize("lost", ["request", "reply"])
@pytest.mark.parametrize("method", ["run.start", "input.respond"])
def test_a_lost_request(open_tab: OpenTab, method: str, lost: str) -> None:
    """The hook sends it again, and it is carried out once."""
    tab = open_tab("sse")
    met: list[str] = []

    def carry(route: Route) -> None:
        if json.loads(route.request.post_data or "{}")["method"] != method or method in met:
            route.continue_()
            return
        met.append(method)
        if lost == "reply":
            route.fetch()
        route.abort()

    tab.page.route("**/commands", carry)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    tab.finish("first", "done")
    answered = (*ONCE, "tool: done", "ai: heard done")
    tab.ends_with(*answered)
    assert met == [method]
    say_more(tab, *answered)
    tab.shows(executions=["hold first"])
