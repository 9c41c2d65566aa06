"""A graph behind farside's engine, in one process: what a page sees of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool as langchain_tool

from farside.langgraph import tool
from farside.stores.sqlite import SqliteStore
from server.tests.langgraph.scripted import Streaming, call, once

WHERE = tool(name="where", args_schema={"properties": {"high": {"type": "boolean"}}}, timeout=30)


async def test_a_batch_is_executed_and_the_run_resumes_once(make_app: Any, open_page: Any) -> None:
    charged: list[str] = []

    @langchain_tool
    def charge() -> str:
        """Charge the card."""
        charged.append("charged")
        return "charged"

    model = Streaming(script=once(call("where", "a", high=True), call("charge", "b"), call("where", "c", high=False)))
    app = make_app(create_agent(model, [WHERE, charge]))
    page = await open_page(app, tools={"where": lambda high: {"up": high}})

    assert await page.ask("Where am I?") == 'done: {"up": false} '
    assert sorted(args["high"] for _, args in page.executions) == [False, True]
    assert charged == ["charged"]
    assert len(model.seen) == 2


async def test_speaking_while_a_call_is_open(make_app: Any, open_page: Any) -> None:
    begun, aborted = asyncio.Event(), asyncio.Event()

    async def body(high: bool) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            aborted.set()

    model = Streaming(script=once(call("where", "a", high=True)))
    page = await open_page(make_app(create_agent(model, [WHERE])), tools={"where": body})
    await page.submit("Where am I?")
    await begun.wait()

    assert await page.ask("Never mind") == "done: Never mind "
    await aborted.wait()
    assert [message.type for message in model.seen[-1]] == ["human", "ai", "tool", "human"]


async def test_another_server_goes_on(make_app: Any, open_page: Any, tmp_path: Path) -> None:
    def serve() -> Any:
        model = Streaming(script=once(call("where", "a", high=True)))
        return make_app(create_agent(model, [WHERE]), store=SqliteStore(tmp_path / "same.db"))

    first = serve()
    page = await open_page(first)
    run_id = await page.submit("Where am I?")
    await page.until(lambda event: event["method"] == "calls")
    await page.close()
    await first.stop()

    page = await open_page(serve(), tools={"where": lambda high: "north"})

    await page.ended(run_id)
    assert page.texts()[-1] == "done: north "
