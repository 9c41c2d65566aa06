"""What waits for a client to read it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from farside.wire.codec import Frame

QUEUE_BYTES = 64 * 1024 * 1024
"""How much may wait for a client that does not read, before it is let go."""


class Outbox:
    """A queue between a connection and its socket.

    What a client asked for (see ``is_asking``) may be any size; more is asked when most of it has been sent. Of what
    comes by itself only :data:`QUEUE_BYTES` wait: a client that does not read is let go, its thread is unharmed.

    Args:
        overflow: called when too much waits.
    """

    def __init__(self, overflow: Callable[[], None]) -> None:
        self.is_asking = False
        """Whether what is put in has been asked for."""
        self._overflow = overflow
        self._frames: asyncio.Queue[tuple[Frame, bool] | None] = asyncio.Queue()
        self._waiting = 0
        self._uncalled = 0
        self._sent = asyncio.Event()
        self._is_over = False

    def put(self, frame: Frame) -> None:
        """Let a frame wait for its turn."""
        if self._is_over:
            return
        size = len(frame)
        if not self.is_asking:
            if self._uncalled and self._uncalled + size > QUEUE_BYTES:
                self._overflow()
                return
            self._uncalled += size
        self._waiting += size
        self._frames.put_nowait((frame, self.is_asking))

    def end(self) -> None:
        """Nothing comes any more."""
        self._frames.put_nowait(None)

    async def frames(self) -> AsyncGenerator[Frame]:
        """What is to be sent, in order; each counts as sent when the next one is asked for."""
        try:
            while (entry := await self._frames.get()) is not None:
                frame, was_asked = entry
                yield frame
                self._waiting -= len(frame)
                self._uncalled -= 0 if was_asked else len(frame)
                self._sent.set()
        finally:
            self._is_over = True
            self._sent.set()

    async def drained(self) -> None:
        """Wait until no more than :data:`QUEUE_BYTES` wait, or nobody sends any more."""
        while self._waiting > QUEUE_BYTES and not self._is_over:
            self._sent.clear()
            await self._sent.wait()
