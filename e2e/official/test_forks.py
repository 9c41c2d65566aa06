"""React's official hook on threads whose past is taken up again: a message edited, an answer asked for again."""

from __future__ import annotations

from e2e.official.conftest import OpenTab, Tab, over_sse, over_websocket


def say_hello(tab: Tab, *before: str) -> None:
    """A hook that is opened on a thread at rest listens to it when it has spoken."""
    tab.say("say hello")
    tab.ends_with(*before, "human: say hello", "ai: hello")


def goes_on_everywhere(tab: Tab, watching: Tab, *said: str) -> None:
    """All pages show what is left, also after a reload, and the next turn goes on from there."""
    for each in (tab, watching):
        each.ends_with(*said)
    watching.say("say more")
    for each in (tab, watching):
        each.ends_with(*said, "human: say more", "ai: more")
    tab.reload().ends_with(*said, "human: say more", "ai: more")


@over_websocket
def test_the_first_message_is_edited(open_tab: OpenTab, transport: str) -> None:
    tab = open_tab(transport)
    tab.say("say one")
    tab.ends_with("human: say one", "ai: one")
    watching = open_tab(transport, thread=tab.thread)
    say_hello(watching, "human: say one", "ai: one")
    tab.fork(tab.checkpoint(0), "say three")
    goes_on_everywhere(tab, watching, "human: say three", "ai: three")


@over_sse
def test_an_answer_is_asked_for_again(open_tab: OpenTab, transport: str) -> None:
    """With the checkpoint that the hook itself knows of the message."""
    tab = open_tab(transport)
    gate = f"again-{transport}"
    tab.say(f"slowly {gate} one two")
    asked = f"human: slowly {gate} one two"
    watching = open_tab(transport, thread=tab.thread)
    for each in (tab, watching):
        each.shows(messages=[asked, "ai: one"], status=["loading"])
    tab.open_gate(gate)
    for each in (tab, watching):
        each.ends_with(asked, "ai: one two")
    tab.fork(tab.page.locator("#checkpoint > li").inner_text())
    for each in (tab, watching):
        each.shows(messages=[asked, "ai: one"], status=["loading"])
    tab.open_gate(gate)
    goes_on_everywhere(tab, watching, asked, "ai: one two")


@over_sse
def test_a_tool_is_called_again(open_tab: OpenTab, transport: str) -> None:
    """The model gives the call the same id as before. Over Server-Sent Events the pages say who they are."""
    names: list[dict[str, str]] = [{"client": "one"}, {"client": "two"}] if transport == "sse" else [{}, {}]
    tab = open_tab(transport, **names[0])
    tab.say("call hold first")
    tab.shows(executions=["hold first"])
    tab.finish("first", "once")
    call = ("human: call hold first", "ai: hold")
    tab.ends_with(*call, "tool: once", "ai: heard once")
    watching = open_tab(transport, thread=tab.thread, **names[1])
    say_hello(watching, *call, "tool: once", "ai: heard once")
    tab.fork(tab.checkpoint(1))
    for each in (tab, watching):
        each.shows(messages=call, status=["loading"])
    tab.shows(executions=["hold first", "hold first"])
    tab.finish("first", "twice")
    goes_on_everywhere(tab, watching, *call, "tool: twice", "ai: heard twice")
    watching.shows(executions=[])
