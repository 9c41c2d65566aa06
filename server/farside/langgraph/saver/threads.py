"""Whole threads: deleting, copying and pruning them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver.ranges import dump, joined, load, shifted, spread
from farside.langgraph.saver.rows import Key, Row, put, put_writes
from farside.langgraph.saver.stock import StockTables
from farside.langgraph.saver.transaction import Transaction
from farside.langgraph.saver.tuples import Tuples

Work = Callable[[Transaction, Tuples], None]
"""What is done in a transaction, with what reads in it."""


def deleting(thread_id: str) -> Work:
    """Delete a thread: checkpoints, writes and messages."""
    return lambda transaction, _: _delete(transaction, thread_id)


def deleting_runs(run_ids: Sequence[str]) -> Callable[[Tuples], dict[str, Work]]:
    """Look for the checkpoints that these runs wrote; gives the work of deleting them, by thread."""

    def look(tuples: Tuples) -> dict[str, Work]:
        condition = "json_extract(CAST(c.metadata AS TEXT), '$.run_id') IN (SELECT value FROM json_each(?))"
        keys: dict[str, list[Key]] = {}
        for row in tuples.rows(condition, (json.dumps(list(run_ids)),)):
            keys.setdefault(row.thread_id, []).append(row.key)
        return {thread_id: _dropping(thread_id, theirs) for thread_id, theirs in keys.items()}

    return look


def copying(source: str, target: str) -> Work:
    """Copy a thread's checkpoints, writes and messages; what the target thread has stays.

    Raises:
        ValueError: both are the same thread.
    """
    if source == target:
        raise ValueError(f"expected another thread than the source as the target, got {target!r} for both")
    return lambda transaction, tuples: _copy(transaction, tuples, source, target)


def pruning(thread_id: str, strategy: str, serde: SerializerProtocol) -> Work:
    """Delete what is not needed to go on with a thread.

    Raises:
        ValueError: there is no such strategy.
    """
    if strategy == "delete":
        return deleting(thread_id)
    if strategy != "keep_latest":
        raise ValueError(f"expected strategy 'keep_latest' or 'delete', got {strategy!r}")
    return lambda transaction, tuples: _prune(transaction, tuples, serde, thread_id)


def _dropping(thread_id: str, keys: Sequence[Key]) -> Work:
    return lambda transaction, tuples: _drop(transaction, tuples, thread_id, keys)


def _delete(transaction: Transaction, thread_id: str) -> None:
    db = transaction.db
    tables = ["farside_saver_checkpoints", "farside_saver_writes", "farside_saver_large"]
    if StockTables.found(db) is not None:
        tables += ["checkpoints", "writes"]
    for table in tables:
        db.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,))  # noqa: S608 - constants only
    number = "(SELECT number FROM farside_saver_threads WHERE thread_id = ?)"
    db.execute(f"DELETE FROM farside_saver_items WHERE number = {number}", (thread_id,))  # noqa: S608
    db.execute("DELETE FROM farside_saver_threads WHERE thread_id = ?", (thread_id,))
    transaction.forget(thread_id)


def _copy(transaction: Transaction, tuples: Tuples, source: str, target: str) -> None:
    rows = tuples.rows("c.thread_id = ?", (source,))
    if not rows:
        return
    db = transaction.db
    number, _ = transaction.thread(source)
    copied, free = transaction.thread(target)
    db.execute(
        "INSERT INTO farside_saver_items"
        " SELECT ?, seq + ?, type, value, large FROM farside_saver_items WHERE number = ?",
        (copied, free, number),
    )
    db.execute(
        "INSERT OR IGNORE INTO farside_saver_large"
        " SELECT ?, digest, value FROM farside_saver_large WHERE thread_id = ?",
        (target, source),
    )
    transaction.forget(target)
    for row in rows:
        lists = dump(shifted(load(row.lists), free))
        put(transaction, row._replace(thread_id=target, lists=lists, metadata=row.metadata or b"{}"))
        writes = [(target, row.checkpoint_ns, row.checkpoint_id, *write) for write in tuples.writes(row)]
        put_writes(transaction, writes, replacing=True)


def _prune(transaction: Transaction, tuples: Tuples, serde: SerializerProtocol, thread_id: str) -> None:
    """Keep the newest checkpoint of each namespace, and those that it cannot be read without."""
    rows = tuples.rows("c.thread_id = ?", (thread_id,))
    kept: set[Key] = set()
    by_key = {row.key: row for row in rows}
    for checkpoint_ns in {row.checkpoint_ns for row in rows}:
        newest = next(row for row in rows if row.checkpoint_ns == checkpoint_ns)
        kept.update(row.key for row in _needed(newest, by_key, tuples, serde))
    _drop(transaction, tuples, thread_id, by_key.keys() - kept)


def _drop(transaction: Transaction, tuples: Tuples, thread_id: str, keys: Iterable[Key]) -> None:
    """Delete checkpoints of a thread with their writes, and the messages that no other one holds."""
    db = transaction.db
    tables = ["farside_saver_checkpoints", "farside_saver_writes"]
    if StockTables.found(db) is not None:
        tables += ["checkpoints", "writes"]
    gone = list(keys)
    for table in tables:
        db.executemany(
            f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",  # noqa: S608
            gone,
        )
    _collect(transaction, tuples.rows("c.thread_id = ?", (thread_id,)), thread_id)


def _needed(row: Row, by_key: dict[Key, Row], tuples: Tuples, serde: SerializerProtocol) -> list[Row]:
    """A checkpoint, and the ancestors whose writes its delta channels are made of, up to their last snapshots."""
    needed = [row]
    metadata: dict[str, Any] = {} if row.metadata is None else json.loads(row.metadata)
    wanted = set(metadata.get("counters_since_delta_snapshot") or ())
    wanted -= tuples.checkpoint(row, serde)["channel_values"].keys()
    while wanted and row.parent_checkpoint_id:
        parent = by_key.get((row.thread_id, row.checkpoint_ns, row.parent_checkpoint_id))
        if parent is None or parent in needed:
            break
        needed.append(row := parent)
        wanted -= tuples.checkpoint(row, serde)["channel_values"].keys()
    return needed


def _collect(transaction: Transaction, rows: Iterable[Row], thread_id: str) -> None:
    """Give the thread a new number, under which it has only what its checkpoints hold."""
    db = transaction.db
    held = {seq for row in rows for stored in load(row.lists).values() for seq in spread(stored.ranges)}
    number, _ = transaction.thread(thread_id)
    db.execute("DELETE FROM farside_saver_threads WHERE number = ?", (number,))
    transaction.forget(thread_id)
    if held:
        anew, _ = transaction.thread(thread_id)
        db.executemany(
            "UPDATE farside_saver_items SET number = ? WHERE number = ? AND seq >= ? AND seq < ?",
            [(anew, number, start, stop) for start, stop in joined(sorted(held))],
        )
        transaction.forget(thread_id)
    db.execute("DELETE FROM farside_saver_items WHERE number = ?", (number,))
    db.execute(
        "DELETE FROM farside_saver_large WHERE thread_id = ?1 AND digest NOT IN (SELECT each.value FROM ("
        "SELECT large FROM farside_saver_checkpoints WHERE thread_id = ?1"
        " UNION SELECT large FROM farside_saver_writes WHERE thread_id = ?1"
        " UNION SELECT large FROM farside_saver_items"
        " WHERE number = (SELECT number FROM farside_saver_threads WHERE thread_id = ?1)"
        ") AS held, json_each(held.large) AS each)",
        (thread_id,),
    )
