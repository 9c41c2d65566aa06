"""One transaction of the writer, which numbers what it stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from farside.langgraph.saver.items import Item
from farside.langgraph.saver.known import Known, Split
from farside.langgraph.saver.ranges import Ranges, joined


class Transaction:
    """A transaction that holds the file's write lock.

    What it numbers is told to nobody before it is committed: see :meth:`committed`.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._threads: dict[str, tuple[int, int]] = {}
        self._stored: dict[tuple[int, int], tuple[Known, int, dict[Item, int]]] = {}

    def thread(self, thread_id: str) -> tuple[int, int]:
        """A thread's number, and the next one for an item of it; the thread is made if it is not there."""
        thread = self._threads.get(thread_id) or self._find(thread_id)
        if thread is None:
            made = self.db.execute("INSERT INTO farside_saver_threads (thread_id) VALUES (?)", (thread_id,))
            assert made.lastrowid is not None  # noqa: S101 - an INSERT has just succeeded
            thread = (made.lastrowid, 0)
        self._threads[thread_id] = thread
        return thread

    def store(self, thread_id: str, known: Known, split: Split) -> Ranges:
        """Store what is new in a list; returns where its messages are."""
        number, free = self.thread(thread_id)
        _, _, seqs = self._stored.setdefault((id(known), number), (known, number, {}))
        listed: list[int] = []
        rows: list[tuple[int, int, str, bytes, str | None]] = []
        large: dict[str, bytes] = {}
        for item in split.rest:
            seq = item.seq if item.seq is not None else seqs.get(item)
            if seq is None:
                if item.encoded is None:
                    raise RuntimeError("expected the bytes of a message that is not stored yet")
                seq = seqs[item] = free
                free += 1
                rows.append((number, seq, *item.encoded[:3]))
                large.update(item.encoded.values)
            listed.append(seq)
        if rows:
            self.db.executemany("INSERT INTO farside_saver_items VALUES (?, ?, ?, ?, ?)", rows)
            self.store_large(thread_id, large)
            self._threads[thread_id] = (number, free)
        return joined(listed, split.ranges)

    def store_large(self, thread_id: str, values: Mapping[str, bytes]) -> None:
        """Store large values of a thread by their digests, those that it does not have."""
        if values:
            self.db.executemany(
                "INSERT OR IGNORE INTO farside_saver_large (thread_id, digest, value) VALUES (?, ?, ?)",
                [(thread_id, digest, value) for digest, value in values.items()],
            )

    def forget(self, thread_id: str) -> None:
        """The thread's number, or its items, have been changed."""
        self._threads.pop(thread_id, None)

    def committed(self) -> None:
        """Tell what was stored to those who know the threads."""
        for known, number, seqs in self._stored.values():
            known.stored(number, seqs)

    def _find(self, thread_id: str) -> tuple[int, int] | None:
        found: Sequence[int] | None = self.db.execute(
            "SELECT number, (SELECT COALESCE(MAX(seq) + 1, 0) FROM farside_saver_items AS i WHERE i.number = t.number)"
            " FROM farside_saver_threads AS t WHERE thread_id = ?",
            (thread_id,),
        ).fetchone()
        return None if found is None else (found[0], found[1])
