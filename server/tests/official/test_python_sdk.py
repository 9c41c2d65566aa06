"""LangGraph's own Python client, unmodified, over Server-Sent Events and over WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph_sdk import get_client

from farside.clock import SystemClock
from farside.testing import serve
from server.tests.agents import echo, guide
from server.tests.langgraph.scripted import Whole


@pytest.fixture(params=["sse", "websocket"])
def transport(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
async def open_thread(make_app: Any, transport: Any) -> AsyncGenerator[Any]:
    """Serves an agent, and opens a thread of it."""
    async with AsyncExitStack() as opened:

        async def open_one(agent: Any, thread_id: str | None = None, **options: Any) -> Any:
            address = await opened.enter_async_context(serve(make_app(agent, clock=SystemClock())))
            client = await opened.enter_async_context(get_client(url=f"http://{address}", api_key=None))

            async def stream(thread_id: str | None) -> Any:
                made = client.threads.stream(thread_id, assistant_id="assistant", transport=transport, **options)
                thread: Any = await opened.enter_async_context(made)
                thread.threads, thread.again = client.threads, lambda: stream(thread.thread_id)
                return thread

            return await stream(thread_id)

        yield open_one


def human(text: str) -> dict[str, Any]:
    return {"messages": [{"type": "human", "content": text, "id": "human-1"}]}


async def output(thread: Any) -> list[str]:
    """What has been said when the run has ended."""
    values = await asyncio.wait_for(thread.output, 10)
    return [message["content"] for message in values["messages"]]


async def paused(thread: Any) -> Any:
    """The one interrupt at which the run waits."""
    async for _ in thread.values:
        pass
    [interrupt] = thread.interrupts
    return interrupt


async def test_a_turn(open_thread: Any) -> None:
    thread = await open_thread(echo)
    await thread.run.start(input=human("hi"))
    assert await output(thread) == ["hi", "You said hi."]


async def test_a_headless_tool_is_answered(open_thread: Any) -> None:
    thread = await open_thread(guide)
    await thread.run.start(input=human("Where am I?"))
    interrupt = await paused(thread)
    await thread.run.respond({"lat": 1.5}, interrupt_id=interrupt["interrupt_id"])
    assert await output(thread) == ["Where am I?", "You are at 1.5."]


async def test_an_unknown_agent_is_named(open_thread: Any) -> None:
    thread = await open_thread(echo)
    thread.assistant_id = "nobody"
    with pytest.raises(Exception, match="expected one of the agents assistant"):
        await thread.run.start(input=human("hi"))


def counting() -> Any:
    """An agent that counts its answers."""
    model = Whole(script=lambda messages: AIMessage(f"{len(model.seen)}: {messages[-1].content}"))
    return create_agent(model)


async def ended(thread: Any) -> None:
    """The run that was started is over."""
    await asyncio.wait_for(thread.output, 10)


async def test_histories_and_states_that_were(open_thread: Any) -> None:
    thread = await open_thread(counting())
    await thread.run.start(input=human("one"))
    await ended(thread)
    threads = thread.threads

    states = await threads.get_history(thread.thread_id, limit=2)

    assert [state["next"] for state in states] == [[], ["model"]]
    now = await threads.get_state(thread.thread_id)
    assert states[0] == {**now, "tasks": []}, "what hooks read when they are mounted has no tasks"
    parent = states[0]["parent_checkpoint"]
    assert parent == states[1]["checkpoint"]
    assert await threads.get_state(thread.thread_id, checkpoint=parent) == states[1]
    assert await threads.get_state(thread.thread_id, checkpoint_id=parent["checkpoint_id"]) == states[1]
    older = await threads.get_history(thread.thread_id, before=states[1]["checkpoint"])
    assert [state["metadata"]["source"] for state in older] == ["input"]
    only = await threads.get_history(thread.thread_id, metadata={"source": "input"})
    assert only == older


async def test_a_run_that_begins_at_a_checkpoint(open_thread: Any) -> None:
    thread = await open_thread(counting())
    await thread.run.start(input=human("one"))
    await ended(thread)
    [_, asked, *_] = await thread.threads.get_history(thread.thread_id)

    again = await thread.again()
    await again.run.start(config={"configurable": asked["checkpoint"]})
    assert await output(again) == ["one", "2: one"]


async def test_the_graph(open_thread: Any) -> None:
    thread = await open_thread(counting())
    drawn = await thread.agent.get_tree(xray=True)
    assert [node["id"] for node in drawn["nodes"]] == ["__start__", "model", "__end__"]
