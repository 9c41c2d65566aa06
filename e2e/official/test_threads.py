"""React's official hook on threads old and new, and on graphs that are no chats."""

from __future__ import annotations

import re

import pytest

from e2e.official.conftest import OpenTab, each_transport, over_sse, over_websocket


@pytest.mark.parametrize(("transport", "thread"), [("websocket", "my-thread"), ("sse", "user:42~notes.v1")])
def test_a_thread_id_that_is_no_uuid(open_tab: OpenTab, transport: str, thread: str) -> None:
    tab = open_tab(transport, thread=f"{thread}-{transport}")
    tab.say("call hold first")
    tab.shows(executions=["hold first"], thread=[f"{thread}-{transport}"])
    tab.finish("first", "done")
    tab.ends_with("human: call hold first", "ai: hold", "tool: done", "ai: heard done")


@each_transport
def test_an_old_thread_is_opened_again(open_tab: OpenTab, transport: str) -> None:
    """In another browser: the conversation is there, and goes on; nothing runs again."""
    tab = open_tab(transport)
    tab.say("call hold first, hold_again second")
    tab.shows(executions=["hold first", "hold_again second"])
    tab.finish("first", "one")
    tab.finish("second", "two")
    said = (
        *("human: call hold first, hold_again second", "ai: hold hold_again"),
        *("tool: one", "tool: two", "ai: heard one and two"),
    )
    tab.ends_with(*said)
    other = open_tab(transport, thread=tab.thread)
    other.ends_with(*said)
    other.say("call hold third")
    other.shows(executions=["hold third"])
    other.finish("third", "three")
    other.ends_with(*said, "human: call hold third", "ai: hold", "tool: three", "ai: heard three")
    other.shows(executions=["hold third"])


@over_sse
def test_threads_are_switched(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport)
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    tab.finish("first", "done")
    said = ("human: call hold first", "ai: hold", "tool: done", "ai: heard done")
    tab.ends_with(*said)
    first = tab.thread
    tab.switch(None)
    tab.ends_with()
    tab.say("call hold first")
    tab.shows(executions=["hold first", "hold first"])
    tab.finish("first", "other")
    other_said = ("human: call hold first", "ai: hold", "tool: other", "ai: heard other")
    tab.ends_with(*other_said)
    second = tab.thread
    assert first != second
    tab.switch(first)
    tab.ends_with(*said)
    tab.switch(second)
    tab.ends_with(*other_said)
    tab.say("say more")
    tab.ends_with(*other_said, "human: say more", "ai: more")
    tab.shows(executions=["hold first", "hold first"])


@over_websocket
def test_a_thread_is_left_while_a_tool_runs(open_tab: OpenTab, transport: str) -> None:
    """It is executed again when the page comes back to it, and answered there."""
    tab = open_tab(transport)
    tab.say("call hold_again first")
    tab.shows(executions=["hold_again first"])
    left = tab.thread
    tab.switch(None)
    tab.ends_with()
    tab.say("say hello")
    tab.ends_with("human: say hello", "ai: hello")
    tab.switch(left)
    tab.shows(executions=["hold_again first"] * 2)
    tab.finish("first", "done")
    said = ("human: call hold_again first", "ai: hold_again", "tool: done", "ai: heard done")
    tab.ends_with(*said)
    tab.say("say more")
    tab.ends_with(*said, "human: say more", "ai: more")
    tab.shows(executions=["hold_again first"] * 2)


@each_transport
def test_first_answers_that_come_at_once(open_tab: OpenTab, transport: str) -> None:
    """The run may have ended before the hook listens."""
    tab = open_tab(transport)
    for number in range(10):
        tab.switch(None)
        tab.ends_with()
        tab.say(f"say hello {number}")
        tab.ends_with(f"human: say hello {number}", f"ai: hello {number}")


@each_transport
def test_an_interrupt_that_is_no_tool(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport, agent="approval")
    tab.say("Send it?")
    asked = ("human: Send it?",)
    tab.shows(messages=asked, interrupts=['{"question":"Send it?"}'], status=["idle"])
    tab.respond("yes")
    answered = (*asked, "ai: You said yes.")
    tab.ends_with(*answered)
    tab.say("And this?")
    tab.shows(messages=[*answered, "human: And this?"], interrupts=['{"question":"And this?"}'], status=["idle"])
    tab.respond({"ok": False})
    tab.ends_with(*answered, "human: And this?", "ai: You said {'ok': False}.")


@over_sse
def test_an_interrupt_outlives_a_reload(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport, agent="approval")
    tab.say("Send it?")
    tab.shows(interrupts=['{"question":"Send it?"}'])
    tab.reload()
    tab.shows(messages=["human: Send it?"], interrupts=['{"question":"Send it?"}'])
    tab.respond("yes")
    tab.ends_with("human: Send it?", "ai: You said yes.")


@over_websocket
def test_a_subgraph_and_custom_events(open_tab: OpenTab, transport: str) -> None:
    """The tool is called by an agent inside a graph."""
    tab = open_tab(transport, agent="team", custom="")
    tab.say("call hold first")
    tab.shows(executions=["hold first"], custom=[re.compile('"progress":"planned"')])
    tab.finish("first", "done")
    said = ("human: call hold first", "ai: hold", "tool: done", "ai: heard done")
    tab.ends_with(*said)
    tab.shows(subgraphs=[re.compile("^worker:")], executions=["hold first"])
    other = open_tab(transport, agent="team", thread=tab.thread)
    other.ends_with(*said)


@over_sse
def test_a_failed_run(open_tab: OpenTab, transport: str) -> None:
    """The hook shows the error, and the next message works."""
    tab = open_tab(transport)
    tab.say("break")
    tab.shows(messages=["human: break"], status=["idle"], error=[re.compile("internal|trace id")])
    tab.say("say hello")
    tab.ends_with("human: break", "human: say hello", "ai: hello")
