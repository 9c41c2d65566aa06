"""Threads in the format of LangGraph's own SQLite savers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver.cache import Cache
from farside.langgraph.saver.rows import Row, WriteRow
from farside.langgraph.saver.schema import connect
from farside.langgraph.saver.search import Condition
from farside.langgraph.saver.stock import SCHEMA
from farside.langgraph.saver.tuples import Tuples


def export(
    source: str, target: str | Path, serde: SerializerProtocol, cache_messages: int, condition: Condition
) -> int:
    """Write checkpoints with their lists and writes into another file; returns how many.

    All or none of them are written. They are as they were at one moment, and stay in the source.

    Raises:
        ValueError: the target is the source.
        sqlite3.Error: the target cannot be written, or is no database.
    """
    if Path(source).resolve() == Path(target).resolve():
        raise ValueError(f"expected another file than the saver's own, got {target}")
    count = 0
    with closing(connect(source)) as reading, closing(sqlite3.connect(target, isolation_level=None)) as writing:
        reading.execute("BEGIN")
        tuples = Tuples(reading, Cache(cache_messages), Lock())
        writing.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA:
            writing.execute(statement)
        for row in tuples.each(*condition):
            kind, checkpoint = row.type, row.checkpoint
            if row.lists is not None or row.large is not None:
                kind, checkpoint = serde.dumps_typed(tuples.checkpoint(row, serde))
            writing.execute(
                "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,"
                " type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*row.key, row.parent_checkpoint_id, kind, checkpoint, row.metadata),
            )
            writing.executemany(
                "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,"
                " channel, type, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row.key, *_whole(tuples, row, write, serde)) for write in tuples.writes(row)],
            )
            count += 1
        writing.execute("COMMIT")
    return count


def _whole(tuples: Tuples, row: Row, write: WriteRow, serde: SerializerProtocol) -> tuple[Any, ...]:
    """A write with its large values where they belong."""
    if write.large is not None:
        kind, value = serde.dumps_typed(tuples.value(row, write, serde))
        write = write._replace(type=kind, value=value)
    return write[:-1]
