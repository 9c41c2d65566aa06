"""A WebSocket proxy that loses, delays, doubles and swallows frames: a bad network before a real server."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from farside.testing.link import Direction


@dataclass(frozen=True, slots=True)
class Faults:
    """How often a frame meets which fate; each is a probability from 0 to 1.

    Args:
        drop: the frame is lost, the connection lives on.
        double: the frame arrives twice.
        delay: the frame, and all behind it, wait for up to ``longest_delay`` seconds.
        cut: the connection breaks instead of carrying the frame.
        swallow: from this frame on nothing passes in either direction, and nobody is told.
    """

    drop: float = 0.0
    double: float = 0.0
    delay: float = 0.0
    cut: float = 0.0
    swallow: float = 0.0
    longest_delay: float = 0.05


class Proxy:
    """Forwards WebSockets to a server, with faults. ``async with Proxy(target, faults, seed).open() as address``.

    ``happened`` counts the faults by kind, and ``"frame"``.

    Args:
        target: the server, ``host:port``.
        faults: may be replaced at any time.
        seed: the same one gives the same fates to the same frames of a connection, whatever its neighbours do.
    """

    def __init__(self, target: str, faults: Faults, seed: int = 0) -> None:
        self.faults = faults
        self.happened: Counter[str] = Counter()
        self._news = asyncio.Event()
        self._target = target
        self._seed = seed
        self._connections = 0

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[str]:
        """Listen on a free port of 127.0.0.1; gives ``host:port``."""
        options: dict[str, Any] = {"max_size": None, "compression": None, "ping_interval": None, "close_timeout": 0.5}
        async with serve(self._carry, "127.0.0.1", 0, select_subprotocol=_first, **options) as server:
            port: int = next(iter(server.sockets)).getsockname()[1]
            yield f"127.0.0.1:{port}"

    async def until(self, kind: str, count: int) -> None:
        """Return when something has happened so many times."""
        while self.happened[kind] < count:
            self._news.clear()
            await self._news.wait()

    async def _carry(self, client: ServerConnection) -> None:
        self._connections += 1
        number = self._connections
        offered = None if client.subprotocol is None else [Subprotocol(client.subprotocol)]
        path = "" if client.request is None else client.request.path
        options: dict[str, Any] = {"max_size": None, "compression": None, "proxy": None, "close_timeout": 0.5}
        try:
            async with connect(f"ws://{self._target}{path}", subprotocols=offered, **options) as server:
                silent = asyncio.Event()
                pumps = {
                    asyncio.create_task(self._pump(client, server, "to_server", number, silent)),
                    asyncio.create_task(self._pump(server, client, "to_client", number, silent)),
                }
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
                await asyncio.gather(client.close(1001), server.close(1001))
        except OSError:
            await client.close(1013, "the server cannot be reached")

    async def _pump(
        self,
        source: ServerConnection | ClientConnection,
        sink: ServerConnection | ClientConnection,
        direction: Direction,
        number: int,
        silent: asyncio.Event,
    ) -> None:
        """Returns when the connection is to end."""
        chance = random.Random(f"{self._seed} {number} {direction}")
        with suppress(ConnectionClosed):
            async for frame in source:
                fate = self._fate(chance)
                if silent.is_set():
                    continue
                match fate:
                    case "cut":
                        return
                    case "swallow":
                        silent.set()
                    case "drop":
                        pass
                    case "double":
                        await sink.send(frame)
                        await sink.send(frame)
                    case "delay":
                        await asyncio.sleep(chance.random() * self.faults.longest_delay)
                        await sink.send(frame)
                    case _:
                        await sink.send(frame)

    def _fate(self, chance: random.Random) -> str:
        self.happened["frame"] += 1
        self._news.set()
        drawn = chance.random()
        for kind in ("cut", "swallow", "drop", "double", "delay"):
            drawn -= getattr(self.faults, kind)
            if drawn < 0:
                self.happened[kind] += 1
                return kind
        return "pass"


def _first(_connection: ServerConnection, offered: list[Subprotocol] | Any) -> Subprotocol | None:
    """The client's first choice; the server behind is offered only that."""
    return next(iter(offered), None)
