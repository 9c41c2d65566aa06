"""The threads in use: each is loaded once, and let go when nothing happens on it and nobody listens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from farside.core.calls import Restart, transition
from farside.core.model import Call, Thread
from farside.core.ports import Bus, Clock, Lease, LeaseLost, StaleWrite, Store
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
            FarsideError: ``unavailable`` when the engine has stopped, another process drives the thread, or the thread
                has to be loaded anew.
        """
        entry = await self._entry(thread_id, agent)
        entry.users += 1
        try:
            yield await asyncio.shield(entry.loading)
        except LeaseLost as error:
            raise FarsideError("unavailable", f"{error}; connect again") from None
        except StaleWrite as error:
            self.reload(entry.loading.result())
            raise FarsideError("unavailable", f"{error}; try again") from None
        finally:
            entry.users -= 1
            await self.let_go(thread_id)

    @asynccontextmanager
    async def locked(self, thread_id: str, agent: str = "") -> AsyncGenerator[LiveThread]:
        """The thread, for changing it. Raises as :meth:`using`."""
        async with self.using(thread_id, agent) as live, live.lock:
            if live.is_lost:
                raise FarsideError("unavailable", f"thread {thread_id} is being loaded anew; try again")
            yield live

    def is_loaded(self, thread_id: str) -> bool:
        """Whether this process has the thread, or is about to."""
        return thread_id in self._entries

    async def let_go(self, thread_id: str) -> None:
        """Forget the thread if it is idle; what its log has not stored yet is stored first."""
        entry = self._entries.get(thread_id)
        if entry is not None and entry.leaving is None and self._is_idle(thread_id, entry):
            entry.leaving = asyncio.create_task(self._leave(thread_id, entry))
            await asyncio.shield(entry.leaving)

    def reload(self, live: LiveThread) -> None:
        """What this process remembers of the thread is not what is stored: it is loaded anew when it is next used."""
        self._forget(live)
        if not self._closed:
            loading = self._entries[live.id] = _Entry(asyncio.create_task(self._load(live.id, "")))
            loading.loading.add_done_callback(lambda done: done.cancelled() or done.exception())

    def discard(self, live: LiveThread) -> None:
        """Under the lock: the thread was deleted. Who waits for it hears that it is loaded anew, and finds it new."""
        self._forget(live)

    def held(self, leases: Collection[Lease]) -> None:
        """These leases are held: threads whose lease is not among them are driven by others now."""
        for entry in list(self._entries.values()):
            live = _loaded(entry)
            if live is not None and entry.leaving is None and live.lease not in leases:
                self._lost(live)

    async def close(self) -> list[LiveThread]:
        """Take no more commands; returns the threads that are loaded."""
        self._closed = True
        entries = list(self._entries.values())
        await asyncio.gather(*(entry.leaving for entry in entries if entry.leaving is not None))
        await asyncio.gather(*(entry.loading for entry in entries), return_exceptions=True)
        return [live for entry in entries if entry.leaving is None and (live := _loaded(entry)) is not None]

    async def _entry(self, thread_id: str, agent: str) -> _Entry:
        while True:
            if self._closed:
                raise FarsideError("unavailable", "the server is stopping; connect again")
            entry = self._entries.get(thread_id)
            if entry is None or (entry.loading.done() and _loaded(entry) is None):
                entry = self._entries[thread_id] = _Entry(asyncio.create_task(self._load(thread_id, agent)))
            if entry.leaving is None:
                return entry
            await asyncio.shield(entry.leaving)

    async def _leave(self, thread_id: str, entry: _Entry) -> None:
        live = _loaded(entry)
        try:
            if live is not None:
                try:
                    await live.log.rest()
                finally:
                    await self._leases.give_back(live.lease)
        except Exception:
            logger.exception("thread %s: its last events could not be stored", thread_id)
        if self._entries.get(thread_id) is entry:
            del self._entries[thread_id]

    def _forget(self, live: LiveThread) -> None:
        live.is_lost = True
        entry = self._entries.get(live.id)
        if entry is not None and _loaded(entry) is live:
            del self._entries[live.id]
        if live.active is not None and live.active.leg is not None:
            live.active.leg.cancel()

    def _lost(self, live: LiveThread) -> None:
        """Another process has taken the thread over: whoever is here connects again."""
        if live.is_lost:
            return
        logger.warning("thread %s is driven by another process now", live.id)
        self._forget(live)
        for listener in self._bus.listeners(live.id):
            listener.hang_up(1012, "another process serves the thread; connect again")

    def _is_idle(self, thread_id: str, entry: _Entry) -> bool:
        if entry.users or not entry.loading.done():
            return False
        live = _loaded(entry)
        return live is None or (live.active is None and not self._bus.listeners(thread_id))

    async def _load(self, thread_id: str, agent: str) -> LiveThread:
        lease = await self._leases.take(thread_id)
        live: LiveThread | None = None
        try:
            live = await self._read(lease, agent)
            async with live.lock:
                await self._take_up(live)
        except BaseException:
            if live is not None and live.active is not None and live.active.leg is not None:
                live.active.leg.cancel()
            await self._leases.give_back(lease)
            raise
        return live

    async def _read(self, lease: Lease, agent: str) -> LiveThread:
        thread_id = lease.thread_id
        stored = await self._store.thread(thread_id)
        thread = stored or Thread(id=thread_id, agent=agent, created_at=self._clock.now())
        unsettled = {call.interrupt_id: call for call in await self._store.calls(thread_id, unsettled=True)}
        changed = [after for call in unsettled.values() if (after := self._after_restart(call)) != call]
        if changed:
            changed = [replace(call, version=call.version + 1) for call in changed]
            await self._store.commit(changed, lease=lease)
            unsettled.update((call.interrupt_id, call) for call in changed)
        log = ThreadLog(thread, self._store, self._bus, self._clock, lease, stored=stored is not None)
        live = LiveThread(thread, log, lease, unsettled.values(), await self._store.queued(thread_id))
        log.on_lost = lambda: self._lost(live)
        run = await self._store.latest_run(thread_id)
        if run is not None and run.status == "running":
            live.active = LiveRun(run, fresh=False, meter=self._settings.meter())
        live.newest = run
        return live

    def _after_restart(self, call: Call) -> Call:
        return transition(call, Restart(self._settings.lease_ms), self._clock.now()).call


def _loaded(entry: _Entry) -> LiveThread | None:
    """The thread, None while it is being loaded or when that has failed."""
    done = entry.loading.done() and not entry.loading.cancelled() and entry.loading.exception() is None
    return entry.loading.result() if done else None
