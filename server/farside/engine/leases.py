"""Which threads this process may drive: it gives signs of life, and takes over what processes that are gone left."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from farside.core.model import Run
from farside.core.ports import Clock, Lease, Store
from farside.errors import FarsideError

logger = logging.getLogger("farside.engine")


class Leases:
    """The leases of one process. A thread is driven by the one process that holds its lease.

    Args:
        process_id: names this process; ``is_gone`` says of a name that its process is gone for certain.
        process_ms: how long a sign of life is good.
        recover: goes on with a run that no living process drives.
        held: is told now and then which leases are held: those that are missing have been taken by others.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        process_id: str,
        is_gone: Callable[[str], bool],
        process_ms: int,
        recover: Callable[[Run], Awaitable[None]],
        held: Callable[[Collection[Lease]], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._process_id = process_id
        self._is_gone = is_gone
        self._process_ms = process_ms
        self._recover = recover
        self._held = held
        self._loads = itertools.count(1)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Give the first sign of life, take over what is stranded, and go on doing so."""
        await self._beat()
        self._tasks = [asyncio.create_task(self._repeat(self._beat))]
        await self._sweep()
        self._tasks.append(asyncio.create_task(self._repeat(self._sweep)))

    async def stop(self) -> None:
        """Give all leases back."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._tasks = []
        try:
            await self._store.bury(self._process_id)
        except Exception:
            logger.exception("the leases of this process could not be given back; they end by themselves")

    async def take(self, thread_id: str) -> Lease:
        """Take a thread's lease, for one load of the thread.

        Raises:
            FarsideError: ``unavailable`` while another process drives the thread.
        """
        lease = Lease(thread_id, self._process_id, str(next(self._loads)))
        taken = await self._store.acquire(lease, self._clock.now())
        if not taken and await self._bury_gone():
            taken = await self._store.acquire(lease, self._clock.now())
        if not taken:
            message = f"thread {thread_id} is served by another process of this server; try again, or connect to that"
            raise FarsideError("unavailable", message)
        return lease

    async def give_back(self, lease: Lease) -> None:
        """Give a thread's lease back."""
        await self._store.release(lease)

    async def _repeat(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._clock.sleep_until(self._clock.now() + self._process_ms // 3)
            try:
                await work()
            except Exception:
                logger.exception("the store could not be told that this process lives, or of others; trying again")

    async def _beat(self) -> None:
        await self._store.beat(self._process_id, self._clock.now() + self._process_ms)
        self._held(await self._store.held(self._process_id))

    async def _bury_gone(self) -> bool:
        """Whether there were processes that are gone for certain."""
        gone = [process_id for process_id in await self._store.processes() if self._is_gone(process_id)]
        for process_id in gone:
            await self._store.bury(process_id)
        return bool(gone)

    async def _sweep(self) -> None:
        await self._bury_gone()
        for run in await self._store.stranded(self._clock.now()):
            try:
                await self._recover(run)
            except FarsideError as error:
                logger.info("run %s is left to others: %s", run.id, error)
            except Exception:
                logger.exception("run %s could not be taken up", run.id)
