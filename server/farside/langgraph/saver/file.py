"""A saver's file while it is open: one connection that writes, one that reads."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from farside.langgraph.saver.cache import Cache
from farside.langgraph.saver.schema import connect, prepare
from farside.langgraph.saver.transaction import Transaction
from farside.langgraph.saver.tuples import Tuples
from farside.langgraph.saver.writer import CLOSED, Writer

_T = TypeVar("_T")


class File:
    """Writes and reads a file from any thread and any event loop.

    Reads have a connection of their own: they do not wait for a commit, except that of what was written to the same
    thread before.
    """

    def __init__(self, path: str, cache: Cache) -> None:
        self.lock = threading.Lock()
        """Held while the cache is looked at."""
        writing = connect(path)
        try:
            prepare(writing, path)
            reading = connect(path)
        except BaseException:
            writing.close()
            raise
        self.cache = cache
        self._within = Tuples(writing, Cache(0), threading.Lock())
        """Reads in the writer's transactions, whose contents nobody may remember before the commit."""
        self._reading = Tuples(reading, cache, self.lock)
        self._db = reading
        self._turn = threading.Lock()
        """Held while the connection is read from."""
        name = f"farside-saver {Path(path).name}"
        self.writer = Writer(writing, self.lock, name)
        self._reads = ThreadPoolExecutor(1, thread_name_prefix=f"{name} reads")
        self._end = weakref.finalize(self, _end, self.writer, self._reads, self._turn, reading.close)

    def close(self) -> None:
        """Finish what was submitted, and close the file."""
        self._end()

    # --- writing ---

    def write(self, thread_id: str, work: Callable[[Transaction], _T]) -> _T:
        """Have work done in a transaction, and wait for its commit."""
        return self.writer.submit(thread_id, work, None).result()

    async def awrite(self, thread_id: str, work: Callable[[Transaction], _T]) -> _T:
        """The same for an event loop. What was begun is finished, also if the caller is cancelled meanwhile."""
        return await self.writer.submit(thread_id, work, asyncio.get_running_loop())

    def change(self, thread_id: str, work: Callable[[Transaction, Tuples], None]) -> None:
        """Have a whole thread changed, after which nothing is known of it."""
        self.write(thread_id, lambda transaction: work(transaction, self._within))
        self._forget(thread_id)

    async def achange(self, thread_id: str, work: Callable[[Transaction, Tuples], None]) -> None:
        """The same for an event loop."""
        await self.awrite(thread_id, lambda transaction: work(transaction, self._within))
        self._forget(thread_id)

    def settle(self) -> None:
        """Wait until everything is committed that was submitted."""
        if self.writer.busy(None):
            self.write("", _nothing)

    def _forget(self, thread_id: str) -> None:
        with self.lock:
            self.cache.drop(thread_id)

    # --- reading ---

    def read(self, thread_id: str | None, work: Callable[[Tuples], _T]) -> _T:
        """Read, after all that was written to the thread, or to any thread for None."""
        if self.writer.busy(thread_id):
            with suppress(sqlite3.Error):  # what failed is not there to be read
                self.write(thread_id or "", _nothing)
        return self._in_turn(work)

    async def aread(self, thread_id: str | None, work: Callable[[Tuples], _T], *, hot: bool = False) -> _T:
        """The same for an event loop.

        Args:
            hot: whether what is read is likely to be in memory. It is read at once then if nobody else reads: for the
                little that there is to do, handing it to another thread and back costs several times as much.
        """
        if self.writer.busy(thread_id):
            with suppress(sqlite3.Error):
                await self.awrite(thread_id or "", _nothing)
        if hot and self._turn.acquire(blocking=False):
            try:
                return self._read(work)
            finally:
                self._turn.release()
        try:
            reading = self._reads.submit(self._in_turn, work)
        except RuntimeError:
            raise RuntimeError(CLOSED) from None
        return await asyncio.wrap_future(reading)

    def _in_turn(self, work: Callable[[Tuples], _T]) -> _T:
        with self._turn:
            return self._read(work)

    def _read(self, work: Callable[[Tuples], _T]) -> _T:
        if not self._end.alive:
            raise RuntimeError(CLOSED)
        if self._db.in_transaction:  # a KeyboardInterrupt came before its end
            self._db.execute("ROLLBACK")
        self._db.execute("BEGIN")
        try:
            return work(self._reading)
        finally:
            self._db.execute("COMMIT")


def _nothing(transaction: Transaction) -> None:
    """What is done when it is about what was done before it."""


def _end(writer: Writer, reads: ThreadPoolExecutor, turn: threading.Lock, close: Callable[[], None]) -> None:
    """Finish what was submitted; maybe in a thread of the file itself, if the garbage collector found it there."""
    writer.close()
    reads.shutdown(wait=False)  # what still waits there finds the file closed
    with turn:
        close()
