"""The rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from farside.langgraph.saver.transaction import Transaction

Key = tuple[str, str, str]
"""A checkpoint's thread, namespace and id."""


class Row(NamedTuple):
    """A checkpoint as it is stored.

    ``lists`` and ``number``: where its messages are; ``large``: the digests of its large values. None in a stock row.
    """

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str
    parent_checkpoint_id: str | None
    type: str
    checkpoint: bytes
    metadata: bytes | str | None
    lists: str | None
    large: str | None
    number: int | None

    @property
    def key(self) -> Key:
        return self.thread_id, self.checkpoint_ns, self.checkpoint_id


class WriteRow(NamedTuple):
    """A pending write as it is stored."""

    task_id: str
    task_path: str
    idx: int
    channel: str
    type: str
    value: bytes
    large: str | None


def put(transaction: Transaction, row: Row) -> None:
    """Store a checkpoint in place of an older one of the same id."""
    transaction.db.execute(
        "INSERT OR REPLACE INTO farside_saver_checkpoints (thread_id, checkpoint_ns, checkpoint_id,"
        " parent_checkpoint_id, type, checkpoint, metadata, lists, large) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row[:9],
    )


def put_writes(transaction: Transaction, rows: Iterable[tuple[Any, ...]], *, replacing: bool) -> None:
    """Store writes, each a checkpoint's key and a :class:`WriteRow`.

    Args:
        replacing: whether they replace what is there of the same task and number.
    """
    verb = "REPLACE" if replacing else "IGNORE"
    transaction.db.executemany(
        f"INSERT OR {verb} INTO farside_saver_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, "  # noqa: S608
        "task_path, idx, channel, type, value, large) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
