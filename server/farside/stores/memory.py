"""A store in this process's memory: for tests, trials and agents whose threads may die with the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from farside.core.model import Call, Event, JournalEntry, Run, Thread, ThreadInfo, ThreadUpdate
from farside.core.ports import Lease, LeaseLost, StaleWrite, ThreadQuery, Write
from farside.wire.metadata import labels, merged
from farside.wire.threads import ThreadStatus


@dataclass(frozen=True, slots=True)
class _Listed:
    """What a list shows of a thread, beside what its :class:`Thread` says."""

    updated_at: int
    state_updated_at: int
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    labels: frozenset[bytes] = frozenset()

    def after(self, change: ThreadUpdate) -> _Listed:
        """What it shows when that has happened. Raises FarsideError ``too_large``."""
        listed = replace(self, updated_at=change.at)
        if change.has_run:
            listed = replace(listed, state_updated_at=change.at)
        if change.metadata:
            metadata = merged(self.metadata, change.metadata)
            listed = replace(listed, metadata=metadata, labels=labels(metadata))
        return listed


class MemoryStore:
    """Implements :class:`farside.core.ports.Store` with dicts."""

    def __init__(self) -> None:
        self._threads: dict[str, Thread] = {}
        self._listed: dict[str, _Listed] = {}
        self._runs: dict[tuple[str, str], Run] = {}
        self._calls: dict[tuple[str, str], Call] = {}
        self._events: dict[str, dict[int, Event]] = {}
        self._journal: dict[tuple[str, str], dict[str, JournalEntry]] = {}
        self._history: dict[str, dict[tuple[str, str], JournalEntry]] = {}
        self._processes: dict[str, int] = {}
        self._leases: dict[str, Lease] = {}

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close; what is stored stays until the object goes."""

    async def commit(self, writes: Sequence[Write], *, lease: Lease | None = None) -> None:
        if lease is not None:
            self._require(lease)
        versions: dict[tuple[str, str], int] = {}
        for write in writes:
            if isinstance(write, Call):
                key = (write.thread_id, write.interrupt_id)
                stored = self._calls.get(key)
                if versions.get(key, stored.version if stored else 0) != write.version - 1:
                    raise StaleWrite(f"call {write.interrupt_id} was changed meanwhile")
                versions[key] = write.version
        listed = self._after(writes)
        for write in writes:
            self._put(write)
        self._listed.update(listed)

    def _require(self, lease: Lease) -> None:
        if self._leases.get(lease.thread_id) != lease:
            raise LeaseLost(f"thread {lease.thread_id} is driven by another process")

    def _after(self, writes: Sequence[Write]) -> dict[str, _Listed]:
        """What lists show of the threads that the writes are about."""
        listed: dict[str, _Listed] = {}
        for write in writes:
            if isinstance(write, Thread) and write.id not in self._listed:
                listed.setdefault(write.id, _Listed(write.created_at, write.created_at))
        for write in writes:
            if isinstance(write, ThreadUpdate):
                before = listed.get(write.thread_id) or self._listed.get(write.thread_id)
                if before is not None:
                    listed[write.thread_id] = before.after(write)
        return listed

    async def delete(self, thread_id: str, *, lease: Lease) -> None:
        self._require(lease)
        for by_thread in (self._threads, self._listed, self._events, self._history, self._leases):
            by_thread.pop(thread_id, None)
        for by_key in (self._runs, self._calls, self._journal):
            for key in [key for key in by_key if key[0] == thread_id]:
                del by_key[key]

    def _put(self, write: Write) -> None:
        match write:
            case Thread():
                self._threads[write.id] = write
            case ThreadUpdate():
                pass
            case Run():
                self._runs[write.thread_id, write.id] = write
            case Call():
                self._calls[write.thread_id, write.interrupt_id] = write
            case Event():
                self._events.setdefault(write.thread_id, {})[write.seq] = replace(write, frames={})
            case JournalEntry():
                self._journal.setdefault((write.thread_id, write.run_id), {})[write.position] = write
                if write.kind == "message":
                    self._history.setdefault(write.thread_id, {})[write.run_id, write.position] = write

    async def beat(self, process_id: str, until: int) -> None:
        self._processes[process_id] = until

    async def processes(self) -> Sequence[str]:
        return list(self._processes)

    async def bury(self, process_id: str) -> None:
        self._processes.pop(process_id, None)
        self._leases = {thread_id: each for thread_id, each in self._leases.items() if each.process_id != process_id}

    async def acquire(self, lease: Lease, now: int) -> bool:
        holder = self._leases.get(lease.thread_id, lease).process_id
        if holder != lease.process_id and self._processes.get(holder, 0) > now:
            return False
        self._leases[lease.thread_id] = lease
        return True

    async def release(self, lease: Lease) -> None:
        if self._leases.get(lease.thread_id) == lease:
            del self._leases[lease.thread_id]

    async def held(self, process_id: str) -> Sequence[Lease]:
        return [lease for lease in self._leases.values() if lease.process_id == process_id]

    async def stranded(self, now: int) -> Sequence[Run]:
        driven = {
            thread_id for thread_id, each in self._leases.items() if self._processes.get(each.process_id, 0) > now
        }
        return [run for run in await self.unfinished() if run.thread_id not in driven]

    async def thread(self, thread_id: str) -> Thread | None:
        return self._threads.get(thread_id)

    async def search(self, query: ThreadQuery) -> Sequence[ThreadInfo]:
        def key(info: ThreadInfo) -> tuple[Any, str]:
            return info.id if query.sort_by == "thread_id" else getattr(info, query.sort_by), info.id

        found = sorted(self._fitting(query), key=key, reverse=query.descending)
        return found[query.offset : query.offset + query.limit]

    async def count(self, query: ThreadQuery) -> int:
        return len(self._fitting(query))

    def _fitting(self, query: ThreadQuery) -> list[ThreadInfo]:
        wanted, statuses = labels(query.metadata), self._statuses()
        infos = [
            ThreadInfo(
                thread.id,
                thread.agent,
                thread.created_at,
                listed.updated_at,
                listed.state_updated_at,
                listed.metadata,
                statuses.get(thread.id, "idle"),
            )
            for thread in self._threads.values()
            if wanted <= (listed := self._listed[thread.id]).labels and (query.ids is None or thread.id in query.ids)
        ]
        return [info for info in infos if query.status in (None, info.status)]

    def _statuses(self) -> dict[str, ThreadStatus]:
        """The status of each thread that has runs."""
        statuses: dict[str, ThreadStatus] = {}
        for run in self._runs.values():
            if run.started:
                statuses[run.thread_id] = "error" if run.status == "failed" else "idle"
        for run in self._runs.values():
            if run.status in ("running", "queued"):
                statuses[run.thread_id] = "busy"
        for call in self._calls.values():
            if not call.ended:
                statuses[call.thread_id] = "interrupted"
        return statuses

    async def run(self, thread_id: str, run_id: str) -> Run | None:
        return self._runs.get((thread_id, run_id))

    async def latest_run(self, thread_id: str) -> Run | None:
        started = (run for run in reversed(self._runs.values()) if run.started)
        return next((run for run in started if run.thread_id == thread_id), None)

    async def queued(self, thread_id: str) -> Sequence[Run]:
        return [run for run in self._runs.values() if run.thread_id == thread_id and run.status == "queued"]

    async def unfinished(self) -> Sequence[Run]:
        return [run for run in self._runs.values() if run.status in ("running", "queued")]

    async def call(self, thread_id: str, interrupt_id: str) -> Call | None:
        return self._calls.get((thread_id, interrupt_id))

    async def calls(self, thread_id: str, *, run_id: str | None = None, unsettled: bool = False) -> Sequence[Call]:
        return [
            call
            for call in self._calls.values()
            if call.thread_id == thread_id
            and (run_id is None or call.run_id == run_id)
            and not (unsettled and call.ended)
        ]

    async def next_due(self) -> int | None:
        return min((call.due for call in self._calls.values() if call.due is not None), default=None)

    async def due(self, now: int) -> Sequence[Call]:
        return [call for call in self._calls.values() if call.due is not None and call.due <= now]

    async def events(self, thread_id: str, *, after: int = 0) -> Sequence[Event]:
        events = self._events.get(thread_id, {})
        return [events[seq] for seq in sorted(events) if seq > after]

    async def run_started_seq(self, thread_id: str) -> int:
        run = await self.latest_run(thread_id)
        events = await self.events(thread_id)
        return next((event.seq for event in events if run is not None and event.run_id == run.id), 0)

    async def journal(self, thread_id: str, run_id: str) -> Sequence[JournalEntry]:
        return list(self._journal.get((thread_id, run_id), {}).values())

    async def history(self, thread_id: str) -> Sequence[JournalEntry]:
        return list(self._history.get(thread_id, {}).values())
