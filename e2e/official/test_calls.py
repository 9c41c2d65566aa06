"""Headless tools with React's official hook: one, several, failing, spoken over, stopped."""

from __future__ import annotations

import re

from e2e.official.conftest import OVER, OpenTab, each_mode, each_transport, over_sse, over_websocket

CALL = ("human: call hold first", "ai: hold")
CANCELLED = re.compile(r"^tool: Error \(cancelled\)")


@each_mode
def test_a_tool_is_executed_and_answered(open_tab: OpenTab, transport: str, strict: bool) -> None:
    tab = open_tab(transport, strict=strict)
    tab.say("call hold first")
    tab.shows(executions=["hold first"], messages=CALL, tools=["hold: running"], status=["loading"])
    tab.finish("first", "done")
    answered = (*CALL, "tool: done", "ai: heard done")
    tab.ends_with(*answered)
    tab.shows(tools=["hold: finished"])
    tab.say("call hold second")
    tab.shows(executions=["hold first", "hold second"])
    tab.finish("second", {"latitude": 1.5})
    tab.ends_with(
        *answered,
        *("human: call hold second", "ai: hold", 'tool: {"latitude": 1.5}', 'ai: heard {"latitude": 1.5}'),
    )
    tab.shows(executions=["hold first", "hold second"], tools=["hold: finished", "hold: finished"])


@each_transport
def test_two_tools_run_at_the_same_time(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport)
    tab.say("call hold first, hold second")
    tab.shows(executions=["hold first", "hold second"], tools=["hold: running", "hold: running"])
    tab.finish("second", "two")
    tab.shows(tools=["hold: running", "hold: finished"], status=["loading"])
    tab.finish("first", "one")
    tab.ends_with(
        *("human: call hold first, hold second", "ai: hold hold"),
        *("tool: one", "tool: two", "ai: heard one and two"),
    )
    tab.shows(executions=["hold first", "hold second"], tools=["hold: finished", "hold: finished"])


@over_websocket
def test_a_tool_that_throws(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    tab.fail("first", "no position")
    tab.ends_with(*CALL, "tool: Error (failed): no position", "ai: heard failed")
    tab.shows(tools=[OVER])


@over_sse
def test_a_tool_that_the_page_does_not_have(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport, tools="hold_again")
    tab.say("call hold first")
    tab.ends_with(*CALL, re.compile('^tool: Error .*"hold" is not registered'), re.compile("^ai: heard "))
    tab.shows(executions=[])


@each_transport
def test_speaking_while_a_tool_runs(open_tab: OpenTab, transport: str) -> None:
    """The call is cancelled; what it still returns changes nothing."""
    tab = open_tab(transport)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    gate = f"speaking-{transport}"
    asked = (*CALL, CANCELLED, f"human: slowly {gate} something else")
    tab.say(f"slowly {gate} something else")
    # The end of the first run is not that of the second one.
    tab.shows(messages=[*asked, "ai: something"], status=["loading"], tools=[OVER])
    tab.open_gate(gate)
    spoken = (*asked, "ai: something else")
    tab.ends_with(*spoken)
    tab.finish("first", "late")
    tab.say("say more")
    tab.ends_with(*spoken, "human: say more", "ai: more")
    tab.shows(executions=["hold first"])


@each_mode
def test_stopping_while_a_tool_runs(open_tab: OpenTab, transport: str, strict: bool) -> None:
    """The call is cancelled; what it still returns changes nothing."""
    tab = open_tab(transport, strict=strict)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    tab.stop()
    tab.ends_with(*CALL, CANCELLED)
    tab.finish("first", "late")
    tab.say("say more")
    tab.ends_with(*CALL, CANCELLED, "human: say more", "ai: more")
    tab.shows(executions=["hold first"])


@over_sse
def test_stopping_while_the_agent_speaks(open_tab: OpenTab, transport: str) -> None:
    """What has been said stays."""
    tab = open_tab(transport)
    tab.say(f"slowly stop-{transport} never the rest")
    tab.shows(messages=[re.compile("^human: slowly"), "ai: never"])
    tab.stop()
    tab.ends_with(re.compile("^human: slowly"), "ai: never")
    tab.reload()
    tab.ends_with(re.compile("^human: slowly"), "ai: never")


@over_websocket
def test_words_are_shown_as_they_come(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport)
    gate = f"words-{transport}"
    tab.say(f"slowly {gate} one two three")
    for said in ("one", "one two", "one two three"):
        tab.shows(messages=[f"human: slowly {gate} one two three", f"ai: {said}"])
        tab.open_gate(gate)
    tab.ends_with(f"human: slowly {gate} one two three", "ai: one two three")
