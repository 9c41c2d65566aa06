"""The official hooks on a page of another origin, and that of another framework."""

from __future__ import annotations

import re
from collections.abc import Callable

from e2e.conftest import Server
from e2e.official.conftest import APP, OpenTab, Tab, each_transport

CALL = ("human: call hold first", "ai: hold")
CANCELLED = re.compile(r"^tool: Error \(cancelled\)")


@each_transport
def test_a_page_of_another_origin(
    start_server: Callable[..., Server], serve: Callable[[str], str], open_tab: OpenTab, transport: str
) -> None:
    server = start_server(APP, env={"ALLOWED_ORIGINS": serve(APP)})
    tab = open_tab(transport, server=f"{server.url}/farside")
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    tab.finish("first", "done")
    answered = (*CALL, "tool: done", "ai: heard done")
    tab.ends_with(*answered)
    tab.reload()
    tab.ends_with(*answered)
    tab.say("call hold second")
    tab.shows(executions=["hold second"])
    tab.stop()
    tab.ends_with(*answered, "human: call hold second", "ai: hold", CANCELLED)


# --- Svelte's hook ---


def open_svelte(open_tab: OpenTab) -> Tab:
    tab = open_tab(page="svelte")
    tab.say("call hold first")
    tab.shows(executions=["hold first"], messages=CALL, status=["loading"])
    return tab


def test_svelte_a_tool_is_executed_and_answered(open_tab: OpenTab) -> None:
    tab = open_svelte(open_tab)
    tab.finish("first", {"latitude": 1.5})
    answered = (*CALL, 'tool: {"latitude": 1.5}', 'ai: heard {"latitude": 1.5}')
    tab.ends_with(*answered)
    tab.say("call hold second")
    tab.shows(executions=["hold first", "hold second"])
    tab.finish("second", "done")
    tab.ends_with(*answered, "human: call hold second", "ai: hold", "tool: done", "ai: heard done")


def test_svelte_a_tool_that_throws(open_tab: OpenTab) -> None:
    tab = open_svelte(open_tab)
    tab.fail("first", "no position")
    tab.ends_with(*CALL, "tool: Error (failed): no position", "ai: heard failed")


def test_svelte_speaking_while_a_tool_runs(open_tab: OpenTab) -> None:
    tab = open_svelte(open_tab)
    tab.say("say something else")
    spoken = (*CALL, CANCELLED, "human: say something else", "ai: something else")
    tab.ends_with(*spoken)
    tab.finish("first", "late")
    tab.say("say more")
    tab.ends_with(*spoken, "human: say more", "ai: more")


def test_svelte_stopping_while_a_tool_runs(open_tab: OpenTab) -> None:
    tab = open_svelte(open_tab)
    tab.stop()
    # This hook shows what was asked for until it says the next thing.
    tab.shows(messages=[*CALL, CANCELLED], status=["idle"], error=[])
    tab.finish("first", "late")
    tab.say("say more")
    tab.ends_with(*CALL, CANCELLED, "human: say more", "ai: more")
