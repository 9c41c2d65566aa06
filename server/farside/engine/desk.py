"""What the engine lends a runtime for one leg of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from farside.core.model import Call, JournalEntry, ToolResult
from farside.core.ports import Bus, Clock
from farside.engine.insist import insist
from farside.engine.thread import LiveRun, LiveThread


class RunDesk:
    """Implements :class:`farside.core.ports.Desk`.

    Args:
        needed: the fingerprint without which a page is not offered the tool's calls, None where any will do.
    """

    def __init__(
        self,
        thread: LiveThread,
        run: LiveRun,
        bus: Bus,
        clock: Clock,
        journal: Mapping[str, JournalEntry],
        calls: Mapping[str, Call],
        needed: Callable[[str], str | None] = lambda tool: None,
    ) -> None:
        self.journal = journal
        self.calls = calls
        self._thread = thread
        self._run = run
        self._bus = bus
        self._clock = clock
        self._needed = needed

    async def record(self, entry: JournalEntry) -> None:
        # The run must not fail because the store does: what it has done so far would be done again.
        await insist(self._clock, f"run {self._run.run.id}", lambda: self._thread.log.commit([entry]))

    def record_soon(self, entry: JournalEntry) -> None:
        self._thread.log.write_soon(entry)

    async def history(self) -> Sequence[JournalEntry]:
        return await self._thread.log.history()

    async def settled(self, run_id: str) -> Mapping[str, Call]:
        return await self._thread.log.settled(run_id)

    async def answer(self, interrupt_id: str) -> ToolResult:
        # Shielded: a leg that is cancelled must not take the answer from the one after it.
        return await asyncio.shield(self._run.answer(interrupt_id))

    def wanted(self, method: str) -> bool:
        return self._bus.wanted(self._thread.id, method)

    def implements(self, tool: str) -> bool:
        there = (listener.presence for listener in self._bus.listeners(self._thread.id))
        needed = self._needed(tool)
        return any(presence.implements(tool, needed) for presence in there if presence is not None)
