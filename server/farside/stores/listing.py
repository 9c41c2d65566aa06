"""Threads as they are listed, in SQLite: their metadata, their status, how they are found, and how they go.

A thread's status is not stored: it follows from its runs and calls, each of which has an index of what is unusual.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from farside.core.model import ThreadInfo, ThreadUpdate
from farside.core.ports import ThreadQuery
from farside.stores.rows import pack, unpack
from farside.wire.metadata import labels, merged

_FEW = 1000
"""Up to so many threads with a label are read and sorted; with more of them it is faster to go through all threads in
the order of the list and look at each, because many fit. Of 100,000 threads the wrong choice costs 0.3 to 0.9 s."""

_WAITING = "SELECT thread_id FROM farside_calls WHERE result IS NULL"
_UNDER_WAY = "SELECT thread_id FROM farside_runs WHERE status IN ('running', 'queued')"
_FAILED = (
    "SELECT thread_id FROM farside_runs AS run WHERE status = 'failed' AND NOT EXISTS "
    "(SELECT 1 FROM farside_runs WHERE thread_id = run.thread_id AND number > run.number AND started)"
)

# The same, of one thread.
_WAITS = f"EXISTS ({_WAITING} AND thread_id = thread.id)"
_IS_UNDER_WAY = f"EXISTS ({_UNDER_WAY} AND thread_id = thread.id)"
_HAS_FAILED = f"EXISTS ({_FAILED} AND run.thread_id = thread.id)"

_STATUS = (
    f"CASE WHEN {_WAITS} THEN 'interrupted' WHEN {_IS_UNDER_WAY} THEN 'busy' "
    f"WHEN {_HAS_FAILED} THEN 'error' ELSE 'idle' END"
)
_FITS = {
    "interrupted": f"id IN ({_WAITING})",
    "busy": f"id IN ({_UNDER_WAY}) AND NOT {_WAITS}",
    "error": f"id IN ({_FAILED}) AND NOT {_IS_UNDER_WAY} AND NOT {_WAITS}",
    "idle": f"NOT {_WAITS} AND NOT {_IS_UNDER_WAY} AND NOT {_HAS_FAILED}",
}
_SORTED_BY = {
    "thread_id": "id",
    "status": "status",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "state_updated_at": "state_updated_at",
}
_INFOS = (
    "SELECT id, agent, created_at, updated_at, state_updated_at, metadata, "  # noqa: S608 - constants only
    f"{_STATUS} AS status FROM farside_threads AS thread"
)
_WITH_LABEL = "SELECT thread_id FROM farside_labels WHERE label = ?"


def search(db: sqlite3.Connection, query: ThreadQuery) -> list[ThreadInfo]:
    """See :meth:`farside.core.ports.Store.search`."""
    condition, parameters = _condition(db, query)
    direction = "DESC" if query.descending else "ASC"
    order = f"{_SORTED_BY[query.sort_by]} {direction}, id {direction}"
    statement = f"{_INFOS} WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?"
    return [_info(row) for row in db.execute(statement, [*parameters, query.limit, query.offset])]


def count(db: sqlite3.Connection, query: ThreadQuery) -> int:
    """See :meth:`farside.core.ports.Store.count`."""
    condition, parameters = _condition(db, query)
    statement = f"SELECT COUNT(*) FROM farside_threads AS thread WHERE {condition}"  # noqa: S608 - constants only
    [number] = db.execute(statement, parameters).fetchone()
    return number


def update(db: sqlite3.Connection, change: ThreadUpdate) -> None:
    """Within a transaction: what a :class:`ThreadUpdate` says."""
    times = ["updated_at", "state_updated_at"] if change.has_run else ["updated_at"]
    changes = ", ".join(f"{name} = ?1" for name in times)
    db.execute(f"UPDATE farside_threads SET {changes} WHERE id = ?2", [change.at, change.thread_id])  # noqa: S608
    if not change.metadata or (before := _metadata(db, change.thread_id)) is None:
        return
    after = merged(before, change.metadata)
    if after == before:
        return
    db.execute("UPDATE farside_threads SET metadata = ? WHERE id = ?", [pack(after), change.thread_id])
    old, new = labels(before), labels(after)
    _unlabel(db, change.thread_id, old - new)
    rows = [(label, change.thread_id) for label in new - old]
    db.executemany("INSERT INTO farside_labels (label, thread_id) VALUES (?, ?)", rows)


def delete(db: sqlite3.Connection, thread_id: str) -> None:
    """Within a transaction: see :meth:`farside.core.ports.Store.delete`."""
    _unlabel(db, thread_id, labels(_metadata(db, thread_id) or {}))
    for table in ("events", "calls", "journal", "runs", "leases"):
        db.execute(f"DELETE FROM farside_{table} WHERE thread_id = ?", [thread_id])  # noqa: S608 - constants only
    db.execute("DELETE FROM farside_threads WHERE id = ?", [thread_id])


def _condition(db: sqlite3.Connection, query: ThreadQuery) -> tuple[str, list[Any]]:
    """What fits the query, as SQL, and its parameters."""
    conditions, parameters = ["TRUE"], list[Any]()
    if query.status is not None:
        conditions.append(_FITS[query.status])
    if query.ids is not None:
        conditions.append(f"id IN ({', '.join('?' for _ in query.ids)})")
        parameters.extend(query.ids)
    for label in labels(query.metadata):
        few = len(db.execute(f"{_WITH_LABEL} LIMIT {_FEW + 1}", [label]).fetchall()) <= _FEW
        conditions.append(f"id IN ({_WITH_LABEL})" if few else f"EXISTS ({_WITH_LABEL} AND thread_id = thread.id)")
        parameters.append(label)
    return " AND ".join(conditions), parameters


def _metadata(db: sqlite3.Connection, thread_id: str) -> dict[str, Any] | None:
    row = db.execute("SELECT metadata FROM farside_threads WHERE id = ?", [thread_id]).fetchone()
    return None if row is None else _read(row[0])


def _unlabel(db: sqlite3.Connection, thread_id: str, gone: Iterable[bytes]) -> None:
    rows = [(label, thread_id) for label in gone]
    db.executemany("DELETE FROM farside_labels WHERE label = ? AND thread_id = ?", rows)


def _info(row: Any) -> ThreadInfo:
    thread_id, agent, created_at, updated_at, state_updated_at, metadata, status = row
    return ThreadInfo(thread_id, agent, created_at, updated_at, state_updated_at, _read(metadata), status)


def _read(metadata: bytes | None) -> dict[str, Any]:
    return {} if metadata is None else unpack(metadata)
