"""What is due on a thread after something happened to it; done until it is done."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from farside.core.ports import LeaseLost, StaleWrite
from farside.engine.insist import insist
from farside.engine.thread import LiveThread
from farside.errors import FarsideError

if TYPE_CHECKING:
    from farside.engine.engine import Engine

logger = logging.getLogger("farside.engine")


class Chores:
    """Takes calls from clients that are gone, offers what nobody has, and starts the next run.

    None of it is what a command asked for, so a store that fails for it does not fail the command: it is tried again.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def do(self, live: LiveThread) -> None:
        """Under the lock: do what is due, or see to it that it is done later."""
        try:
            await self._do(live)
        except (LeaseLost, StaleWrite):
            raise
        except Exception:
            logger.exception("thread %s: what was due could not be stored; trying again", live.id)
            self.owe(live.id)

    def owe(self, thread_id: str) -> None:
        """Something is due that could not be done."""
        if thread_id not in self._tasks:
            task = self._tasks[thread_id] = asyncio.create_task(self._make_good(thread_id))
            task.add_done_callback(lambda _: self._tasks.pop(thread_id, None))

    async def stop(self) -> None:
        """Leave the rest to the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, live: LiveThread) -> None:
        await self._engine.attendance.take_back(live)
        await self._engine.ledger.offer_open(live)
        await self._engine.runs.next(live)

    async def _make_good(self, thread_id: str) -> None:
        clock = self._engine.clock

        async def work() -> None:
            async with self._engine.threads.locked(thread_id) as live:
                await self._do(live)

        await clock.sleep_until(clock.now() + 500)
        try:
            await insist(clock, f"thread {thread_id}", work)
        except (FarsideError, StaleWrite) as error:
            logger.info("thread %s is left to others, or to its next load: %s", thread_id, error)
