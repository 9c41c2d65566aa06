"""One timer for all threads: wakes when the next deadline or lease end is due. Times are in the store, so they survive
a restart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from farside.core.model import Call
from farside.core.ports import Clock, Store
from farside.errors import FarsideError

logger = logging.getLogger("farside.engine")


_AGAIN_MS = 1000


class Timers:
    """Calls ``fire`` for each call that is due."""

    def __init__(self, store: Store, clock: Clock, fire: Callable[[Call], Awaitable[None]]) -> None:
        self._store = store
        self._clock = clock
        self._fire = fire
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._firing: dict[str, asyncio.Task[None]] = {}

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
        firing = list(self._firing.values())
        for task in firing:
            task.cancel()
        await asyncio.gather(*firing, return_exceptions=True)

    def look(self) -> None:
        """A time may have become earlier than the one that is waited for."""
        self._changed.set()

    async def _watch(self) -> None:
        while True:
            self._changed.clear()
            await self._until(await self._look())

    async def _look(self) -> int | None:
        """Fire what is due; returns when to look again. What failed, or is still due, is looked at again soon."""
        soon = self._clock.now() + _AGAIN_MS
        try:
            due = sorted(await self._store.due(self._clock.now()), key=lambda call: call.thread_id)
            for thread_id, calls in groupby(due, key=lambda call: call.thread_id):
                if thread_id not in self._firing:  # no thread waits for another one
                    self._firing[thread_id] = asyncio.create_task(self._fire_all(thread_id, list(calls)))
            when = await self._store.next_due()
        except Exception:
            logger.exception("the store could not tell what is due")
            return soon
        return max(when, soon) if when is not None and when <= self._clock.now() else when

    async def _fire_all(self, thread_id: str, calls: Sequence[Call]) -> None:
        try:
            for call in calls:
                await self._fire(call)
            self.look()
        except FarsideError as error:
            logger.debug("thread %s has calls that are due: %s", thread_id, error)
        except Exception:
            logger.exception("thread %s has calls that are due, which could not be stored", thread_id)
        finally:
            del self._firing[thread_id]

    async def _until(self, when: int | None) -> None:
        waits: set[asyncio.Task[Any]] = {asyncio.create_task(self._changed.wait())}
        if when is not None:
            waits.add(asyncio.create_task(self._clock.sleep_until(when)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
