"""The live end of one thread's log: gives each event its seq, shows it, and stores it.

Two ways in. :meth:`ThreadLog.emit` shows an event at once and stores it soon, together with whatever else is waiting.
:meth:`ThreadLog.commit` stores first and shows after: for what must not be heard before it is durable (L1, L4).
Events leave in the order of their seq: while a commit is under way, later ones wait behind it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from farside.core.model import Call, Event, JournalEntry, Thread
from farside.core.ports import Bus, Clock, Emit, Lease, LeaseLost, Store, Write
from farside.wire.values import check

logger = logging.getLogger("farside.engine")

_RESERVE = 1000
"""How many seqs are reserved at once. After a crash a thread goes on behind its reservation, so that no seq is ever
given twice, although events are shown before they are stored."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that waits for its commit."""

    run_id: str
    method: str
    data: dict[str, Any]
    namespace: tuple[str, ...] = ()
    durable: bool = True
    for_plain: bool = False


class ThreadLog:
    """One thread's log, in the process that drives the thread.

    Args:
        lease: the thread's, without which nothing is stored.
        stored: the store knows the thread.
    """

    def __init__(
        self,
        thread: Thread,
        store: Store,
        bus: Bus,
        clock: Clock,
        lease: Lease,
        *,
        stored: bool,
    ) -> None:
        self.thread = thread
        self._lease = lease
        self.on_lost: Callable[[], None] = lambda: None
        """Called when another process has taken the lease."""
        self._stored_thread: Thread | None = thread if stored else None
        self._seq = thread.reserved_seq
        self.shown = thread.reserved_seq
        """The newest seq that listeners have heard: what a snapshot of the thread is as of."""
        self._store = store
        self._bus = bus
        self._clock = clock
        self._committing = asyncio.Lock()
        self._waiting: list[Write] = []
        self._held: deque[Event] = deque()
        self._gates = 0  # commits under way whose events must be shown before later ones
        self._unfinished: dict[str, list[Event]] = {}
        self._flushing: asyncio.Task[None] | None = None

    def emit(self, run_id: str, item: Emit) -> None:
        """Show an event now, store it soon.

        Raises FarsideError ``invalid_value`` when its data lies outside the data model.
        """
        event = self._number(Draft(run_id, item.method, item.data, item.namespace, item.durable, item.for_plain))
        self._remember(event)
        if event.durable:
            self._waiting.append(event.without_result())
        self._show(event)
        self._flush_soon()

    def write_soon(self, row: Write) -> None:
        """Store a row with the next transaction."""
        self._waiting.append(row)
        self._flush_soon()

    async def commit(self, writes: Iterable[Write], drafts: Iterable[Draft] = ()) -> None:
        """Store the writes, the drafts' events and all that waits, in one transaction; then show the events.

        Raises what the store raises; then nothing was shown, and nothing was stored unless the caller was cancelled
        while the store was at work.
        """
        async with self._committing:
            events = [self._number(draft) for draft in drafts]
            self._gates += 1
            try:
                await self._store_with(writes, [event.without_result() for event in events if event.durable])
                for event in events:
                    self._remember(event)
                self._held = deque(sorted([*self._held, *events], key=lambda event: event.seq))
            finally:
                self._gates -= 1
                self._release()

    async def replay(self, after: int) -> Sequence[Event]:
        """Stored events with a larger seq, and from their beginning the messages that are still being written."""
        seq = self.shown
        await self.flush()
        stored = await self._with_results(await self._store.events(self.thread.id, after=after))
        unfinished = [event for events in self._unfinished.values() for event in events]
        merged = {event.seq: event for event in (*stored, *unfinished) if event.seq <= seq}
        return sorted(merged.values(), key=lambda event: event.seq)

    async def history(self) -> Sequence[JournalEntry]:
        """The messages that the thread's runs have recorded, those that are about to be stored included."""
        await self.flush()
        return await self._store.history(self.thread.id)

    async def settled(self, run_id: str) -> dict[str, Call]:
        """The calls of a run that have ended, by interrupt id."""
        calls = await self._store.calls(self.thread.id, run_id=run_id)
        return {call.interrupt_id: call for call in calls if call.ended}

    async def _with_results(self, events: Sequence[Event]) -> list[Event]:
        whole: list[Event] = []
        for event in events:
            call = event.result_of and await self._store.call(self.thread.id, event.result_of)
            whole.append(event.with_result(call.result) if call and call.result else event)
        return whole

    def serve(self, agent: str) -> None:
        """The thread now belongs to this agent; stored with the next transaction."""
        self.thread = replace(self.thread, agent=agent)

    async def rest(self) -> None:
        """Store what waits, and give back the seqs that were reserved but not used: nobody is here."""
        async with self._committing:
            if self._stored_thread is not None:
                await self._store_with((), (), rest=True)

    async def flush(self) -> None:
        """Store what waits."""
        async with self._committing:
            if self._waiting:
                await self._store_with((), ())
                self._release()

    def _number(self, draft: Draft) -> Event:
        check(draft.data)
        self._seq += 1
        return Event(
            thread_id=self.thread.id,
            run_id=draft.run_id,
            seq=self._seq,
            method=draft.method,
            namespace=draft.namespace,
            timestamp=self._clock.now(),
            data=draft.data,
            durable=draft.durable,
            for_plain=draft.for_plain,
        )

    def _remember(self, event: Event) -> None:
        """Keep messages that are still being written, for those who come in the middle. The end of a block has all of
        it, so its deltas are dropped then."""
        message_id, kind = str(event.data.get("message_id", "")), event.data.get("event")
        if event.method != "messages" or not message_id:
            return
        if kind in ("message-finish", "error", "message-removed"):
            self._unfinished.pop(message_id, None)
            return
        kept = self._unfinished.setdefault(message_id, [])
        if kind == "content-block-finish":
            index = event.data["index"]
            kept[:] = [e for e in kept if e.data["event"] != "content-block-delta" or e.data["index"] != index]
        kept.append(event)

    @property
    def unfinished(self) -> Sequence[Sequence[Event]]:
        """The events of each message that is still being written."""
        return list(self._unfinished.values())

    def forget_unfinished(self) -> None:
        """The run is over: blocks that never ended will not."""
        self._unfinished.clear()

    def _show(self, event: Event) -> None:
        if self._gates or self._held or event.seq > self.thread.reserved_seq:
            self._held.append(event)
        else:
            self._publish(event)

    def _release(self) -> None:
        """Show what waited, in order, as far as its seq is reserved."""
        while self._held and not self._gates and self._held[0].seq <= self.thread.reserved_seq:
            self._publish(self._held.popleft())

    def _publish(self, event: Event) -> None:
        self.shown = event.seq
        self._bus.publish(event)

    async def _store_with(self, writes: Iterable[Write], events: Iterable[Event], *, rest: bool = False) -> None:
        """Under the lock: one transaction with everything that waits, and a reservation of seqs when it runs low."""
        batch, self._waiting = self._waiting, []
        rows: list[Write] = [*batch, *writes, *events]
        thread = self.thread
        if rest:
            thread = replace(thread, reserved_seq=self._seq)
        elif self._seq + _RESERVE // 2 > thread.reserved_seq:
            thread = replace(thread, reserved_seq=self._seq + _RESERVE)
        if thread != self._stored_thread:
            rows.append(thread)
        if not rows:
            return
        try:
            await self._store.commit(rows, lease=self._lease)
        except LeaseLost:
            self.on_lost()
            raise
        except BaseException:
            self._waiting = [*batch, *self._waiting]
            raise
        self._stored_thread = self.thread = thread

    def _flush_soon(self) -> None:
        if (self._waiting or self._held) and self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        try:
            while self._waiting or self._held:
                async with self._committing:
                    await self._store_with((), ())
                    self._release()
        except LeaseLost:
            logger.debug("thread %s: its last events are left out, another process goes on", self.thread.id)
        except Exception:
            logger.exception("thread %s: events could not be stored; they stay in memory", self.thread.id)
        finally:
            self._flushing = None
