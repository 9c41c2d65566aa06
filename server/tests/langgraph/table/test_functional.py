"""Agents written with LangGraph's functional API, which call a headless tool beside a server tool."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.func import entrypoint, task
from langgraph.graph import add_messages

from farside.langgraph import ToolNode
from server.tests.langgraph.scripted import Whole, call
from server.tests.langgraph.table.beside import ASK, Counted, beside, told


class Functional:
    """An agent written with ``@entrypoint`` and ``@task``; it counts the runs of its own code and of its tasks.

    Its calls are tasks of its own, or a ``ToolNode`` makes them.
    """

    def __init__(self, how: str) -> None:
        self.counted = Counted()
        self.model = Whole(script=beside(call("count", "c"), call("ask", "second")).script)
        self.bodies = 0
        self.thoughts = 0
        tools = {each.name: each for each in (ASK, self.counted.tool)}
        node = ToolNode(list(tools.values()))

        @task
        async def think(messages: list[BaseMessage]) -> AIMessage:
            self.thoughts += 1
            return await self.model.ainvoke(messages)

        @task
        async def use(made: Any) -> ToolMessage:
            return await tools[made["name"]].ainvoke(made)

        @entrypoint()
        async def agent(state: dict[str, Any], *, previous: Any = None) -> Any:
            self.bodies += 1
            messages: Any = add_messages((previous or {}).get("messages", []), state["messages"])
            said = await think(messages)
            while said.tool_calls:
                if how == "tasks":
                    results = await asyncio.gather(*(use(made) for made in said.tool_calls))
                else:
                    results = await node.ainvoke([said])
                messages = add_messages(messages, [said, *results])
                said = await think(messages)
            whole = {"messages": add_messages(messages, [said])}
            return entrypoint.final(value=whole, save=whole)

        self.agent = agent


@pytest.mark.parametrize("how", ["tasks", "tool node"])
async def test_the_functional_api(take: Any, how: str) -> None:
    """The entry point's own code runs again at each resume; its finished tasks do not."""
    functional = Functional(how)
    turn = await take(functional.agent)

    assert told(functional.model) == {"ask": "here", "c": "counted", "second": "here"}
    assert turn.asked == ["ask", "ask"]
    assert (functional.counted.times, functional.thoughts) == (1, 2)
    assert functional.bodies > 1
    assert turn.messages[-1].text == "done: here"


async def test_pauses_of_the_functional_api(make_app: Any, open_page: Any) -> None:
    """LangGraph shows one pause of an entry point at a time; those of a ``ToolNode`` in it show together."""
    for how, number in (("tasks", 1), ("tool node", 2)):
        functional = Functional(how)
        page = await open_page(make_app(functional.agent), thread_id=how.replace(" ", "-"))
        await page.submit("go")
        await page.until(lambda event: event["method"] == "calls")
        snapshot = await page.command("state.get")
        assert len(snapshot["calls"]) == number


async def test_the_next_turn_of_the_functional_api(take: Any) -> None:
    """What it saved is there in the next turn."""
    functional = Functional("tool node")
    turn = await take(functional.agent)
    await turn.page.ask("and now?")

    assert [message.type for message in functional.model.seen[-1]] == ["human", "ai", *["tool"] * 3, "ai", "human"]


@pytest.mark.parametrize("how", ["tasks", "tool node"])
async def test_a_message_while_a_call_of_the_functional_api_is_open(make_app: Any, open_page: Any, how: str) -> None:
    """What was not finished is dropped, as nothing of it was saved; the thread goes on."""
    functional = Functional(how)
    page = await open_page(make_app(functional.agent))
    first = await page.submit("go")
    await page.until(lambda event: event["method"] == "calls")
    second = await page.submit("never mind")
    assert (await page.ended(first))["code"] == "cancelled"
    await page.until(lambda event: any(each["run_id"] == second for each in page.calls("opened")))
    await page.stop()
    assert (await page.ended(second))["code"] == "cancelled"

    assert [message.text for message in functional.model.seen[-1]] == ["never mind"]
