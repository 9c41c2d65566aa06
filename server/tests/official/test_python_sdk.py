"""LangGraph's own Python client, unmodified, over Server-Sent Events and over WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from langgraph_sdk import get_client

from farside.clock import SystemClock
from farside.testing import serve
from server.tests.agents import echo, guide


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
            stream = client.threads.stream(thread_id, assistant_id="assistant", transport=transport, **options)
            return await opened.enter_async_context(stream)

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
