"""WebSockets: moves frames between a socket and its connection."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from starlette.websockets import WebSocket, WebSocketDisconnect

from farside.asgi import names
from farside.asgi.outbox import Outbox
from farside.engine import SUBPROTOCOLS, Connection, Engine
from farside.errors import FarsideError

logger = logging.getLogger("farside.asgi")


class Socket:
    """A WebSocket while it is open: a reader, a writer, and an outbox between the connection and the writer."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._outbox = Outbox(lambda: self._hang_up(1013, "the client does not read; reconnect"))
        self._ending = asyncio.Event()
        self._end = (1000, "")

    async def serve(self, engine: Engine) -> None:
        thread_id: str = self._socket.path_params["thread_id"]
        offered: list[str] = self._socket.scope.get("subprotocols", [])
        subprotocol = next((name for name in offered if name in SUBPROTOCOLS), None)
        await self._socket.accept(subprotocol)
        try:
            names.thread_id(thread_id)
        except FarsideError as error:
            await self._socket.close(1008, error.message)
            return
        connection = Connection(engine, thread_id, subprotocol, self._outbox.put, self._hang_up)
        writer = asyncio.create_task(self._write())
        guard = asyncio.create_task(self._guard(writer))
        code: int | None = None
        try:
            code = await self._read(connection)
        finally:
            guard.cancel()
            self._outbox.end()
            await asyncio.wait([writer, guard])
            await connection.close(code)

    async def _read(self, connection: Connection) -> int | None:
        """Read until the socket is closed; returns the close code."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return message.get("code")
            frame = message.get("text")
            self._outbox.is_asking = True
            try:
                await connection.receive(frame if frame is not None else message["bytes"])
            finally:
                self._outbox.is_asking = False
            await self._outbox.drained()

    async def _write(self) -> None:
        try:
            async with aclosing(self._outbox.frames()) as frames:
                async for frame in frames:
                    if isinstance(frame, str):
                        await self._socket.send_text(frame)
                    else:
                        await self._socket.send_bytes(frame)
        except (WebSocketDisconnect, RuntimeError, OSError):
            logger.debug("a client went away while it was sent something")

    def _hang_up(self, code: int, reason: str) -> None:
        if not self._ending.is_set():
            self._end = (code, reason)
            self._ending.set()

    async def _guard(self, writer: asyncio.Task[None]) -> None:
        """End the connection when it is to end: what waits is not sent any more."""
        await self._ending.wait()
        writer.cancel()
        await self._socket.close(*self._end)
