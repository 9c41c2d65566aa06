"""A store in this process's memory: for tests, trials and agents whose threads may die with the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from farside.core.model import Call, Event, JournalEntry, Run, Thread
from farside.core.ports import Lease, LeaseLost, StaleWrite, Write


class MemoryStore:
    """Implements :class:`farside.core.ports.Store` with dicts."""

    def __init__(self) -> None:
        self._threads: dict[str, Thread] = {}
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
        if lease is not None and self._leases.get(lease.thread_id) != lease:
            raise LeaseLost(f"thread {lease.thread_id} is driven by another process")
        versions: dict[tuple[str, str], int] = {}
        for write in writes:
            if isinstance(write, Call):
                key = (write.thread_id, write.interrupt_id)
                stored = self._calls.get(key)
                if versions.get(key, stored.version if stored else 0) != write.version - 1:
                    raise StaleWrite(f"call {write.interrupt_id} was changed meanwhile")
                versions[key] = write.version
        for write in writes:
            self._put(write)

    def _put(self, write: Write) -> None:
        match write:
            case Thread():
                self._threads[write.id] = write
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
