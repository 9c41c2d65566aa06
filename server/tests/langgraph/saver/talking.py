"""A graph that is asked, pauses and tells; and a process that runs it on several threads until it is killed."""

from __future__ import annotations

import asyncio
import sys
import uuid
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from farside.langgraph import SqliteSaver
from server.tests.langgraph.saver.made import config


def talking(saver: BaseCheckpointSaver[Any] | None) -> Any:
    """Calls a tool whose answer comes from outside, and tells it."""

    def ask(state: MessagesState) -> dict[str, Any]:
        call = {"name": "look", "args": {}, "id": f"call-{len(state['messages'])}"}
        return {"messages": [AIMessage("", id=str(uuid.uuid4()), tool_calls=[call])]}

    def look(state: MessagesState) -> dict[str, Any]:
        call: Any = state["messages"][-1]
        seen = interrupt(call.tool_calls[0]["id"])
        answer = ToolMessage(str(seen), tool_call_id=call.tool_calls[0]["id"], id=str(uuid.uuid4()))
        return {"messages": [answer, AIMessage(f"there is {seen}", id=str(uuid.uuid4()))]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("look", look)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "look")
    graph.add_edge("look", END)
    return graph.compile(checkpointer=saver)


async def say(graph: Any, thread_id: str, text: str = "hi") -> Any:
    """Start a turn; returns the state, which is paused."""
    question = HumanMessage(text, id=str(uuid.uuid4()))
    return await graph.ainvoke({"messages": [question]}, config(thread_id), durability="sync")


async def answer(graph: Any, thread_id: str, seen: str = "a tree") -> Any:
    """Finish the turn that is paused."""
    [pause] = (await graph.aget_state(config(thread_id))).interrupts
    return await graph.ainvoke(Command(resume={pause.id: seen}), config(thread_id), durability="sync")


async def step(graph: Any, thread_id: str) -> Any:
    """What comes next: an answer, what a process left in the middle, or a new turn."""
    state = await graph.aget_state(config(thread_id))
    if state.interrupts:
        return await answer(graph, thread_id)
    if state.tasks:
        return await graph.ainvoke(None, config(thread_id), durability="sync")
    return await say(graph, thread_id)


async def talk(graph: Any, thread_id: str) -> None:
    """Turn after turn; prints how many messages the thread has whenever a stream has ended."""
    while True:
        told = await step(graph, thread_id)
        print(thread_id, len(told["messages"]), flush=True)


async def main(path: Path, threads: int) -> None:
    async with SqliteSaver(path) as saver:
        graph = talking(saver)
        await asyncio.gather(*(talk(graph, f"t{number}") for number in range(threads)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
