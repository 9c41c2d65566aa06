"""The one thread that writes: whatever waits for it goes into one transaction."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any

from farside.langgraph.saver.transaction import Transaction

Work = Callable[[Transaction], Any]

CLOSED = "the saver is closed; make another one"

_AT_ONCE = 256
"""How many pieces of work one transaction takes at most."""


class _Promise(asyncio.Future[Any]):
    """Of work that is carried out whatever happens to who awaits it: who is cancelled is so when it is done."""

    def cancel(self, msg: Any | None = None) -> bool:
        return False


class Job:
    """A piece of work, and who waits for it: a future of a thread's, or one of an event loop's."""

    __slots__ = ("error", "future", "loop", "result", "thread_id", "work")

    def __init__(self, thread_id: str, work: Work, loop: asyncio.AbstractEventLoop | None) -> None:
        self.thread_id = thread_id
        self.work = work
        self.loop = loop
        self.future: Any = Future[Any]() if loop is None else _Promise(loop=loop)
        self.result: Any = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Writer:
    """Carries out work in the order in which it was submitted, on a thread and a connection of its own.

    Args:
        lock: held while others may look at what is known of the threads.
    """

    def __init__(self, db: sqlite3.Connection, lock: threading.Lock, name: str) -> None:
        self._db = db
        self._lock = lock
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._waiting: dict[str, int] = {}
        self._gate = threading.RLock()  # the writer's own thread may be where the garbage collector closes it
        self._closed = False
        self.commits = 0
        """How many transactions were committed."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, thread_id: str, work: Work, loop: asyncio.AbstractEventLoop | None) -> Any:
        """Have work done in a transaction.

        Args:
            thread_id: what it is about; see :meth:`busy`.
            loop: the running event loop, None in a thread without one.

        Returns:
            A future of the loop, or of ``concurrent.futures``. It is done when the transaction is committed.

        Raises:
            RuntimeError: the writer is closed.
        """
        job = Job(thread_id, work, loop)
        with self._gate:
            if self._closed:
                raise RuntimeError(CLOSED)
            self._waiting[thread_id] = self._waiting.get(thread_id, 0) + 1
            self._queue.put(job)
        return job.future

    def busy(self, thread_id: str | None) -> bool:
        """Whether work on this thread, or on any for None, is not committed yet."""
        return bool(self._waiting) if thread_id is None else thread_id in self._waiting

    def close(self) -> None:
        """Finish what was submitted, and end."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    # --- in the thread ---

    def _run(self) -> None:
        try:
            while jobs := self._next():
                self._carry_out(jobs)
                self._finish(jobs)
        finally:
            self._db.close()

    def _next(self) -> list[Job]:
        """Everything that waits, or what comes next; nothing at the end."""
        jobs: list[Job] = []
        with suppress(Empty):
            while len(jobs) < _AT_ONCE:
                job = self._queue.get(block=not jobs)
                if job is None:
                    self._queue.put(None)  # for the next look; nothing can come in between
                    break
                jobs.append(job)
        return jobs

    def _carry_out(self, jobs: list[Job]) -> None:
        """All in one transaction; each in its own if one of them fails, so that it fails alone."""
        groups = [jobs]
        while groups:
            group = groups.pop(0)
            try:
                if self._db.in_transaction:  # it could not be rolled back
                    self._db.execute("ROLLBACK")
                self._db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:  # another process keeps the file locked: it would for the others too
                for job in chain(group, *groups):
                    job.error = error
                return
            if (failed := self._attempt(group)) is None:
                self.commits += 1
            elif len(group) == 1:
                group[0].error = failed
            else:
                groups = [[job] for job in group]

    def _attempt(self, jobs: list[Job]) -> BaseException | None:
        transaction = Transaction(self._db)
        try:
            for job in jobs:
                job.result = job.work(transaction)
            self._db.execute("COMMIT")
        except BaseException as error:  # whatever it is, it belongs to those who wait
            with suppress(sqlite3.Error):
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            return error
        with self._lock:
            transaction.committed()
        return None

    def _finish(self, jobs: list[Job]) -> None:
        with self._gate:
            for job in jobs:
                left = self._waiting[job.thread_id] - 1
                if left:
                    self._waiting[job.thread_id] = left
                else:
                    del self._waiting[job.thread_id]
        loops: dict[asyncio.AbstractEventLoop, list[Job]] = {}
        for job in jobs:
            if job.loop is None:
                job.settle()
            else:
                loops.setdefault(job.loop, []).append(job)
        for loop, theirs in loops.items():
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, theirs)


def _settle(jobs: Iterable[Job]) -> None:
    for job in jobs:
        job.settle()
