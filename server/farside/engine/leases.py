"""Which threads this process may drive: it gives signs of life, and takes over what processes that are gone left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
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
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        process_id: str,
        is_gone: Callable[[str], bool],
        process_ms: int,
        recover: Callable[[Run], Awaitable[None]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._process_id = process_id
        self._is_gone = is_gone
        self._process_ms = process_ms
        self._recover = recover
        self._task: asyncio.Task[None] | None = None

    def of(self, thread_id: str) -> Lease:
        """This process's lease of a thread."""
        return Lease(thread_id, self._process_id)

    async def start(self) -> None:
        """Give the first sign of life, take over what is stranded, and go on doing so."""
        await self._beat()
        await self._sweep()
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Give all leases back."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        try:
            await self._store.bury(self._process_id)
        except Exception:
            logger.exception("the leases of this process could not be given back; they end by themselves")

    async def take(self, thread_id: str) -> None:
        """Take a thread's lease.

        Raises:
            FarsideError: ``unavailable`` while another process drives the thread.
        """
        if not await self._store.acquire(self.of(thread_id), self._clock.now()):
            message = f"thread {thread_id} is served by another process of this server; try again, or connect to that"
            raise FarsideError("unavailable", message)

    async def give_back(self, thread_id: str) -> None:
        """Give a thread's lease back."""
        await self._store.release(self.of(thread_id))

    async def _keep(self) -> None:
        while True:
            await self._clock.sleep_until(self._clock.now() + self._process_ms // 3)
            try:
                await self._beat()
                await self._sweep()
            except Exception:
                logger.exception("the store could not be told that this process lives; trying again")

    async def _beat(self) -> None:
        await self._store.beat(self._process_id, self._clock.now() + self._process_ms)

    async def _sweep(self) -> None:
        for process_id in await self._store.processes():
            if self._is_gone(process_id):
                await self._store.bury(process_id)
        for run in await self._store.stranded(self._clock.now()):
            try:
                await self._recover(run)
            except FarsideError as error:
                logger.info("run %s is left to others: %s", run.id, error)
            except Exception:
                logger.exception("run %s could not be taken up", run.id)
