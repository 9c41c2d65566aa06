"""What a running agent shows, asks and writes, on its way to the engine, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from farside.core.model import JournalEntry
from farside.core.ports import Desk, Emit, Opened


@dataclass(frozen=True)
class _Writing:
    entries: Sequence[JournalEntry]
    written: asyncio.Future[None]


@dataclass(frozen=True)
class _End:
    error: Exception | None


class Outbox:
    """Between the agent, which puts, and the leg, which drains.

    What is written comes behind the events that were put before it, into the same transaction as they or a later one.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._items: asyncio.Queue[Emit | Opened | _Writing | _End] = asyncio.Queue()

    def put(self, item: Emit | Opened) -> None:
        """Show an event, or open calls."""
        self._items.put_nowait(item)

    async def write(self, entries: Sequence[JournalEntry]) -> None:
        """Write entries; on return they survive a crash."""
        if entries:
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._items.put_nowait(_Writing(entries, written))
            await written

    def end(self, error: Exception | None) -> None:
        """The agent has ended, with an error or without."""
        self._items.put_nowait(_End(error))

    async def drain(self) -> AsyncGenerator[Emit | Opened, None]:
        """What is for the engine, as it comes. Ends, or raises, as the agent did."""
        while True:
            item = await self._items.get()
            if isinstance(item, (Emit, Opened)):
                yield item
            elif isinstance(item, _Writing):
                # Also when the run is stopped meanwhile: what a page has seen is what is written.
                await asyncio.shield(asyncio.ensure_future(self._write(item.entries)))
                if not item.written.done():
                    item.written.set_result(None)
            elif item.error is not None:
                raise item.error
            else:
                return

    async def _write(self, entries: Sequence[JournalEntry]) -> None:
        *others, last = entries
        for entry in others:
            self._desk.record_soon(entry)
        await self._desk.record(last)
