"""The threads in use: each is loaded once, and let go when nothing happens on it and nobody listens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from farside.core.model import Thread
from farside.core.ports import Bus, Clock, Store
from farside.engine import offers
from farside.engine.log import ThreadLog
from farside.engine.thread import LiveRun, LiveThread
from farside.errors import FarsideError

logger = logging.getLogger("farside.engine")


@dataclass
class _Entry:
    """A thread, loaded or being loaded, and how many are in the middle of something with it."""

    loading: asyncio.Task[LiveThread]
    users: int = 0


class Threads:
    """Loads threads, and keeps the only :class:`LiveThread` of each."""

    def __init__(self, store: Store, bus: Bus, clock: Clock, lease_ms: int) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._lease_ms = lease_ms
        self._entries: dict[str, _Entry] = {}
        self._closed = False

    @asynccontextmanager
    async def using(self, thread_id: str, agent: str = "") -> AsyncGenerator[LiveThread]:
        """The thread; a new one is for this agent.

        Raises:
            FarsideError: ``unavailable`` when the engine has stopped.
        """
        if self._closed:
            raise FarsideError("unavailable", "the server is stopping; connect again")
        entry = self._entries.get(thread_id)
        if entry is None:
            entry = self._entries[thread_id] = _Entry(asyncio.create_task(self._load(thread_id, agent)))
        entry.users += 1
        try:
            yield await asyncio.shield(entry.loading)
        finally:
            entry.users -= 1
            await self.let_go(thread_id)

    @asynccontextmanager
    async def locked(self, thread_id: str, agent: str = "") -> AsyncGenerator[LiveThread]:
        """The thread, for changing it. Raises as :meth:`using`."""
        async with self.using(thread_id, agent) as live, live.lock:
            yield live

    async def let_go(self, thread_id: str) -> None:
        """Forget the thread if it is idle; what its log has not stored yet is stored first."""
        entry = self._entries.get(thread_id)
        if entry is None or not self._is_idle(thread_id, entry):
            return
        if not entry.loading.cancelled() and entry.loading.exception() is None:
            await self._rest(entry.loading.result())
        if self._is_idle(thread_id, entry) and self._entries.get(thread_id) is entry:
            del self._entries[thread_id]

    async def close(self) -> list[LiveThread]:
        """Take no more commands; returns the threads that are loaded."""
        self._closed = True
        loads = [entry.loading for entry in self._entries.values()]
        await asyncio.gather(*loads, return_exceptions=True)
        return [load.result() for load in loads if not load.cancelled() and load.exception() is None]

    async def _rest(self, live: LiveThread) -> None:
        try:
            await live.log.rest()
        except Exception:
            logger.exception("thread %s: its last events could not be stored", live.id)

    def _is_idle(self, thread_id: str, entry: _Entry) -> bool:
        if entry.users or not entry.loading.done() or self._bus.listeners(thread_id):
            return False
        failed = entry.loading.cancelled() or entry.loading.exception() is not None
        return failed or entry.loading.result().active is None

    async def _load(self, thread_id: str, agent: str) -> LiveThread:
        stored = await self._store.thread(thread_id)
        thread = stored or Thread(id=thread_id, agent=agent, created_at=self._clock.now())
        unsettled = {call.interrupt_id: call for call in await self._store.calls(thread_id, unsettled=True)}
        until = self._clock.now() + self._lease_ms
        orphans = [orphan for call in unsettled.values() if (orphan := offers.orphaned(call, until)) is not None]
        if orphans:
            await self._store.commit(orphans)
            unsettled.update((call.interrupt_id, call) for call in orphans)
        log = ThreadLog(thread, self._store, self._bus, self._clock, stored=stored is not None)
        live = LiveThread(thread, log, unsettled.values())
        run = await self._store.latest_run(thread_id)
        if run is not None and run.status == "running":
            live.active = LiveRun(run, fresh=False)
        return live
