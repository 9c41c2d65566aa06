"""What we use of LangGraph without a public name is as we know it. A failure here means: LangGraph has changed it."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.func import task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from farside.langgraph.private import (
    answers_of_task,
    call_in_state,
    is_call_in_state,
    may_call_tasks,
    returned_by_tasks,
    running_task,
    write_if_task_ends,
)
from server.tests.langgraph.scripted import call


def test_within_a_graph_a_node_calls_tasks_and_finds_its_answers() -> None:
    found: list[tuple[bool, Any]] = []

    def node(state: MessagesState) -> None:
        found.append((may_call_tasks(), list(answers_of_task() or ["nothing"])))
        interrupt("one")
        interrupt("two")

    graph: Any = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    compiled = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    compiled.invoke({"messages": []}, config)
    for answer in ("first", "second"):
        compiled.invoke(Command(resume=answer), config)

    # An answer is there once ``interrupt()`` has taken it.
    assert found == [(True, ["nothing"]), (True, ["nothing"]), (True, ["first"])]


def test_what_tasks_have_returned_is_among_the_writes_that_wait() -> None:
    @task
    def ended() -> str:
        return "returned"

    def node(state: MessagesState) -> None:
        ended().result()
        interrupt("go on?")

    saver = InMemorySaver()
    graph: Any = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.compile(checkpointer=saver).invoke({"messages": []}, config)
    saved = saver.get_tuple(config)

    assert saved is not None
    assert returned_by_tasks(saved) == ["returned"]


def test_a_call_in_a_state_is_told_from_a_state() -> None:
    said = AIMessage("", tool_calls=[call("twice", n=2)])
    given = call_in_state(said.tool_calls[0], {"messages": [said]})
    assert is_call_in_state(given)
    assert not is_call_in_state({"messages": [said]})


def test_outside_of_a_graph_there_is_neither() -> None:
    assert not may_call_tasks()
    assert answers_of_task() is None
    assert running_task() is None


def test_a_task_is_known_from_others_and_so_are_its_pauses() -> None:
    found: list[tuple[object, object]] = []
    within: list[object] = []

    @task
    def inner() -> None:
        within.append(running_task())

    def node(state: MessagesState) -> None:
        found.append((running_task(), running_task()))
        inner().result()
        interrupt("go on?")

    graph: Any = StateGraph(MessagesState)
    for name in ("one", "two"):
        graph.add_node(name, node)
        graph.add_edge(START, name)
    compiled = graph.compile(checkpointer=InMemorySaver())
    result = compiled.invoke({"messages": []}, {"configurable": {"thread_id": "t"}})

    (first, again), (second, _) = found
    assert first is again is not None
    assert len({id(each) for each in (first, second, *within)}) == 4
    assert len({pause.id for pause in result["__interrupt__"]}) == 2


def test_the_pauses_of_a_task_have_one_id_until_one_is_answered() -> None:
    ids: list[str] = []

    def node(state: MessagesState) -> None:
        for _ in range(2):
            try:
                interrupt("go on?")
            except GraphInterrupt as pause:
                ids.append(pause.args[0][0].id)

    graph: Any = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.compile(checkpointer=InMemorySaver()).invoke({"messages": []}, {"configurable": {"thread_id": "t"}})
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_what_a_task_writes_early_counts_if_it_ends_and_not_if_it_pauses() -> None:
    class Noted(MessagesState):
        notes: Annotated[list[str], operator.add]

    def node(state: Noted) -> dict[str, Any]:
        write_if_task_ends("notes", ["early"])
        interrupt("go on?")
        return {"notes": ["late"]}

    graph: Any = StateGraph(Noted)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    config: Any = {"configurable": {"thread_id": "t"}}
    compiled = graph.compile(checkpointer=InMemorySaver())
    compiled.invoke({"messages": [], "notes": []}, config)
    assert compiled.get_state(config).values["notes"] == []
    assert compiled.invoke(Command(resume="yes"), config)["notes"] == ["early", "late"]
