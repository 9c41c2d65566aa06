"""Plays a transcript (protocol/vectors/README.md) against the Python half: the engine with a scripted agent."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

from farside.app import Farside
from farside.errors import ToolError
from farside.functions import Turn
from farside.stores.memory import MemoryStore
from farside.testing.clock import ManualClock
from farside.testing.link import MemoryLink
from farside.tools import HeadlessTool


async def play(transcript: dict[str, Any], subprotocol: str | None = "farside.v1.json") -> None:
    """Play the server's half; raises AssertionError at the first difference, naming the step."""
    clock = ManualClock()
    ids = itertools.count(1)
    app = Farside(
        {"assistant": scripted(transcript["agent"], transcript.get("tools", []))},
        store=MemoryStore(),
        clock=clock,
        new_id=lambda: f"id-{next(ids)}",
    )
    links: dict[str, MemoryLink] = {}
    try:
        for number, step in enumerate(transcript["steps"], start=1):
            await _step(step, transcript, subprotocol, app, clock, links, f"step {number}: {json.dumps(step)}")
        for name, link in links.items():
            await _quiet(link, f"page {name!r} at the end")
    finally:
        for link in links.values():
            await link.close()
        await app.stop()


async def _step(
    step: dict[str, Any],
    transcript: dict[str, Any],
    subprotocol: str | None,
    app: Farside,
    clock: ManualClock,
    links: dict[str, MemoryLink],
    where: str,
) -> None:
    page = step.get("page", "page")
    if step.get("do") == "connect":
        links[page] = await MemoryLink(app, transcript["thread"], subprotocol).open()
    elif step.get("do") == "drop":
        await links.pop(page).cut()
    elif step.get("do") == "advance":
        clock.advance(step["ms"])
    elif "client" in step:
        await links[page].send(_through_json(step["client"]))
    elif "server" in step:
        try:
            got = await asyncio.wait_for(links[page].receive(), 5)
        except TimeoutError:
            raise AssertionError(f"{where}\nthe server sent nothing") from None
        expected = _through_json(step["server"])
        assert got == expected, f"{where}\nexpected {expected}\n     got {got}"


async def _quiet(link: MemoryLink, where: str) -> None:
    """Nothing more arrives: a command sent now is answered by the very next message."""
    for _ in range(20):
        await asyncio.sleep(0)
    await link.send({"id": 999_999, "method": "no.such.command"})
    got = await asyncio.wait_for(link.receive(), 5)
    assert got.get("id") == 999_999, f"{where}\nexpected nothing more, got {got}"


def _through_json(message: Any) -> Any:
    """A transcript's message with its ``$bytes`` read."""
    from farside.wire.values import unescape

    return unescape(json.loads(json.dumps(message)))


def scripted(script: list[dict[str, Any]], declared: list[dict[str, Any]]) -> Callable[[Turn, Any], Awaitable[None]]:
    """The agent that a transcript describes: it says, calls and fails as written, with every message of the user."""
    tools = {tool["name"]: _tool(tool) for tool in declared}

    async def agent(turn: Turn, value: Any) -> None:
        results: list[str] = []
        for action in script:
            if "say" in action:
                await turn.say(action["say"].format(*results))
            elif "calls" in action:
                results = await asyncio.gather(*(_call(turn, tools[c["name"]], c["args"]) for c in action["calls"]))
            else:
                raise RuntimeError(action["fail"])

    return agent


async def _call(turn: Turn, tool: HeadlessTool, args: dict[str, Any]) -> str:
    try:
        return json.dumps(await turn.call(tool, **args), separators=(",", ":"))
    except ToolError as error:
        return f"error {error.code}"


def _tool(declared: dict[str, Any]) -> HeadlessTool:
    schema = declared.get("args_schema", {"type": "object", "additionalProperties": True})
    optional = {key: declared[key] for key in ("result_schema", "timeout", "idempotent", "title") if key in declared}
    return HeadlessTool(name=declared["name"], args_schema=schema, **optional)
