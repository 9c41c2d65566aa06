"""Graphs of every build, beside LangGraph's own saver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, StateSnapshot, interrupt

from farside.langgraph import SqliteSaver, tool
from server.tests.langgraph.saver.made import config, items
from server.tests.langgraph.scripted import Whole, call, once

Built = Callable[[Any], Any]


def inner(name: str, checkpointer: Any) -> Any:
    """Asks, pauses, and tells what was answered; keeps its own history if it has a checkpointer of its own."""

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{name} asks", id=f"{name}-{len(state['messages'])}")]}

    def tell(state: MessagesState) -> dict[str, Any]:
        told = f"{name} was told {interrupt(name)}"
        return {"messages": [AIMessage(told, id=f"{name}-{len(state['messages'])}")]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tell", tell)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "tell")
    graph.add_edge("tell", END)
    return graph.compile(checkpointer=checkpointer)


def parallel(checkpointer: Any) -> Built:
    """Two subgraphs at once."""

    def build(saver: Any) -> Any:
        graph: Any = StateGraph(MessagesState)
        for name in ("left", "right"):
            graph.add_node(name, inner(name, checkpointer))
            graph.add_edge(START, name)
            graph.add_edge(name, END)
        return graph.compile(checkpointer=saver)

    return build


def sending(saver: Any) -> Any:
    """Sends whole states, so that writes and tasks hold the history."""

    def work(state: Any) -> dict[str, Any]:
        answer = interrupt(f"part {state['part']}")
        return {"messages": [AIMessage(f"{answer} {len(state['messages'])}", id=f"part-{state['part']}")]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("plan", lambda state: {})
    graph.add_node("work", work)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", lambda state: [Send("work", {**state, "part": n}) for n in (1, 2)], ["work"])
    graph.add_edge("work", END)
    return graph.compile(checkpointer=saver)


def agent(saver: Any) -> Any:
    """LangChain's, with a headless tool."""
    script = once(call("where", "one"), call("where", "two"))
    model = Whole(script=lambda messages: script(messages).model_copy(update={"id": f"model-{len(messages)}"}))
    return create_agent(model, [tool(name="where")], checkpointer=saver)


def added(messages: Any, writes: Sequence[Any]) -> Any:
    """The reducer of a delta channel, which gets several writes at once."""
    return reduce(add_messages, writes, messages or [])


class Delta(TypedDict):
    """LangGraph stores what was written, and a snapshot now and then."""

    messages: Annotated[list[AnyMessage], DeltaChannel(added, snapshot_frequency=3)]


def delta(saver: Any) -> Any:
    graph: Any = StateGraph(Delta)
    nodes = inner("delta", None).builder.nodes
    graph.add_node("ask", nodes["ask"].runnable)
    graph.add_node("tell", nodes["tell"].runnable)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "tell")
    graph.add_edge("tell", END)
    return graph.compile(checkpointer=saver)


def functional(saver: Any) -> Any:
    """``@entrypoint``, which has a list of messages as its previous value."""

    @task
    def told(name: str) -> str:
        return str(interrupt(name))

    @entrypoint(checkpointer=saver)
    async def run(given: Any, *, previous: Any = None) -> Any:
        answer = await told("function")
        saved = [*(previous or []), *given["messages"], AIMessage(answer, id=f"said-{len(previous or [])}")]
        return entrypoint.final(value={"messages": saved}, save=saved)

    return run


GRAPHS: dict[str, Built] = {
    "agent": agent,
    "subgraphs": parallel(None),
    "lasting subgraphs": parallel(True),
    "sends": sending,
    "delta": delta,
    "functional": functional,
}


def seen(state: Any) -> Any:
    """What there is to see of a state and of the subgraphs under it, without the ids that chance makes."""
    if not isinstance(state, StateSnapshot):
        return None  # a subgraph's config, or nothing
    values: Any = state.values
    messages: Any = values.get("messages", []) if isinstance(values, dict) else values
    return {
        "messages": [(each.type, each.content) for each in messages or []],
        "next": sorted(state.next),
        "tasks": sorted(
            (each.name, sorted(str(pause.value) for pause in each.interrupts), repr(seen(each.state)))
            for each in state.tasks
        ),
    }


async def turn(graph: Any, number: int) -> Any:
    """A question, and every pause answered; tells what was seen on the way."""
    place = config()
    question = HumanMessage(f"question {number}", id=f"human-{number}")
    await graph.ainvoke({"messages": [question]}, place, durability="sync")
    paused = await graph.aget_state(place, subgraphs=True)
    answers = {pause.id: f"answer {number}" for pause in paused.interrupts}
    await graph.ainvoke(Command(resume=answers), place, durability="sync")
    return seen(paused), seen(await graph.aget_state(place, subgraphs=True))


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("cold", [False, True])
async def test_it_looks_the_same(tmp_path: Path, kind: str, cold: bool) -> None:
    build, told = GRAPHS[kind], []
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "stock.db")) as stock:
        theirs = build(stock)
        expected = [await turn(theirs, number) for number in range(4)]
        history = [seen(state) async for state in theirs.aget_state_history(config())]
        for number, each in enumerate(expected):
            async with SqliteSaver(tmp_path / "ours.db", cache_messages=0 if cold else 1_000) as saver:
                told.append(await turn(build(saver), number))
                assert told[-1] == each
    async with SqliteSaver(tmp_path / "ours.db") as saver:
        assert [seen(state) async for state in build(saver).aget_state_history(config())] == history


async def test_a_subgraph_that_is_given_the_history_does_not_store_it_again(tmp_path: Path) -> None:
    async with SqliteSaver(tmp_path / "saver.db") as saver:
        graph = parallel(None)(saver)
        for number in range(5):
            await turn(graph, number)
        state = await graph.aget_state(config())
    assert items(tmp_path / "saver.db") == len(state.values["messages"])
