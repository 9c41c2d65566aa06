"""A clock that a test moves."""

from __future__ import annotations

import asyncio


class ManualClock:
    """Implements :class:`farside.core.ports.Clock`: stands still until :meth:`advance`.

    Args:
        now: milliseconds since the epoch.
    """

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._asked = asyncio.Event()

    def now(self) -> int:
        return self._now

    async def sleep_until(self, when: int) -> None:
        if when <= self._now:
            return
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((when, reached))
        self._asked.set()
        await reached

    async def somebody_waits(self, milliseconds: int) -> None:
        """Return when somebody waits for the time that is so far away, or for an earlier one."""
        while not any(when <= self._now + milliseconds and not reached.done() for when, reached in self._waiting):
            self._asked.clear()
            await self._asked.wait()

    def advance(self, milliseconds: int) -> None:
        """Move time on, and wake who waited for it."""
        self._now += milliseconds
        due = [reached for when, reached in self._waiting if when <= self._now]
        self._waiting = [(when, reached) for when, reached in self._waiting if when > self._now]
        for reached in due:
            if not reached.done():
                reached.set_result(None)
