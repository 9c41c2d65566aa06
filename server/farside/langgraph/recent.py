"""What a runtime remembers of the threads it saw last. Forgetting costs time or a repeated event, never correctness."""

from __future__ import annotations

from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by thread id, of the ``limit`` threads that were noted last."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._values: dict[str, Value] = {}

    def note(self, thread_id: str, value: Value) -> None:
        """Remember a thread's value in place of an older one."""
        self._values.pop(thread_id, None)
        self._values[thread_id] = value
        if len(self._values) > self._limit:
            del self._values[next(iter(self._values))]

    def take(self, thread_id: str) -> Value | None:
        """Give a thread's value, and forget it; None when there is none."""
        return self._values.pop(thread_id, None)
