"""Starlette routes: moves frames between sockets and connections."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from farside.engine import SUBPROTOCOLS, Connection, Engine
from farside.errors import FarsideError
from farside.wire.codec import JSON, Frame
from farside.wire.values import DEFAULT_LIMITS, OUTGOING_LIMITS

logger = logging.getLogger("farside.asgi")

THREAD_ID = re.compile(r"[A-Za-z0-9_.:~-]{1,128}")
"""What a thread id may look like; clients make them."""

QUEUE_BYTES = 64 * 1024 * 1024
"""How much may wait for a client that does not read, before its connection is closed (1013)."""

EngineSource = Callable[[], Awaitable[Engine]]
"""Gives the engine, started."""


def routes(engine: EngineSource) -> list[BaseRoute]:
    """The routes of a farside app, relative to where it is mounted."""

    async def ok(request: Request) -> Response:
        await engine()
        return JSONResponse({"ok": True})

    async def state(request: Request) -> Response:
        thread_id: str = request.path_params["thread_id"]
        try:
            running = await engine()
            found = await running.state(thread_id)
        except FarsideError as error:
            status = {"not_found": 404, "unavailable": 503}.get(error.code, 400)
            return JSONResponse({"error": error.code, "message": error.message}, status)
        body: dict[str, Any] = {"values": found.state.values, "next": list(found.state.next)}
        if not found.state.next:
            body["tasks"] = []
        if found.state.checkpoint_id is not None:
            body["checkpoint"] = {"checkpoint_id": found.state.checkpoint_id}
        return Response(JSON.encode(body, OUTGOING_LIMITS), media_type="application/json")

    async def stream(socket: WebSocket) -> None:
        await _Socket(socket).serve(await engine())

    return [
        Route("/ok", ok),
        Route("/threads/{thread_id}/state", state),
        WebSocketRoute("/threads/{thread_id}/stream/events", stream),
    ]


class _Socket:
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
        if not THREAD_ID.fullmatch(thread_id):
            expected = "expected a thread id of 1 to 128 letters, digits, '_', '.', ':', '~' or '-'"
            await self._socket.close(1008, expected)
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


def server_options() -> dict[str, Any]:
    """How farside wants uvicorn to serve it: its fastest WebSockets, no compression, frames as large as the limits."""
    return {
        "ws": "websockets-sansio",
        "ws_per_message_deflate": False,
        "ws_max_size": DEFAULT_LIMITS.frame_bytes,
        "loop": "uvloop" if find_spec("uvloop") else "asyncio",
        "lifespan": "on",
        "timeout_graceful_shutdown": 5,
    }
