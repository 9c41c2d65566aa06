"""Event streams: one subscription of the Agent Streaming Protocol over Server-Sent Events."""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from farside.asgi.bodies import body_of, client_of
from farside.asgi.names import thread_id
from farside.asgi.outbox import Outbox
from farside.core.session import Session
from farside.engine import Connection, Engine
from farside.errors import FarsideError
from farside.wire.codec import JSON, Frame

logger = logging.getLogger("farside.asgi")

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # or nginx waits until it has more to pass on
]


class EventStream:
    """A response that lasts: the events of a subscription as they come, and a comment now and then.

    The comment keeps proxies from ending a silent stream. A client that has gone is noticed at once.
    """

    def __init__(self, engine: Engine, thread_id: str, client_id: str | None) -> None:
        self._engine = engine
        self._outbox = Outbox(lambda: self._hang_up(1013, "the client does not read"))
        self._ending = asyncio.Event()
        self._reply: dict[str, Any] = {}
        session = Session(client_id or f"stream:{uuid.uuid4().hex}", plain=True, one_of_several=True)
        self._connection = Connection(engine, thread_id, None, self._take, self._hang_up, session)

    @classmethod
    async def open(cls, engine: Engine, request: Request) -> EventStream:
        """Subscribe to what the request's body says.

        Raises:
            FarsideError: it is no subscription, or the client's name is none.
        """
        filter_ = JSON.decode(await body_of(request, engine.limits), engine.limits)
        stream = cls(engine, thread_id(request.path_params["thread_id"]), client_of(request))
        try:
            await stream._subscribe(filter_)
        except BaseException:
            await stream._connection.close()
            raise
        return stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what comes until the client is gone, or the connection is to end."""
        tasks = [
            asyncio.create_task(work)
            for work in (self._write(send), self._beat(), self._gone(receive), self._ending.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._connection.close()
        if self._ending.is_set():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _subscribe(self, params: Any) -> None:
        self._outbox.is_asking = True
        await self._connection.take({"id": 1, "method": "subscription.subscribe", "params": params})
        self._outbox.is_asking = False
        if "error" in self._reply:
            raise FarsideError(self._reply["error"], self._reply["message"])

    def _take(self, frame: Frame) -> None:
        if self._reply:
            self._outbox.put(f"data: {frame}\n\n")
        else:
            self._reply = JSON.decode(frame)

    def _hang_up(self, code: int, reason: str) -> None:
        self._ending.set()

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async with aclosing(self._outbox.frames()) as frames:
            async for frame in frames:
                body = frame.encode() if isinstance(frame, str) else frame
                await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _beat(self) -> None:
        clock, pause = self._engine.clock, self._engine.settings.ping_ms
        while True:
            await clock.sleep_until(clock.now() + pause)
            self._outbox.put(": still here\n\n")

    async def _gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
