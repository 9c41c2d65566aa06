"""A store in one SQLite file: WAL, every commit flushed to disk (synchronous=FULL).

The tables are named ``farside_*``, so that the file can be shared, with LangGraph's checkpointer for example.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import aiosqlite

from farside.core.model import Call, Event, JournalEntry, Run, Thread, ToolResult
from farside.core.ports import StaleWrite, Write
from farside.stores.migrations import MIGRATIONS
from farside.wire.codec import MESSAGEPACK
from farside.wire.messages import ErrorBody, Failure, Success
from farside.wire.values import Limits

_NO_LIMITS = Limits(frame_bytes=2**31, depth=500, items=2**31)

_PUT_THREAD = """INSERT INTO farside_threads (id, agent, created_at, reserved_seq) VALUES (?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, reserved_seq = excluded.reserved_seq"""
_PUT_RUN = """INSERT INTO farside_runs (thread_id, id, agent, input, config, status, created_at, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (thread_id, id) DO UPDATE SET status = excluded.status, error = excluded.error"""
_CALL_COLUMNS = (
    "thread_id, interrupt_id, run_id, kind, tool_call_id, name, args, opened_at, state, title, idempotent, deadline, "
    "client_id, lease_until, result, version"
)
_PUT_CALL = f"""INSERT INTO farside_calls ({_CALL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (thread_id, interrupt_id) DO UPDATE SET state = excluded.state, client_id = excluded.client_id,
lease_until = excluded.lease_until, result = excluded.result, version = excluded.version
WHERE farside_calls.version = excluded.version - 1"""  # noqa: S608 - constants only
_PUT_EVENT = """INSERT INTO farside_events (thread_id, seq, run_id, method, namespace, timestamp, data)
VALUES (?, ?, ?, ?, ?, ?, ?)"""
_PUT_JOURNAL = """INSERT INTO farside_journal (run_id, position, kind, name, value) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run_id, position) DO UPDATE SET value = excluded.value"""
_DUE = "MIN(COALESCE(deadline, lease_until), COALESCE(lease_until, deadline))"


class SqliteStore:
    """Implements :class:`farside.core.ports.Store` on one SQLite file.

    Args:
        path: the file; it is made when it is not there. Its folder must exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._connection: aiosqlite.Connection | None = None
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        if not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(f"expected a folder for the SQLite file {self.path}; make it first")
        db = await aiosqlite.connect(self.path, isolation_level=None)
        self._connection = db
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "foreign_keys=ON"):
            await db.execute(f"PRAGMA {pragma}")
        await self._migrate(db)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    @property
    def _db(self) -> aiosqlite.Connection:
        if self._connection is None:
            raise RuntimeError("the store is closed; await open() first")
        return self._connection

    async def _migrate(self, db: aiosqlite.Connection) -> None:
        await db.execute("BEGIN IMMEDIATE")
        try:
            await db.execute("CREATE TABLE IF NOT EXISTS farside_schema (version INTEGER NOT NULL)")
            row = await self._one("SELECT MAX(version) FROM farside_schema")
            version: int = row[0] or 0 if row else 0
            if version > len(MIGRATIONS):
                raise RuntimeError(
                    f"{self.path} has schema version {version}, this farside knows {len(MIGRATIONS)}; upgrade farside"
                )
            for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
                for statement in statements:
                    await db.execute(statement)
                await db.execute("INSERT INTO farside_schema (version) VALUES (?)", (number,))
        except BaseException:
            await db.execute("ROLLBACK")
            raise
        await db.execute("COMMIT")

    # --- writing ---

    async def commit(self, writes: Sequence[Write]) -> None:
        rows = _rows(writes)
        async with self._writing:
            await _finished(self._commit(rows))

    async def _commit(self, rows: Sequence[tuple[str, list[tuple[Any, ...]]]]) -> None:
        db = self._db
        await db.execute("BEGIN IMMEDIATE")
        try:
            for statement, parameters in rows:
                cursor = await db.executemany(statement, parameters)
                if statement is _PUT_CALL and cursor.rowcount != len(parameters):
                    raise StaleWrite("a call was changed meanwhile")
        except BaseException:
            await db.execute("ROLLBACK")
            raise
        await db.execute("COMMIT")

    # --- reading ---

    async def _one(self, query: str, parameters: Iterable[Any] = ()) -> Any:
        rows = await self._all(query, parameters)
        return rows[0] if rows else None

    async def _all(self, query: str, parameters: Iterable[Any] = ()) -> list[Any]:
        return list(await self._db.execute_fetchall(query, parameters))

    async def thread(self, thread_id: str) -> Thread | None:
        row = await self._one(
            "SELECT id, agent, created_at, reserved_seq FROM farside_threads WHERE id = ?", (thread_id,)
        )
        return None if row is None else Thread(*row)

    async def run(self, thread_id: str, run_id: str) -> Run | None:
        return _run(await self._one(f"{_RUNS} WHERE thread_id = ? AND id = ?", (thread_id, run_id)))

    async def latest_run(self, thread_id: str) -> Run | None:
        return _run(await self._one(f"{_RUNS} WHERE thread_id = ? ORDER BY number DESC LIMIT 1", (thread_id,)))

    async def running(self) -> Sequence[Run]:
        rows = await self._all(f"{_RUNS} WHERE status = 'running' ORDER BY number")
        return [run for row in rows if (run := _run(row)) is not None]

    async def call(self, thread_id: str, interrupt_id: str) -> Call | None:
        row = await self._one(f"{_CALLS} WHERE thread_id = ? AND interrupt_id = ?", (thread_id, interrupt_id))
        return None if row is None else _call(row)

    async def calls(self, thread_id: str, *, run_id: str | None = None, unsettled: bool = False) -> Sequence[Call]:
        query, parameters = f"{_CALLS} WHERE thread_id = ?", [thread_id]
        if run_id is not None:
            query, parameters = f"{query} AND run_id = ?", [*parameters, run_id]
        if unsettled:
            query = f"{query} AND result IS NULL"
        return [_call(row) for row in await self._all(f"{query} ORDER BY number", parameters)]

    async def next_due(self) -> int | None:
        row = await self._one(f"SELECT MIN({_DUE}) FROM farside_calls WHERE result IS NULL")  # noqa: S608
        return row[0] if row else None

    async def due(self, now: int) -> Sequence[Call]:
        rows = await self._all(f"{_CALLS} WHERE result IS NULL AND {_DUE} <= ? ORDER BY number", (now,))
        return [_call(row) for row in rows]

    async def events(self, thread_id: str, *, after: int = 0) -> Sequence[Event]:
        rows = await self._all(
            "SELECT thread_id, run_id, seq, method, namespace, timestamp, data FROM farside_events "
            "WHERE thread_id = ? AND seq > ? ORDER BY seq",
            (thread_id, after),
        )
        return [Event(*row[:4], tuple(_unpack(row[4])), row[5], _unpack(row[6])) for row in rows]

    async def run_started_seq(self, thread_id: str) -> int:
        row = await self._one(
            "SELECT seq FROM farside_events WHERE thread_id = ?1 AND run_id = "
            "(SELECT id FROM farside_runs WHERE thread_id = ?1 ORDER BY number DESC LIMIT 1) ORDER BY seq LIMIT 1",
            (thread_id,),
        )
        return row[0] if row else 0

    async def journal(self, run_id: str) -> Sequence[JournalEntry]:
        rows = await self._all(
            "SELECT run_id, position, kind, name, value FROM farside_journal WHERE run_id = ? ORDER BY rowid", (run_id,)
        )
        return [JournalEntry(*row[:4], _unpack(row[4])) for row in rows]


_RUNS = "SELECT id, thread_id, agent, input, config, status, created_at, error FROM farside_runs"
_CALLS = f"SELECT {_CALL_COLUMNS} FROM farside_calls"  # noqa: S608 - constants only


def _rows(writes: Sequence[Write]) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """Statements with their parameter rows, one statement per kind of write."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for w in writes:
        match w:
            case Thread():
                statement, row = _PUT_THREAD, (w.id, w.agent, w.created_at, w.reserved_seq)
            case Run():
                error = None if w.error is None else _pack(w.error.model_dump())
                statement = _PUT_RUN
                row = (w.thread_id, w.id, w.agent, _pack(w.input), _pack(w.config), w.status, w.created_at, error)
            case Call():
                result = None if w.result is None else _pack(w.result.model_dump())
                statement = _PUT_CALL
                row = (
                    *(w.thread_id, w.interrupt_id, w.run_id, w.kind, w.tool_call_id, w.name, _pack(w.args)),
                    *(w.opened_at, w.state, w.title, int(w.idempotent), w.deadline, w.client_id, w.lease_until),
                    *(result, w.version),
                )
            case Event():
                statement = _PUT_EVENT
                namespace = _pack(list(w.namespace))
                row = (w.thread_id, w.seq, w.run_id, w.method, namespace, w.timestamp, _pack(w.data))
            case JournalEntry():
                statement, row = _PUT_JOURNAL, (w.run_id, w.position, w.kind, w.name, _pack(w.value))
        rows.setdefault(statement, []).append(row)
    return list(rows.items())


def _run(row: Any) -> Run | None:
    if row is None:
        return None
    error = None if row[7] is None else ErrorBody.model_validate(_unpack(row[7]))
    return Run(row[0], row[1], row[2], _unpack(row[3]), _unpack(row[4]), row[5], row[6], error)


def _call(row: Any) -> Call:
    return Call(
        thread_id=row[0],
        interrupt_id=row[1],
        run_id=row[2],
        kind=row[3],
        tool_call_id=row[4],
        name=row[5],
        args=_unpack(row[6]),
        opened_at=row[7],
        state=row[8],
        title=row[9],
        idempotent=bool(row[10]),
        deadline=row[11],
        client_id=row[12],
        lease_until=row[13],
        result=None if row[14] is None else _result(_unpack(row[14])),
        version=row[15],
    )


def _result(value: dict[str, Any]) -> ToolResult:
    return Success.model_validate(value) if value["status"] == "success" else Failure.model_validate(value)


def _pack(value: Any) -> bytes:
    return MESSAGEPACK.encode(value, _NO_LIMITS)


def _unpack(value: bytes) -> Any:
    return MESSAGEPACK.decode(value, _NO_LIMITS)


async def _finished(work: Any) -> None:
    """Await to the end even when the caller is cancelled: a transaction is never left half done."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
