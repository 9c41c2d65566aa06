"""The tables of LangGraph's own SQLite savers, which are read where they are and written only to delete."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS checkpoints (
        thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '',
        checkpoint_id TEXT NOT NULL,
        parent_checkpoint_id TEXT,
        type TEXT,
        checkpoint BLOB,
        metadata BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
    )""",
    """CREATE TABLE IF NOT EXISTS writes (
        thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '',
        checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        task_path TEXT NOT NULL DEFAULT '',
        idx INTEGER NOT NULL,
        channel TEXT NOT NULL,
        type TEXT,
        value BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
    )""",
)
"""As langgraph-checkpoint-sqlite 3.1 makes them."""

_CHECKPOINT = {"thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "type", "checkpoint", "metadata"}
_WRITE = {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"}


@dataclass(frozen=True, slots=True)
class StockTables:
    """That they are in the file. ``path``: the column of a task's path; files of older versions have none."""

    path: str

    @staticmethod
    def found(db: sqlite3.Connection) -> StockTables | None:
        """The tables in a file, None when they are not there."""
        checkpoints, writes = (
            {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for table in ("checkpoints", "writes")
        )
        if not (checkpoints >= _CHECKPOINT and writes >= _WRITE):
            return None
        return StockTables("task_path" if "task_path" in writes else "''")
