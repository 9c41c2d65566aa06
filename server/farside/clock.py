"""The real clock."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Implements :class:`farside.core.ports.Clock`."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    async def sleep_until(self, when: int) -> None:
        """Return when the clock shows ``when``."""
        await asyncio.sleep(max(0, when - self.now()) / 1000)
