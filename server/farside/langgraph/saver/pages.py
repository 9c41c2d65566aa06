"""Checkpoints page by page: a thread may have thousands."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver.search import Condition
from farside.langgraph.saver.tuples import Row, Tuples

PAGE = 32
"""How many checkpoints one look at the file gives."""


class Pages:
    """What fulfils a condition, newest first. ``over``: there is no more."""

    def __init__(self, condition: Condition, limit: int | None = None) -> None:
        self._condition = condition
        self._left = None if limit is None or limit < 0 else limit  # as in SQL
        self._last: Row | None = None
        self.over = self._left == 0

    def tuples(self, tuples: Tuples, serde: SerializerProtocol) -> list[CheckpointTuple]:
        """The next page."""
        condition, parameters = self._condition
        given: list[Any] = list(parameters)
        if self._last is not None:
            condition += " AND (c.checkpoint_id, c.thread_id, c.checkpoint_ns) < (?, ?, ?)"
            given += [self._last.checkpoint_id, self._last.thread_id, self._last.checkpoint_ns]
        size = PAGE if self._left is None else min(PAGE, self._left)
        rows = tuples.rows(condition, given, size)
        if self._left is not None:
            self._left -= len(rows)
        self.over = len(rows) < size or self._left == 0
        self._last = rows[-1] if rows else None
        return [tuples.tuple(row, serde) for row in rows]
