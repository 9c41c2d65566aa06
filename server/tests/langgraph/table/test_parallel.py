"""Server tools of a message run at the same time, beside headless tools that wait."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain.agents import create_agent

from farside.langgraph import ToolNode, tool
from server.tests.langgraph.scripted import call, hand_built
from server.tests.langgraph.table.beside import ASK, beside, told


class Meeting:
    """A tool whose two calls wait for each other; it counts how often it ran."""

    def __init__(self, how: str) -> None:
        self.times = 0
        threads, tasks = threading.Barrier(2), asyncio.Barrier(2)

        @tool("meet")
        def meet(n: int) -> str:
            """Meet the other."""
            self.times += 1
            threads.wait(timeout=30)
            return f"met {n}"

        @tool("meet")
        async def ameet(n: int) -> str:
            """Meet the other."""
            self.times += 1
            await tasks.wait()
            return f"met {n}"

        self.tool = meet if how == "threads" else ameet
        self.model = beside(call("meet", "one", n=1), call("ask", "second"), call("meet", "two", n=2))


EXPECTED = {"ask": "here", "one": "met 1", "second": "here", "two": "met 2"}


@pytest.mark.parametrize("how", ["threads", "tasks"])
async def test_parallel_calls_of_an_agent(take: Any, how: str) -> None:
    meeting = Meeting(how)
    await take(create_agent(meeting.model, [ASK, meeting.tool]))

    assert told(meeting.model) == EXPECTED
    assert meeting.times == 2


@pytest.mark.parametrize("how", ["threads", "tasks"])
async def test_parallel_calls_of_a_tool_node(take: Any, how: str) -> None:
    meeting = Meeting(how)

    async def think(state: Any) -> Any:
        return {"messages": [await meeting.model.ainvoke(state["messages"])]}

    await take(hand_built(think, ToolNode([ASK, meeting.tool])).compile())

    assert told(meeting.model) == EXPECTED
    assert meeting.times == 2
