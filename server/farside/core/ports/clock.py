"""Time."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Time, so that tests can move it."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...

    async def sleep_until(self, when: int) -> None: ...
