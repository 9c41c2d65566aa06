"""Where threads are stored, and which of them a process drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from farside.core.model import (
    Call,
    Event,
    JournalEntry,
    Run,
    Thread,
    ThreadInfo,
    ThreadUpdate,
)
from farside.wire.threads import ThreadSort, ThreadStatus

Write = Thread | ThreadUpdate | Run | Call | Event | JournalEntry
"""One row to be written: inserted, or replaced by its key, which keeps its place in any order. A Call is refused when
its version is stale. The rows of a commit are written in their order, its ThreadUpdates at the end."""


class StaleWrite(Exception):  # noqa: N818 - an outcome that callers expect
    """A call was changed by somebody else meanwhile; nothing of the commit was stored."""


class LeaseLost(Exception):  # noqa: N818 - an outcome that callers expect
    """Another process drives the thread; nothing of the commit was stored."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one process to drive a thread. It holds for as long as the process gives signs of life.

    ``load_id`` tells the times apart that the process has loaded the thread: what it remembers from before is void.
    """

    thread_id: str
    process_id: str
    load_id: str = ""


@dataclass(frozen=True, slots=True)
class ThreadQuery:
    """Which threads are looked for, and how they are listed; those that sort alike by their ids.

    ``metadata``: what theirs must have (``farside.wire.metadata.labels``). ``ids``: None for any.
    """

    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: ThreadStatus | None = None
    ids: tuple[str, ...] | None = None
    sort_by: ThreadSort = "updated_at"
    descending: bool = True
    limit: int = 10
    offset: int = 0


class Store(Protocol):
    """Where threads, runs, calls, events and journals survive. Every implementation passes the contract suite."""

    async def open(self) -> None:
        """Connect, and bring the schema to this version."""
        ...

    async def close(self) -> None: ...

    async def commit(self, writes: Sequence[Write], *, lease: Lease | None = None) -> None:
        """Store all of it or nothing. On return it survives a crash, as far as the store is durable.

        A :class:`Call` is written only if the stored version is ``call.version - 1`` (none for version 1). A
        :class:`ThreadUpdate` of a thread that is not there changes nothing.

        Args:
            lease: must be held, or nothing is stored.

        Raises:
            StaleWrite: a call's version did not fit.
            LeaseLost: another process has the lease.
            FarsideError: ``too_large``: a thread's metadata would be.
        """
        ...

    async def delete(self, thread_id: str, *, lease: Lease) -> None:
        """Forget everything of the thread, the lease on it included; all of it or nothing.

        Raises:
            LeaseLost: another process has the lease.
        """
        ...

    # which process drives a thread

    async def beat(self, process_id: str, until: int) -> None:
        """A sign of life: the process holds its leases until then."""
        ...

    async def processes(self) -> Sequence[str]:
        """The processes that gave a sign of life and have not been buried."""
        ...

    async def bury(self, process_id: str) -> None:
        """The process is gone: it holds nothing any more."""
        ...

    async def acquire(self, lease: Lease, now: int) -> bool:
        """Take the lease, unless another process holds it whose last sign of life is good at ``now``."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back, if it is held."""
        ...

    async def held(self, process_id: str) -> Sequence[Lease]:
        """The leases that the process holds."""
        ...

    async def stranded(self, now: int) -> Sequence[Run]:
        """Runs that are running or queued, of all threads that no living process drives; the oldest first."""
        ...

    # reading

    async def thread(self, thread_id: str) -> Thread | None: ...

    async def search(self, query: ThreadQuery) -> Sequence[ThreadInfo]:
        """The threads that fit, in the query's order, at most ``limit`` behind the first ``offset``.

        The status of one: ``interrupted`` with an unsettled call, else ``busy`` with a run that is running or queued,
        else ``error`` when the newest run that has started failed, else ``idle``.
        """
        ...

    async def count(self, query: ThreadQuery) -> int:
        """How many threads fit; order, ``limit`` and ``offset`` mean nothing."""
        ...

    async def run(self, thread_id: str, run_id: str) -> Run | None: ...

    async def latest_run(self, thread_id: str) -> Run | None:
        """The newest run that has started."""
        ...

    async def queued(self, thread_id: str) -> Sequence[Run]:
        """The runs with status "queued", the oldest first."""
        ...

    async def unfinished(self) -> Sequence[Run]:
        """All runs that are running or queued, of all threads, the oldest first."""
        ...

    async def call(self, thread_id: str, interrupt_id: str) -> Call | None: ...

    async def calls(self, thread_id: str, *, run_id: str | None = None, unsettled: bool = False) -> Sequence[Call]:
        """Calls of a thread in the order in which they were opened."""
        ...

    async def next_due(self) -> int | None:
        """The smallest ``Call.due`` of all unsettled calls."""
        ...

    async def due(self, now: int) -> Sequence[Call]:
        """Unsettled calls with ``Call.due <= now``."""
        ...

    async def events(self, thread_id: str, *, after: int = 0) -> Sequence[Event]:
        """Stored events of a thread with ``seq > after``, in order."""
        ...

    async def run_started_seq(self, thread_id: str) -> int:
        """The seq of the first event of the newest run that has started, 0 when there is none."""
        ...

    async def journal(self, thread_id: str, run_id: str) -> Sequence[JournalEntry]: ...

    async def history(self, thread_id: str) -> Sequence[JournalEntry]:
        """The entries of kind "message" of all runs of a thread, in the order of writing."""
        ...
