"""Plays a transcript (protocol/vectors/README.md) against the Python half: the engine with a scripted agent."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

from farside.app import Farside
from farside.engine import Settings
from farside.errors import ToolError
from farside.functions import Turn
from farside.stores.memory import MemoryStore
from farside.testing.clock import ManualClock
from farside.testing.link import MemoryLink
from farside.tools import HeadlessTool
from farside.wire.codec import JSON
from farside.wire.values import escape, unescape


async def play(transcript: dict[str, Any], subprotocol: str | None = "farside.v1.json") -> None:
    """Play the server's half; raises AssertionError at the first difference, naming the step."""
    async with _Stage(transcript, subprotocol) as stage:
        for number, step in enumerate(transcript["steps"], start=1):
            await stage.take(step)
            if "server" in step:
                expected, got = _plain(step["server"]), await stage.hear(step.get("page", "page"))
                where = f"step {number}: {json.dumps(step)}"
                assert got == expected, f"{where}\nexpected {expected}\n     got {got}"
        for page in stage.pages():
            more = await stage.quiet(page)
            assert not more, f"page {page!r} at the end: expected nothing more, got {more}"


async def record(transcript: dict[str, Any], subprotocol: str | None = "farside.v1.json") -> dict[str, Any]:
    """A transcript whose ``server`` steps are what the server sends now: for writing one, or for reading a difference.

    After each step that moves the server, everything that it sends follows.
    """
    steps: list[dict[str, Any]] = []
    async with _Stage(transcript, subprotocol) as stage:
        for step in transcript["steps"]:
            if "server" not in step:
                steps.append(step)
                await stage.take(step)
                for page in stage.pages():
                    named = {} if page == "page" else {"page": page}
                    heard = await stage.quiet(page)
                    if page not in stage.lost:
                        steps += [{"server": escape(message), **named} for message in heard]
    return {**transcript, "steps": steps}


class _Stage:
    """An app with the transcript's agent, and the connections of its pages."""

    def __init__(self, transcript: dict[str, Any], subprotocol: str | None) -> None:
        ids = itertools.count(1)
        self._thread = transcript["thread"]
        self._subprotocol = subprotocol
        self._clock = ManualClock()
        self._links: dict[str, MemoryLink] = {}
        self._asked: dict[str, int] = {}
        self.lost: set[str] = set()
        self._app = Farside(
            {"assistant": scripted(transcript["agent"], transcript.get("tools", []))},
            store=MemoryStore(),
            clock=self._clock,
            new_id=lambda: f"id-{next(ids)}",
            settings=Settings(**transcript.get("settings", {})),
        )

    async def __aenter__(self) -> _Stage:
        return self

    async def __aexit__(self, *error: object) -> None:
        for link in self._links.values():
            await link.close()
        await self._app.stop()

    def pages(self) -> list[str]:
        return list(self._links)

    async def take(self, step: dict[str, Any]) -> None:
        """Do what the step says to the server's half."""
        page = step.get("page", "page")
        match step.get("do"):
            case "connect":
                self._asked[page] = 0
                self._links[page] = await MemoryLink(self._app, self._thread, self._subprotocol).open()
            case "lose":
                self.lost.add(page)
            case "drop":
                if page in self.lost:
                    await self.quiet(page)
                    self.lost.discard(page)
                await self._links.pop(page).cut()
            case "advance":
                self._clock.advance(step["ms"])
            case _:
                if "client" in step:
                    await self._links[page].send(_plain(step["client"]))

    async def hear(self, page: str) -> Any:
        """The next message; a silence of five seconds is a difference."""
        try:
            return await asyncio.wait_for(self._links[page].receive(), 5)
        except TimeoutError:
            return "nothing"

    async def quiet(self, page: str) -> list[Any]:
        """What arrives until nothing more happens by itself: then a command is answered by the very next message."""
        for _ in range(50):
            await asyncio.sleep(0)
        await self._links[page].send({"id": _BARRIER, "method": "no.such.command"})
        heard: list[Any] = []
        while (message := await self.hear(page)).get("id") != _BARRIER:
            if message["type"] == "ping":  # the replies to our own questions are no part of the transcript
                message["sent"] -= self._asked[page]
            heard.append(message)
        self._asked[page] += 1
        return heard


_BARRIER = 999_999


def _plain(message: Any) -> Any:
    """A transcript's message with its ``$bytes`` read."""
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
        return JSON.encode(await turn.call(tool, **args))
    except ToolError as error:
        return f"error {error.code}"


def _tool(declared: dict[str, Any]) -> HeadlessTool:
    schema = declared.get("args_schema", {"type": "object", "additionalProperties": True})
    optional = {key: declared[key] for key in ("result_schema", "timeout", "idempotent", "title") if key in declared}
    return HeadlessTool(name=declared["name"], args_schema=schema, **optional)
