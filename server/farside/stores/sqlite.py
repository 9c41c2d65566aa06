"""A store in one SQLite file: WAL, every commit flushed to disk (synchronous=FULL).

The tables are named ``farside_*``, so that the file can be shared, with LangGraph's checkpointer for example.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from farside.core.model import Call, Event, JournalEntry, Run, Thread, ThreadInfo, ThreadUpdate
from farside.core.ports import Lease, LeaseLost, StaleWrite, ThreadQuery, Write
from farside.stores import listing, rows
from farside.stores.migrations import migrate

_BUSY_SECONDS = 10.0
"""How long to wait for another process that writes to the same file."""

_ALIVE = "SELECT id FROM farside_processes WHERE until > ?3"
_UNFINISHED = f"{rows.RUNS} WHERE status IN ('running', 'queued')"

_T = TypeVar("_T")


class SqliteStore:
    """Implements :class:`farside.core.ports.Store` on one SQLite file.

    One thread of its own owns the connection. A commit is one piece of work for it, and so is each query: they never
    mix, whatever is cancelled meanwhile.

    Args:
        path: the file; it is made when it is not there. Its folder must exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Connect, and bring the schema to this version.

        Raises:
            FileNotFoundError: the folder is not there.
            RuntimeError: a newer farside wrote the file, or its file system cannot hold a database in WAL mode.
        """
        if not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(f"expected a folder for the SQLite file {self.path}; make it first")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="farside-sqlite")
        try:
            self._connection = await self._do(_connect, self.path)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        thread, self._thread = self._thread, None
        connection, self._connection = self._connection, None
        if thread is not None:
            if connection is not None:
                thread.submit(connection.close)
            await asyncio.to_thread(thread.shutdown)

    async def _do(self, work: Callable[..., _T], *arguments: Any) -> _T:
        if self._thread is None:
            raise RuntimeError("the store is closed; await open() first")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            raise RuntimeError("the store is closed; await open() first")
        return self._connection

    # --- writing ---

    async def commit(self, writes: Sequence[Write], *, lease: Lease | None = None) -> None:
        statements = [rows.write(write) for write in writes if not isinstance(write, ThreadUpdate)]
        updates = [write for write in writes if isinstance(write, ThreadUpdate)]
        await self._do(_commit, self._db, statements, updates, lease)

    async def delete(self, thread_id: str, *, lease: Lease) -> None:
        await self._do(_delete, self._db, thread_id, lease)

    # --- which process drives a thread ---

    async def beat(self, process_id: str, until: int) -> None:
        await self._all(
            "INSERT INTO farside_processes VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET until = excluded.until",
            [process_id, until],
        )

    async def processes(self) -> Sequence[str]:
        return [process_id for (process_id,) in await self._all("SELECT id FROM farside_processes")]

    async def bury(self, process_id: str) -> None:
        await self._do(_bury, self._db, process_id)

    async def acquire(self, lease: Lease, now: int) -> bool:
        taken = await self._all(
            f"INSERT INTO farside_leases VALUES (?1, ?2, ?4) ON CONFLICT (thread_id) "  # noqa: S608 - constants only
            f"DO UPDATE SET process_id = excluded.process_id, load_id = excluded.load_id "
            f"WHERE process_id = ?2 OR process_id NOT IN ({_ALIVE}) RETURNING 1",
            [lease.thread_id, lease.process_id, now, lease.load_id],
        )
        return bool(taken)

    async def release(self, lease: Lease) -> None:
        await self._all(
            "DELETE FROM farside_leases WHERE thread_id = ? AND process_id = ? AND load_id = ?",
            [lease.thread_id, lease.process_id, lease.load_id],
        )

    async def held(self, process_id: str) -> Sequence[Lease]:
        return [
            Lease(*row) for row in await self._all("SELECT * FROM farside_leases WHERE process_id = ?", [process_id])
        ]

    async def stranded(self, now: int) -> Sequence[Run]:
        driven = f"SELECT thread_id FROM farside_leases WHERE process_id IN ({_ALIVE})"  # noqa: S608 - constants only
        query = f"{_UNFINISHED} AND thread_id NOT IN ({driven}) ORDER BY number"
        return [rows.run(row) for row in await self._all(query, [None, None, now])]

    # --- reading ---

    async def _all(self, query: str, parameters: Iterable[Any] = ()) -> list[Any]:
        return await self._do(_select, self._db, query, tuple(parameters))

    async def _one(self, query: str, parameters: Iterable[Any] = ()) -> Any:
        found = await self._all(query, parameters)
        return found[0] if found else None

    async def thread(self, thread_id: str) -> Thread | None:
        row = await self._one(f"{rows.THREADS} WHERE id = ?", [thread_id])
        return None if row is None else rows.thread(row)

    async def search(self, query: ThreadQuery) -> Sequence[ThreadInfo]:
        return await self._do(listing.search, self._db, query)

    async def count(self, query: ThreadQuery) -> int:
        return await self._do(listing.count, self._db, query)

    async def run(self, thread_id: str, run_id: str) -> Run | None:
        row = await self._one(f"{rows.RUNS} WHERE thread_id = ? AND id = ?", [thread_id, run_id])
        return None if row is None else rows.run(row)

    async def latest_run(self, thread_id: str) -> Run | None:
        query = f"{rows.RUNS} WHERE thread_id = ? AND started ORDER BY number DESC LIMIT 1"
        row = await self._one(query, [thread_id])
        return None if row is None else rows.run(row)

    async def queued(self, thread_id: str) -> Sequence[Run]:
        query = f"{rows.RUNS} WHERE thread_id = ? AND status = 'queued' ORDER BY number"
        return [rows.run(row) for row in await self._all(query, [thread_id])]

    async def unfinished(self) -> Sequence[Run]:
        return [rows.run(row) for row in await self._all(f"{_UNFINISHED} ORDER BY number")]

    async def call(self, thread_id: str, interrupt_id: str) -> Call | None:
        row = await self._one(f"{rows.CALLS} WHERE thread_id = ? AND interrupt_id = ?", [thread_id, interrupt_id])
        return None if row is None else rows.call(row)

    async def calls(self, thread_id: str, *, run_id: str | None = None, unsettled: bool = False) -> Sequence[Call]:
        query, parameters = f"{rows.CALLS} WHERE thread_id = ?", [thread_id]
        if run_id is not None:
            query, parameters = f"{query} AND run_id = ?", [*parameters, run_id]
        if unsettled:
            query = f"{query} AND result IS NULL"
        return [rows.call(row) for row in await self._all(f"{query} ORDER BY number", parameters)]

    async def next_due(self) -> int | None:
        row = await self._one(f"SELECT MIN({rows.DUE}) FROM farside_calls WHERE result IS NULL")  # noqa: S608
        return row[0]

    async def due(self, now: int) -> Sequence[Call]:
        query = f"{rows.CALLS} WHERE result IS NULL AND {rows.DUE} <= ? ORDER BY number"
        return [rows.call(row) for row in await self._all(query, [now])]

    async def events(self, thread_id: str, *, after: int = 0) -> Sequence[Event]:
        query = f"{rows.EVENTS} WHERE thread_id = ? AND seq > ? ORDER BY seq"
        return [rows.event(row) for row in await self._all(query, [thread_id, after])]

    async def run_started_seq(self, thread_id: str) -> int:
        row = await self._one(
            "SELECT seq FROM farside_events WHERE thread_id = ?1 AND run_id = "
            "(SELECT id FROM farside_runs WHERE thread_id = ?1 AND started ORDER BY number DESC LIMIT 1) "
            "ORDER BY seq LIMIT 1",
            [thread_id],
        )
        return row[0] if row else 0

    async def journal(self, thread_id: str, run_id: str) -> Sequence[JournalEntry]:
        query = f"{rows.ENTRIES} WHERE thread_id = ? AND run_id = ? ORDER BY rowid"
        return [rows.entry(row) for row in await self._all(query, [thread_id, run_id])]

    async def history(self, thread_id: str) -> Sequence[JournalEntry]:
        query = f"{rows.ENTRIES} WHERE thread_id = ? AND kind = 'message' ORDER BY rowid"
        return [rows.entry(row) for row in await self._all(query, [thread_id])]


# --- in the thread ---


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA synchronous=FULL")
        migrate(db, path)
        mode = _use_wal(db)
        if mode != "wal":
            raise RuntimeError(f"expected a file that SQLite can keep in WAL mode, {path} is kept in mode {mode}")
    except BaseException:
        db.close()
        raise
    return db


def _use_wal(db: sqlite3.Connection) -> str:
    """Switch the file to WAL; returns the mode that it is in now.

    Alone among SQLite's statements the switch does not wait for others: where one is in the way it fails, so it is made
    again after waiting as a writer waits.
    """
    for _ in range(100):
        try:
            [mode] = db.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError:
            db.execute("BEGIN IMMEDIATE")
            db.execute("COMMIT")
        else:
            return mode
    raise RuntimeError("expected the file to be free for a moment, it is in use all the time; stop the other programs")


def _commit(
    db: sqlite3.Connection,
    writes: Sequence[tuple[str, tuple[Any, ...]]],
    updates: Sequence[ThreadUpdate],
    lease: Lease | None,
) -> None:
    with _transaction(db):
        if lease is not None:
            _require(db, lease)
        for statement, several in groupby(writes, key=lambda write: write[0]):
            parameters = [row for _, row in several]
            written = db.executemany(statement, parameters).rowcount
            if written != len(parameters):
                raise StaleWrite("a call was changed meanwhile")
        for change in updates:
            listing.update(db, change)


def _delete(db: sqlite3.Connection, thread_id: str, lease: Lease) -> None:
    with _transaction(db):
        _require(db, lease)
        listing.delete(db, thread_id)


@contextmanager
def _transaction(db: sqlite3.Connection) -> Generator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _require(db: sqlite3.Connection, lease: Lease) -> None:
    holder = db.execute("SELECT process_id, load_id FROM farside_leases WHERE thread_id = ?", [lease.thread_id])
    if holder.fetchone() != (lease.process_id, lease.load_id):
        raise LeaseLost(f"thread {lease.thread_id} is driven by another process")


def _bury(db: sqlite3.Connection, process_id: str) -> None:
    with _transaction(db):
        db.execute("DELETE FROM farside_leases WHERE process_id = ?", [process_id])
        db.execute("DELETE FROM farside_processes WHERE id = ?", [process_id])


def _select(db: sqlite3.Connection, query: str, parameters: tuple[Any, ...]) -> list[Any]:
    return db.execute(query, parameters).fetchall()
