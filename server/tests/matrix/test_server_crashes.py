"""The crash matrix, the server's half: kill -9 before and after each write, announcement, acknowledgement, resumption.

The points are found by a turn that nobody disturbs. Then there is one turn for each point: the server dies there,
another one is started on the same files, the page reconnects, and the turn goes on to its end.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import re
from collections import Counter
from contextlib import AsyncExitStack
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from farside.core.transcript import text_of
from farside.testing import FakeBrowser, LinkClosed, SocketLink
from server.tests.matrix import app

PATIENCE = 30


IMPORTED = (
    "server.tests.matrix.app",
    # What is imported only while a server starts: by multiprocessing (pytest's script), by uvicorn, by the app.
    "_pytest.config",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "farside.langgraph.savers",
)


@pytest.fixture(scope="module")
def processes() -> Any:
    """Starts servers quickly: from a process that has imported everything already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTED))
    return context


class Server:
    """A server process of the matrix."""

    def __init__(self, process: BaseProcess, address: str) -> None:
        self.process = process
        self.address = address

    @classmethod
    async def start(cls, processes: Any, folder: Path, fatal: str = "") -> Server:
        here, there = processes.Pipe()
        process = processes.Process(target=app.serve, args=(folder, fatal, there), daemon=True)
        process.start()
        there.close()
        port = await asyncio.to_thread(here.recv)
        return cls(process, f"ws://127.0.0.1:{port}")

    async def died(self) -> int:
        await asyncio.to_thread(self.process.join, PATIENCE)
        assert self.process.exitcode is not None
        return self.process.exitcode

    async def kill(self) -> None:
        self.process.kill()
        await self.died()


class Turn:
    """One turn of one page, over as many servers as it takes."""

    def __init__(self, processes: Any, folder: Path, agent: str) -> None:
        self._processes = processes
        self._folder = folder
        self._links = AsyncExitStack()
        self.acknowledged: dict[str, Any] = {}
        tools = {"look": lambda n: f"looked-{n}", "pay": lambda: "paid"}
        self.page = FakeBrowser(_NoLink(), agent=agent, tools=tools, client_id="page-1")

    async def run(self, fatal: str = "") -> tuple[str, int]:
        """The agent's final text, and how many servers it took."""
        for servers in range(1, 4):
            server = await Server.start(self._processes, self._folder, fatal if servers == 1 else "")
            turn, death = asyncio.create_task(self._go_on(server)), asyncio.create_task(server.died())
            await asyncio.wait({turn, death}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
            if turn.done() and turn.exception() is None:
                if fatal and servers == 1:
                    await death  # it was to die at the very end
                await server.kill()
                await death
                return turn.result(), servers
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
            assert await death == -9, "the server ended otherwise than by the kill"
        raise AssertionError(f"the turn did not end: {self.page.events}")

    async def _go_on(self, server: Server) -> str:
        link = await self._links.enter_async_context(SocketLink.open(server.address, "thread-1"))
        await self.page.connect(link)
        await self.page.submit("go", run_id="run-1")
        await self.page.ended("run-1")
        state = await self.page.command("state.get")
        _check_history(state["values"]["messages"])
        return text_of(state["values"]["messages"][-1]).strip()

    async def close(self) -> None:
        await self.page.close()
        await self._links.aclose()


class _NoLink:
    async def send(self, message: Any) -> None:
        raise LinkClosed

    async def receive(self) -> Any:
        raise LinkClosed

    async def close(self) -> None:
        """Nothing to close."""


def _check_history(messages: list[dict[str, Any]]) -> None:
    """The user's message once, the final text last, and for each tool call one tool message, in order (L6)."""
    assert [message["type"] for message in messages].count("human") == 1
    waiting: list[str] = []
    for message in messages:
        if message["type"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls") or []]
    assert not waiting


async def survive(processes: Any, folder: Path, agent: str, point: str) -> str:
    """A turn whose server dies at the point: what is wrong with it afterwards, empty for nothing."""
    folder.mkdir()
    turn = Turn(processes, folder, agent)
    try:
        text, servers = await turn.run(point)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        await turn.close()
    ran = Counter(name for name, _ in turn.page.executions)
    if servers != 2:
        return f"expected the server to die once, it took {servers} servers"
    if text != app.FINAL:
        return f"expected {app.FINAL!r}, the answer was {text!r}"
    if ran["pay"] != 1 or ran["look"] < 2:
        return f"expected to pay once and to look twice, the page did {dict(ran)}"
    return ""


@pytest.mark.timeout(300)  # a hundred turns
@pytest.mark.parametrize(
    ("agent", "where", "count"),
    [
        ("function", "", 60),
        ("graph", "", 60),
        # Where this graph differs from the one above: in its checkpoints, and what is due when one is there.
        ("node", r"checkpoint|leg|store opened", 40),
        # Where this runtime writes and opens; in between it waits as a function does.
        ("pydantic_ai", r"journal|leg|store opened look \+", 12),
    ],
)
async def test_the_server_is_killed_at_every_point_of_a_turn(tmp_path, processes, agent, where, count, record_property):
    """L1, L3, L4, L5, L6, L8: the page outlives the server, so nothing may be lost and nothing done twice."""
    (tmp_path / "undisturbed").mkdir()
    undisturbed = Turn(processes, tmp_path / "undisturbed", agent)
    assert await undisturbed.run() == (app.FINAL, 1)
    await undisturbed.close()
    passed = (tmp_path / "undisturbed" / "points").read_text().splitlines()
    # Texts are stored in groups, whose number is a matter of timing.
    points = [point for point in passed if "store events" not in point or point.endswith("#1")]
    points = [point for point in points if re.search(where, point)]

    outcomes: dict[str, str] = {}
    for number, point in enumerate(points):
        outcomes[point] = await survive(processes, tmp_path / str(number), agent, point)
    table = [f"  {'FAILED' if wrong else 'ok    '}  {point}  {wrong}" for point, wrong in outcomes.items()]
    record_property("table", "\n".join([f"{agent}: the server was killed at {len(points)} points", *table]))

    assert len(points) >= count
    assert [point for point, wrong in outcomes.items() if wrong] == []
