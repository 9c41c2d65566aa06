"""A store that fails or waits on demand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from farside.core.ports import Write
from farside.stores.memory import MemoryStore

Hook = Callable[[Sequence[Write]], Awaitable[None]]


class TroubledStore(MemoryStore):
    """``before_commit`` is awaited with the writes of each commit, and may raise or wait; ``fail_reads`` lets
    reads of calls fail so many times."""

    def __init__(self) -> None:
        super().__init__()
        self.before_commit: Hook | None = None
        self.fail_reads = 0

    async def commit(self, writes: Sequence[Write], *, lease: Any = None) -> None:
        if self.before_commit is not None:
            await self.before_commit(writes)
        await super().commit(writes, lease=lease)

    async def calls(self, thread_id: str, **which: Any) -> Any:
        if self.fail_reads:
            self.fail_reads -= 1
            raise OSError("the disk is busy")
        return await super().calls(thread_id, **which)

    def fail_commits(self, fits: Callable[[Write], bool], times: int = 1) -> None:
        """The next commits that hold such a write fail."""
        left = [times]

        async def hook(writes: Sequence[Write]) -> None:
            if left[0] and any(fits(write) for write in writes):
                left[0] -= 1
                raise OSError("the disk is full")

        self.before_commit = hook
