"""What we use of LangGraph without a public name is as we know it. A failure here means: LangGraph has changed it."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from farside.langgraph.private import answers_of_task, may_call_tasks


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

    assert found == [(True, ["nothing"]), (True, ["nothing"]), (True, ["first"])] or found == [
        (True, ["nothing"]),
        (True, ["first"]),
        (True, ["first", "second"]),
    ]


def test_outside_of_a_graph_there_is_neither() -> None:
    assert not may_call_tasks()
    assert answers_of_task() is None
