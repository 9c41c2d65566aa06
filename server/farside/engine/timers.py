"""One timer for all threads: wakes when the next deadline or lease end is due. Times are in the store, so they survive
a restart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from farside.core.model import Call
from farside.core.ports import Clock, Store

logger = logging.getLogger("farside.engine")


class Timers:
    """Calls ``fire`` for each call that is due."""

    def __init__(self, store: Store, clock: Clock, fire: Callable[[Call], Awaitable[None]]) -> None:
        self._store = store
        self._clock = clock
        self._fire = fire
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def look(self) -> None:
        """A time may have become earlier than the one that is waited for."""
        self._changed.set()

    async def _watch(self) -> None:
        while True:
            self._changed.clear()
            try:
                for call in await self._store.due(self._clock.now()):
                    await self._fire(call)
                when = await self._store.next_due()
            except Exception:
                logger.exception("timers: the store failed; looking again at the next change")
                when = None
            if when is None or when > self._clock.now():
                await self._until(when)

    async def _until(self, when: int | None) -> None:
        waits: set[asyncio.Task[Any]] = {asyncio.create_task(self._changed.wait())}
        if when is not None:
            waits.add(asyncio.create_task(self._clock.sleep_until(when)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
