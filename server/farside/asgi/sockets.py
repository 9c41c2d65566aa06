"""WebSockets: moves frames between a socket and its connection."""

from __future__ import annotations

import asyncio
import logging

from starlette.websockets import WebSocket, WebSocketDisconnect

from farside.asgi.thread_id import checked
from farside.engine import SUBPROTOCOLS, Connection, Engine
from farside.errors import FarsideError
from farside.wire.codec import Frame

logger = logging.getLogger("farside.asgi")

QUEUE_BYTES = 64 * 1024 * 1024
"""How much may wait for a client that does not read, before its connection is closed (1013)."""


class Socket:
    """A WebSocket while it is open: a reader, a writer, and a queue between the connection and the writer.

    What a client asked for may be any size; the next command is read when most of it has been sent. Of what comes by
    itself only :data:`QUEUE_BYTES` wait: a client that does not read is let go, its thread is unharmed.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._frames: asyncio.Queue[tuple[Frame, bool] | None] = asyncio.Queue()
        self._asking = False
        self._waiting = 0
        self._uncalled = 0
        self._sent = asyncio.Event()
        self._ending = asyncio.Event()
        self._end = (1000, "")

    async def serve(self, engine: Engine) -> None:
        thread_id: str = self._socket.path_params["thread_id"]
        offered: list[str] = self._socket.scope.get("subprotocols", [])
        subprotocol = next((name for name in offered if name in SUBPROTOCOLS), None)
        await self._socket.accept(subprotocol)
        try:
            checked(thread_id)
        except FarsideError as error:
            await self._socket.close(1008, error.message)
            return
        connection = Connection(engine, thread_id, subprotocol, self._queue, self._hang_up)
        writer = asyncio.create_task(self._write())
        guard = asyncio.create_task(self._guard(writer))
        try:
            await self._read(connection)
        finally:
            guard.cancel()
            self._frames.put_nowait(None)
            await asyncio.wait([writer, guard])
            await connection.close()

    async def _read(self, connection: Connection) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            frame = message.get("text")
            self._asking = True
            try:
                await connection.receive(frame if frame is not None else message["bytes"])
            finally:
                self._asking = False
            while self._waiting > QUEUE_BYTES and not self._ending.is_set():
                self._sent.clear()
                await self._sent.wait()

    def _queue(self, frame: Frame) -> None:
        size = len(frame)
        if not self._asking:
            if self._uncalled and self._uncalled + size > QUEUE_BYTES:
                self._hang_up(1013, "the client does not read; reconnect")
                return
            self._uncalled += size
        self._waiting += size
        self._frames.put_nowait((frame, self._asking))

    async def _write(self) -> None:
        try:
            while (entry := await self._frames.get()) is not None:
                frame, was_asked = entry
                if isinstance(frame, str):
                    await self._socket.send_text(frame)
                else:
                    await self._socket.send_bytes(frame)
                self._waiting -= len(frame)
                self._uncalled -= 0 if was_asked else len(frame)
                self._sent.set()
        except (WebSocketDisconnect, RuntimeError, OSError):
            logger.debug("a client went away while it was sent something")
        finally:
            self._waiting = 0
            self._sent.set()

    def _hang_up(self, code: int, reason: str) -> None:
        if not self._ending.is_set():
            self._end = (code, reason)
            self._ending.set()

    async def _guard(self, writer: asyncio.Task[None]) -> None:
        """End the connection when it is to end: what waits is not sent any more."""
        await self._ending.wait()
        writer.cancel()
        await self._socket.close(*self._end)
