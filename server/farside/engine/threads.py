"""The threads in use: each is loaded once, and let go when nothing happens on it and nobody listens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from farside.core.calls import Restart, transition
from farside.core.model import Call, Thread
from farside.core.ports import Bus, Clock, LeaseLost, Store
from farside.engine.leases import Leases
from farside.engine.log import ThreadLog
from farside.engine.settings import Settings
from farside.engine.thread import LiveRun, LiveThread
from farside.errors import FarsideError

logger = logging.getLogger("farside.engine")


@dataclass
class _Entry:
    """A thread, loaded or being loaded, and how many are in the middle of something with it. ``leaving``: it is being
    let go; who wants it waits for that and loads it anew."""

    loading: asyncio.Task[LiveThread]
    users: int = 0
    leaving: asyncio.Task[None] | None = None


class Threads:
    """Loads threads, and keeps the only :class:`LiveThread` of each.

    Args:
        take_up: called under the lock with a thread that was just loaded: goes on where another process has stopped.
    """

    def __init__(
        self,
        store: Store,
        bus: Bus,
        clock: Clock,
        leases: Leases,
        settings: Settings,
        take_up: Callable[[LiveThread], Awaitable[None]],
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._leases = leases
        self._settings = settings
        self._take_up = take_up
        self._entries: dict[str, _Entry] = {}
        self._closed = False

    @asynccontextmanager
    async def using(self, thread_id: str, agent: str = "") -> AsyncGenerator[LiveThread]:
        """The thread; a new one is for this agent.

        Raises:
            FarsideError: ``unavailable`` when the engine has stopped, or another process drives the thread.
        """
        entry = await self._entry(thread_id, agent)
        entry.users += 1
        try:
            yield await asyncio.shield(entry.loading)
        except LeaseLost as error:
            raise FarsideError("unavailable", f"{error}; connect again") from None
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
        if entry is not None and entry.leaving is None and self._is_idle(thread_id, entry):
            entry.leaving = asyncio.create_task(self._leave(thread_id, entry))
            await asyncio.shield(entry.leaving)

    async def close(self) -> list[LiveThread]:
        """Take no more commands; returns the threads that are loaded."""
        self._closed = True
        entries = list(self._entries.values())
        await asyncio.gather(*(entry.leaving for entry in entries if entry.leaving is not None))
        loads = [entry.loading for entry in entries if entry.leaving is None]
        await asyncio.gather(*loads, return_exceptions=True)
        return [load.result() for load in loads if not load.cancelled() and load.exception() is None]

    async def _entry(self, thread_id: str, agent: str) -> _Entry:
        while True:
            if self._closed:
                raise FarsideError("unavailable", "the server is stopping; connect again")
            entry = self._entries.get(thread_id)
            if entry is None:
                entry = self._entries[thread_id] = _Entry(asyncio.create_task(self._load(thread_id, agent)))
            if entry.leaving is None:
                return entry
            await asyncio.shield(entry.leaving)

    async def _leave(self, thread_id: str, entry: _Entry) -> None:
        try:
            if not entry.loading.cancelled() and entry.loading.exception() is None:
                await entry.loading.result().log.rest()
                await self._leases.give_back(thread_id)
        except Exception:
            logger.exception("thread %s: its last events could not be stored", thread_id)
        if self._entries.get(thread_id) is entry:
            del self._entries[thread_id]

    def _lost(self, thread_id: str) -> None:
        """Another process has taken the thread over: whoever is here connects again."""
        logger.warning("thread %s is driven by another process now", thread_id)
        entry = self._entries.pop(thread_id, None)
        if entry is not None and entry.loading.done() and not entry.loading.cancelled():
            active = entry.loading.result().active
            if active is not None and active.leg is not None:
                active.leg.cancel()
        for listener in self._bus.listeners(thread_id):
            listener.hang_up(1012, "another process serves the thread; connect again")

    def _is_idle(self, thread_id: str, entry: _Entry) -> bool:
        if entry.users or not entry.loading.done() or self._bus.listeners(thread_id):
            return False
        failed = entry.loading.cancelled() or entry.loading.exception() is not None
        return failed or entry.loading.result().active is None

    async def _load(self, thread_id: str, agent: str) -> LiveThread:
        await self._leases.take(thread_id)
        lease = self._leases.of(thread_id)
        stored = await self._store.thread(thread_id)
        thread = stored or Thread(id=thread_id, agent=agent, created_at=self._clock.now())
        unsettled = {call.interrupt_id: call for call in await self._store.calls(thread_id, unsettled=True)}
        changed = [after for call in unsettled.values() if (after := self._after_restart(call)) != call]
        if changed:
            changed = [replace(call, version=call.version + 1) for call in changed]
            await self._store.commit(changed, lease=lease)
            unsettled.update((call.interrupt_id, call) for call in changed)
        log = ThreadLog(
            thread,
            self._store,
            self._bus,
            self._clock,
            lease,
            lambda: self._lost(thread_id),
            stored=stored is not None,
        )
        live = LiveThread(thread, log, unsettled.values(), await self._store.queued(thread_id))
        run = await self._store.latest_run(thread_id)
        if run is not None and run.status == "running":
            live.active = LiveRun(run, fresh=False, meter=self._settings.meter())
        async with live.lock:
            await self._take_up(live)
        return live

    def _after_restart(self, call: Call) -> Call:
        return transition(call, Restart(self._settings.lease_ms), self._clock.now()).call
