"""The nouns as rows of SQLite's tables, and back. Values are kept as MessagePack."""

from __future__ import annotations

from typing import Any

from farside.core.model import Call, Event, JournalEntry, Run, Thread, ToolResult
from farside.wire.codec import MESSAGEPACK
from farside.wire.messages import ErrorBody, Failure, Success
from farside.wire.values import Limits

Row = Thread | Run | Call | Event | JournalEntry
"""What is written by one statement."""

# --- statements ---


def _select(table: str, *columns: str) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608 - constants only


def _insert(table: str, *columns: str) -> str:
    marks = ", ".join("?" for _ in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - constants only


def _put(table: str, key: tuple[str, ...], rest: tuple[str, ...]) -> str:
    """Insert a row, or replace the one with its key, which keeps its place."""
    changes = ", ".join(f"{column} = excluded.{column}" for column in rest)
    return f"{_insert(table, *key, *rest)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}"


_THREAD = (("id",), ("agent", "created_at", "reserved_seq"))
_RUN = (("thread_id", "id"), ("agent", "input", "config", "status", "created_at", "error", "starter", "started"))
_CALL = (
    ("thread_id", "interrupt_id"),
    (
        *("run_id", "kind", "tool_call_id", "name", "args", "opened_at", "state", "title", "idempotent", "deadline"),
        *("client_id", "claim_id", "lease_until", "result", "ended_at", "ended_by", "version"),
    ),
)
_EVENT = (("thread_id", "seq"), ("run_id", "method", "namespace", "timestamp", "data"))
_ENTRY = (("thread_id", "run_id", "position"), ("kind", "name", "value"))

THREADS = _select("farside_threads", *_THREAD[0], *_THREAD[1])
RUNS = _select("farside_runs", *_RUN[0], *_RUN[1])
CALLS = _select("farside_calls", *_CALL[0], *_CALL[1])
EVENTS = _select("farside_events", *_EVENT[0], *_EVENT[1])
ENTRIES = _select("farside_journal", *_ENTRY[0], *_ENTRY[1])

DUE = "MIN(COALESCE(deadline, lease_until), COALESCE(lease_until, deadline))"
"""``Call.due`` of an unsettled call."""

_PUT_THREAD = (
    "INSERT INTO farside_threads (id, agent, created_at, reserved_seq, updated_at, state_updated_at) "
    "VALUES (?1, ?2, ?3, ?4, ?3, ?3) ON CONFLICT (id) DO UPDATE SET "
    "agent = excluded.agent, created_at = excluded.created_at, reserved_seq = excluded.reserved_seq"
)
_PUT_RUN = _put("farside_runs", *_RUN)
_PUT_EVENT = _put("farside_events", *_EVENT)
_PUT_ENTRY = _put("farside_journal", *_ENTRY)
_OPEN_CALL = f"{_insert('farside_calls', *_CALL[0], *_CALL[1])} ON CONFLICT DO NOTHING"
_CHANGE_CALL = (
    f"UPDATE farside_calls SET {', '.join(f'{column} = ?' for column in _CALL[1])} "  # noqa: S608 - constants only
    "WHERE thread_id = ? AND interrupt_id = ? AND version = ?"
)

# --- rows ---


def write(row: Row) -> tuple[str, tuple[Any, ...]]:
    """The statement that stores a row, and its parameters. It changes no row when a call is stale.

    Raises:
        FarsideError: a value lies outside the data model.
    """
    match row:
        case Thread():
            return _PUT_THREAD, (row.id, row.agent, row.created_at, row.reserved_seq)
        case Run():
            error = None if row.error is None else pack(row.error.model_dump())
            values = (
                row.agent,
                pack(row.input),
                pack(row.config),
                row.status,
                row.created_at,
                error,
                row.starter,
                row.started,
            )
            return _PUT_RUN, (row.thread_id, row.id, *values)
        case Call():
            key = (row.thread_id, row.interrupt_id)
            result = None if row.result is None else pack(row.result.model_dump())
            values = (
                *(row.run_id, row.kind, row.tool_call_id, row.name, pack(row.args), row.opened_at, row.state),
                *(row.title, row.idempotent, row.deadline, row.client_id, row.claim_id, row.lease_until, result),
                *(row.ended_at, row.ended_by, row.version),
            )
            if row.version == 1:
                return _OPEN_CALL, (*key, *values)
            return _CHANGE_CALL, (*values, *key, row.version - 1)
        case Event():
            values = (row.run_id, row.method, pack(list(row.namespace)), row.timestamp, pack(row.data))
            return _PUT_EVENT, (row.thread_id, row.seq, *values)
        case JournalEntry():
            key = (row.thread_id, row.run_id, row.position)
            return _PUT_ENTRY, (*key, row.kind, row.name, pack(row.value))


def thread(row: Any) -> Thread:
    """A row of THREADS."""
    return Thread(*row)


def run(row: Any) -> Run:
    """A row of RUNS."""
    thread_id, run_id, agent, given, config, status, created_at, error, starter, started = row
    why = None if error is None else ErrorBody.model_validate(unpack(error))
    return Run(run_id, thread_id, agent, unpack(given), unpack(config), status, created_at, why, starter, bool(started))


def call(row: Any) -> Call:
    """A row of CALLS."""
    named: dict[str, Any] = dict(zip((*_CALL[0], *_CALL[1]), row, strict=True))
    named["args"] = unpack(named["args"])
    named["idempotent"] = bool(named["idempotent"])
    named["result"] = None if named["result"] is None else _result(unpack(named["result"]))
    return Call(**named)


def event(row: Any) -> Event:
    """A row of EVENTS."""
    thread_id, seq, run_id, method, namespace, timestamp, data = row
    return Event(thread_id, run_id, seq, method, tuple(unpack(namespace)), timestamp, unpack(data))


def entry(row: Any) -> JournalEntry:
    """A row of ENTRIES."""
    thread_id, run_id, position, kind, name, value = row
    return JournalEntry(thread_id, run_id, position, kind, name, unpack(value))


def _result(value: dict[str, Any]) -> ToolResult:
    return Success.model_validate(value) if value["status"] == "success" else Failure.model_validate(value)


_NO_LIMITS = Limits(frame_bytes=2**31, depth=400, items=2**31)


def pack(value: Any) -> bytes:
    """A value as it is kept in a column."""
    return MESSAGEPACK.encode(value, _NO_LIMITS)


def unpack(value: bytes) -> Any:
    """A value that was kept in a column."""
    return MESSAGEPACK.decode(value, _NO_LIMITS)
