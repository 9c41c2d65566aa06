from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from farside import FarsideError
from farside.langgraph import LangGraphRuntime, tool
from farside.langgraph.runtime import REPAIRED
from server.tests.langgraph.scripted import (
    Whole,
    answering,
    call,
    calling,
    drive,
    human,
    messages_of,
    once,
    start,
)


def two_calls() -> Any:
    return once(call("where", "a"), call("where", "b"))


def agent(script: Any, saver: Any) -> tuple[LangGraphRuntime, Whole]:
    model = Whole(script=script)
    return LangGraphRuntime(create_agent(model, [tool(name="where")]), checkpointer=saver), model


async def test_a_run_that_never_began_begins(saver: Any) -> None:
    runtime, _ = agent(two_calls(), saver)
    await drive(runtime, start(human("before", "h0"), run_id="run-0"))
    before = len(await messages_of(runtime))
    await runtime.abandon("thread", "run-0", "over")

    _, opened = await drive(runtime, answering(start(human("again", "h1")), kind="recover"))

    assert not opened, "this script calls tools only once"
    assert [m["content"] for m in await messages_of(runtime)][before + 2] == "again"


async def test_unanswered_pauses_are_reported_and_nothing_runs(saver: Any) -> None:
    runtime, _ = agent(two_calls(), saver)
    _, opened = await drive(runtime, start())
    again, model = agent(two_calls(), saver)

    emits, reported = await drive(again, answering(start(), kind="recover"))

    assert emits == []
    assert sorted(new.tool_call_id for new in reported) == ["a", "b"]
    assert {new.interrupt_id for new in reported} == {new.interrupt_id for new in opened}
    assert model.seen == []


async def test_only_the_unanswered_pauses_are_reported(saver: Any) -> None:
    runtime, _ = agent(two_calls(), saver)
    _, opened = await drive(runtime, start())
    first, second = sorted(opened, key=lambda new: new.tool_call_id)

    _, reported = await drive(runtime, answering(start(), (first, 1), kind="recover"))

    assert reported == [second]
    emits, _ = await drive(runtime, answering(start(), (first, 1), (second, 2)))
    assert emits
    assert [m["content"] for m in await messages_of(runtime) if m["type"] == "tool"] == ["1", "2"]


async def test_answered_pauses_are_resumed(saver: Any) -> None:
    runtime, _ = agent(two_calls(), saver)
    _, (first, second) = await drive(runtime, start())

    emits, reported = await drive(runtime, answering(start(), (first, 1), (second, 2), kind="recover"))

    assert not reported
    assert [e.data["event"] for e in emits if e.method == "tools"] == ["tool-finished", "tool-finished"]
    assert (await messages_of(runtime))[-1]["type"] == "ai"


async def test_a_run_that_was_between_steps_goes_on(saver: Any) -> None:
    failing = [True]

    def script(messages: list[Any]) -> AIMessage:
        if failing.pop() if failing else False:
            raise ConnectionError("the process dies here")
        return AIMessage("hello")

    runtime, model = agent(script, saver)
    with pytest.raises(ConnectionError):
        await drive(runtime, start())

    await drive(runtime, answering(start(), kind="recover"))

    assert [m["content"] for m in await messages_of(runtime)] == ["hi", "hello"], "the input is not given again"
    assert len(model.seen) == 2


async def test_a_run_that_was_over_is_over(saver: Any) -> None:
    runtime, model = agent(once(), saver)
    await drive(runtime, start())

    assert await drive(runtime, answering(start(), kind="recover")) == ([], [])
    assert len(model.seen) == 1


async def test_a_second_pause_in_a_node_is_not_taken_for_the_first(saver: Any) -> None:
    ran: list[str] = []

    @langchain_tool
    def charge() -> str:
        """Charge the card."""
        ran.append("charged")
        return "charged"

    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([tool(name="where"), charge]))
    builder.add_edge(START, "tools")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    leg = start({"messages": [calling(call("where", "a"), call("where", "b"))]})
    _, (first,) = await drive(runtime, leg)
    _, (second,) = await drive(runtime, answering(leg, (first, "A")))

    _, reported = await drive(runtime, answering(leg, (first, "A"), kind="recover"))

    assert reported == [second]
    assert first.interrupt_id != second.interrupt_id
    await drive(runtime, answering(leg, (first, "A"), (second, "B"), kind="recover"))
    contents = {m["tool_call_id"]: m["content"] for m in await messages_of(runtime) if m["type"] == "tool"}
    assert contents == {"a": "A", "b": "B"}


async def test_a_run_whose_checkpoint_is_lost_fails_clearly(saver: Any) -> None:
    """Its calls were answered, so it had got somewhere: to begin anew would do everything twice."""
    runtime, _ = agent(two_calls(), saver)
    _, opened = await drive(runtime, start())
    again, model = agent(two_calls(), InMemorySaver())

    with pytest.raises(FarsideError) as lost:
        await drive(again, answering(start(), *((new, "here") for new in opened), kind="recover"))

    assert lost.value.code == "state_lost"
    assert model.seen == []


async def test_a_history_that_another_program_broke_is_repaired_at_the_next_message_and_told(saver: Any) -> None:
    """F6: a provider would refuse it for ever after."""
    runtime, model = agent(lambda messages: AIMessage("fine"), saver)
    graph = create_agent(model, [tool(name="where")], checkpointer=saver)
    orphan = AIMessage("", tool_calls=[call("where", "orphan")])
    config: Any = {"configurable": {"thread_id": "thread"}}
    await graph.aupdate_state(config, {"messages": [HumanMessage("hi"), orphan]}, as_node="model")

    emits, _ = await drive(runtime, start(human("again", "h1")))

    told = [emit.data for emit in emits if emit.method == "custom"]
    assert told == [{"name": REPAIRED, "payload": {"tool_calls": [{"id": "orphan", "name": "where"}]}}]
    messages = await messages_of(runtime)
    assert [message["type"] for message in messages] == ["human", "ai", "tool", "human", "ai"]
    assert messages[2]["status"] == "error"
    emits, _ = await drive(runtime, start(human("once more", "h2"), run_id="run-2"))
    assert not [emit for emit in emits if emit.method == "custom"]
