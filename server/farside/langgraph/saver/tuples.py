"""Rows of the tables as LangGraph's checkpoint tuples."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple, PendingWrite, writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver.cache import Cache
from farside.langgraph.saver.items import Item
from farside.langgraph.saver.known import Channel
from farside.langgraph.saver.large import Encoded, decode
from farside.langgraph.saver.place import Place
from farside.langgraph.saver.ranges import Ranges, joined, load
from farside.langgraph.saver.rows import Row, WriteRow
from farside.langgraph.saver.snapshot import DeltaSnapshot
from farside.langgraph.saver.stock import StockTables

_COLUMNS = "c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, c.type, c.checkpoint, c.metadata"
_OURS = (
    f"SELECT {_COLUMNS}, c.lists, c.large, (SELECT t.number FROM farside_saver_threads AS t "  # noqa: S608 - constants only
    "WHERE t.thread_id = c.thread_id) FROM farside_saver_checkpoints AS c WHERE "
)
_STOCK = (
    f"SELECT {_COLUMNS}, NULL, NULL, NULL FROM checkpoints AS c WHERE NOT EXISTS ("  # noqa: S608 - constants only
    "SELECT 1 FROM farside_saver_checkpoints AS o WHERE o.thread_id = c.thread_id "
    "AND o.checkpoint_ns = c.checkpoint_ns AND o.checkpoint_id = c.checkpoint_id) AND "
)
_WRITES = "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"


class Tuples:
    """Reads one connection.

    Args:
        cache: what is known of the threads; looked at while ``lock`` is held, and not while the file is read.
    """

    def __init__(self, db: sqlite3.Connection, cache: Cache, lock: threading.Lock) -> None:
        self._db = db
        self._cache = cache
        self._lock = lock
        self._stock = StockTables.found(db)

    def rows(self, condition: str, parameters: Sequence[Any], limit: int | None = None) -> list[Row]:
        """The checkpoints that fulfil a condition on the columns of ``c``, newest first."""
        query, given = self._query(condition, parameters)
        query += " ORDER BY checkpoint_id DESC, thread_id DESC, checkpoint_ns DESC"
        if limit is not None:
            query, given = f"{query} LIMIT ?", [*given, limit]
        return [Row(*row) for row in self._db.execute(query, given)]

    def each(self, condition: str, parameters: Sequence[Any]) -> Iterator[Row]:
        """The same, thread by thread and oldest first: in the order of the tables, so that none is held in memory."""
        query, given = self._query(condition, parameters)
        found = self._db.execute(f"{query} ORDER BY thread_id, checkpoint_ns, checkpoint_id", given)
        return (Row(*row) for row in found)

    def row(self, thread_id: str, checkpoint_ns: str, checkpoint_id: str | None) -> Row | None:
        """One checkpoint, or the newest of its namespace; None when it is not there."""
        condition, parameters = "c.thread_id = ? AND c.checkpoint_ns = ?", [thread_id, checkpoint_ns]
        if checkpoint_id:
            condition, parameters = f"{condition} AND c.checkpoint_id = ?", [*parameters, checkpoint_id]
        return next(iter(self.rows(condition, parameters, 1)), None)

    def writes(self, row: Row) -> list[WriteRow]:
        """The pending writes of a checkpoint, in the order in which they are applied.

        Where both tables have a write, a task's own counts as it was stored first, and what says how a task ended (its
        number is below 0) as it was stored last.
        """
        columns = "task_id, task_path, idx, channel, type, value"
        ours = self._db.execute(f"SELECT {columns}, large FROM farside_saver_writes {_WRITES}", row.key)  # noqa: S608
        written = {(write.task_id, write.idx): write for write in (WriteRow(*each) for each in ours)}
        if self._stock is not None:
            columns = columns.replace("task_path", self._stock.path)
            for each in self._db.execute(f"SELECT {columns}, NULL FROM writes {_WRITES}", row.key):  # noqa: S608
                write = WriteRow(*each)
                if write.idx >= 0 or (write.task_id, write.idx) not in written:
                    written[write.task_id, write.idx] = write
        return sorted(written.values(), key=lambda write: writes_sort_key(write.task_path, write.task_id, write.idx))

    def pending(self, row: Row, serde: SerializerProtocol) -> list[PendingWrite]:
        """The same, decoded."""
        return [(each.task_id, each.channel, self.value(row, each, serde)) for each in self.writes(row)]

    def value(self, row: Row, write: WriteRow, serde: SerializerProtocol) -> Any:
        """What was written."""
        return decode(serde, write.type, write.value, self._large(row, write.large))

    def checkpoint(self, row: Row, serde: SerializerProtocol) -> Checkpoint:
        """The checkpoint of a row, with its lists."""
        checkpoint: Checkpoint = decode(serde, row.type, row.checkpoint, self._large(row, row.large))
        for channel, stored in load(row.lists).items():
            messages = self._messages(row, (row.checkpoint_ns, channel), stored.ranges, serde)
            value: Any = messages if stored.kind == "list" else DeltaSnapshot(messages)
            checkpoint["channel_values"][channel] = value
        return checkpoint

    def tuple(self, row: Row, serde: SerializerProtocol, config: RunnableConfig | None = None) -> CheckpointTuple:
        """Everything of a checkpoint.

        Args:
            config: the one that asked for this very checkpoint; LangGraph's savers return it.
        """
        parent = row.parent_checkpoint_id
        return CheckpointTuple(
            config or Place(*row.key).config(),
            self.checkpoint(row, serde),
            {} if row.metadata is None else json.loads(row.metadata),
            Place(row.thread_id, row.checkpoint_ns, parent).config() if parent else None,
            self.pending(row, serde),
        )

    def _query(self, condition: str, parameters: Sequence[Any]) -> tuple[str, list[Any]]:
        if self._stock is None:
            return _OURS + condition, [*parameters]
        return f"{_OURS}{condition} UNION ALL {_STOCK}{condition}", [*parameters, *parameters]

    # --- lists ---

    def _messages(self, row: Row, where: Channel, ranges: Ranges, serde: SerializerProtocol) -> list[Any]:
        loaded: dict[int, Item] = {}
        while True:
            with self._lock:
                known = self._cache.known(serde, row.thread_id, row.number)
                if (whole := known.whole(where, ranges)) is not None:
                    return [*whole]
                missing = [seq for seq in known.missing(ranges) if seq not in loaded]
                if not missing:
                    messages = known.read(where, ranges, loaded)
                    self._cache.trim(serde, row.thread_id)
                    return [*messages]
            loaded.update((item.seq, item) for item in self._load(row, missing, serde) if item.seq is not None)

    def _load(self, row: Row, seqs: Sequence[int], serde: SerializerProtocol) -> Iterator[Item]:
        """Decode the items of these numbers.

        Raises:
            RuntimeError: one of them is not in the file.
        """
        query = "SELECT seq, type, value, large FROM farside_saver_items WHERE number = ? AND seq >= ? AND seq < ?"
        runs = joined(sorted(seqs))
        found = chain.from_iterable(self._db.execute(query, (row.number, start, stop)) for start, stop in runs)
        left = set(seqs)
        for seq, kind, value, digests in found:
            left.discard(seq)
            values = self._large(row, digests)
            yield Item(decode(serde, kind, value, values), Encoded(kind, value, digests, values), seq)
        if left:
            raise _lacking(row, f"messages {sorted(left)}")

    # --- large values ---

    def _large(self, row: Row, digests: str | None) -> Mapping[str, bytes]:
        """Large values of a checkpoint's thread, by digest.

        Raises:
            RuntimeError: one of them is not in the file.
        """
        if digests is None:
            return {}
        query = (
            "SELECT digest, value FROM farside_saver_large WHERE thread_id = ?"
            " AND digest IN (SELECT value FROM json_each(?))"
        )
        found: dict[str, bytes] = dict(self._db.execute(query, (row.thread_id, digests)).fetchall())
        if left := sorted(set(json.loads(digests)) - found.keys()):
            raise _lacking(row, f"large values {left}")
        return found


def _lacking(row: Row, what: str) -> RuntimeError:
    return RuntimeError(
        f"thread {row.thread_id!r}, checkpoint {row.checkpoint_id}: expected the {what} in the file, they are not "
        "there; it was changed by another program"
    )
