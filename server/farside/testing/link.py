"""Links between a client and an app: in memory, with faults on demand, or over a real WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from farside.engine import SUBPROTOCOLS, Connection, Engine
from farside.wire.codec import JSON, Codec, Frame
from farside.wire.values import OUTGOING_LIMITS

Direction = Literal["to_server", "to_client"]
Fault = Callable[[Direction, Frame], list[Frame]]
"""Decides what becomes of a frame: ``[]`` drops it, ``[frame, frame]`` doubles it, ``[frame]`` lets it pass."""


class HasEngine(Protocol):
    """An app that a link can reach; :class:`farside.Farside` is one."""

    async def engine(self) -> Engine:
        """The engine, started."""
        ...


class LinkClosed(Exception):  # noqa: N818 - an outcome
    """The link was cut; nothing more will arrive."""


class Link(Protocol):
    """A client's way to a server, for one thread."""

    async def send(self, message: Any) -> None:
        """Send a message. Raises LinkClosed."""
        ...

    async def receive(self) -> Any:
        """The next message. Raises LinkClosed."""
        ...

    async def close(self) -> None: ...


class MemoryLink:
    """A connection to an app in the same process, without a socket.

    Args:
        app: the app; it is started if it was not.
        subprotocol: ``"farside.v1.msgpack"``, ``"farside.v1.json"``, or None for the Agent Streaming Protocol alone.
        fault: what happens to frames; by default nothing.
    """

    def __init__(
        self,
        app: HasEngine,
        thread_id: str,
        subprotocol: str | None = "farside.v1.msgpack",
        fault: Fault | None = None,
    ) -> None:
        self._app = app
        self._thread_id = thread_id
        self._subprotocol = subprotocol
        self._fault = fault
        self.codec: Codec = JSON if subprotocol is None else SUBPROTOCOLS[subprotocol]
        self._arrived: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._held: list[Frame] | None = None
        self._connection: Connection | None = None
        self._cut = False
        self._closing: asyncio.Task[None] | None = None
        self.closed_with: int | None = None
        """The close code, once the server has ended the connection."""

    async def open(self) -> MemoryLink:
        """Connect."""
        engine = await self._app.engine()
        self._connection = Connection(engine, self._thread_id, self._subprotocol, self._deliver, self._hung_up)
        return self

    async def send(self, message: Any) -> None:
        await self.send_frame(self.codec.encode(message))

    async def send_frame(self, frame: Frame) -> None:
        """Send a frame as it is, well-formed or not."""
        if self._cut or self._connection is None:
            raise LinkClosed
        for each in self._faulty("to_server", frame):
            await self._connection.receive(each)

    async def receive(self) -> Any:
        frame = await self._arrived.get()
        if frame is None:
            self._arrived.put_nowait(None)
            raise LinkClosed
        return self.codec.decode(frame, OUTGOING_LIMITS)

    def pending(self) -> int:
        """How many messages have arrived and were not received yet."""
        return self._arrived.qsize()

    def hold(self) -> None:
        """Keep what the server sends until :meth:`release`: a slow network."""
        self._held = []

    def release(self) -> None:
        """Let through what was held."""
        held, self._held = self._held or [], None
        for frame in held:
            self._arrived.put_nowait(frame)

    async def cut(self, code: int | None = None) -> None:
        """The socket dies; what was held is lost. The server sees the WebSocket close code, None for none."""
        if not self._cut and self._connection is not None:
            self._cut = True
            self._arrived.put_nowait(None)
            await self._connection.close(code)

    async def close(self) -> None:
        await self.cut()

    def _hung_up(self, code: int, reason: str) -> None:
        """The server ended the connection."""
        self.closed_with = code
        self._closing = asyncio.create_task(self.cut())

    def _deliver(self, frame: Frame) -> None:
        if self._cut:
            return
        for each in self._faulty("to_client", frame):
            if self._held is not None:
                self._held.append(each)
            else:
                self._arrived.put_nowait(each)

    def _faulty(self, direction: Direction, frame: Frame) -> list[Frame]:
        return [frame] if self._fault is None else self._fault(direction, frame)


class SocketLink:
    """A connection over a real WebSocket.

    Args:
        url: where the app is served, ``ws://host:port/path``.
    """

    def __init__(self, socket: Any, codec: Codec) -> None:
        self._socket = socket
        self.codec = codec

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str, thread_id: str, subprotocol: str | None = "farside.v1.msgpack"
    ) -> AsyncGenerator[SocketLink]:
        """Connect; closes on leaving."""
        offered = None if subprotocol is None else [Subprotocol(subprotocol)]
        address = f"{url}/threads/{thread_id}/stream/events"
        # An app may load its agents for its first connection.
        options: dict[str, Any] = {"open_timeout": 60, "max_size": None, "compression": None, "proxy": None}
        async with connect(address, subprotocols=offered, **options) as socket:
            yield cls(socket, JSON if subprotocol is None else SUBPROTOCOLS[subprotocol])

    async def send(self, message: Any) -> None:
        await self.send_frame(self.codec.encode(message))

    async def send_frame(self, frame: Frame) -> None:
        """Send a frame as it is, well-formed or not."""
        try:
            await self._socket.send(frame)
        except ConnectionClosed:
            raise LinkClosed from None

    async def receive(self) -> Any:
        try:
            return self.codec.decode(await self._socket.recv(), OUTGOING_LIMITS)
        except ConnectionClosed:
            raise LinkClosed from None

    async def close(self) -> None:
        await self._socket.close()
