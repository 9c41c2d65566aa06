"""What is known of the threads that were used last."""

from __future__ import annotations

from dataclasses import dataclass, field

from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver.known import Known


@dataclass(slots=True)
class _Entry:
    serde: SerializerProtocol  # kept alive: its identity is part of the key
    known: Known = field(default_factory=Known)
    counted: int = 0


class Cache:
    """What is known of threads, of at most ``limit`` messages in all of them; the thread used longest ago goes first.

    The thread that is in use stays, however long it is: what is forgotten of a thread is stored anew when it goes on.
    A message with large values counts as several, a thread without messages as one. What one serializer decoded is not
    shown to another: they may differ in what they allow. Not safe for use by several threads at once.

    Args:
        limit: 0 to keep nothing.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        self._entries: dict[tuple[int, str], _Entry] = {}

    def __len__(self) -> int:
        return self._count

    def known(self, serde: SerializerProtocol, thread_id: str, number: int | None = None) -> Known:
        """What is known of a thread.

        Args:
            number: the incarnation that it must be about: what is known of an older one is forgotten, and of a newer
                one left alone.
        """
        key = (id(serde), thread_id)
        entry = self._entries.pop(key, None)
        if entry is None or entry.known.outdated:
            self._count -= entry.counted if entry else 0
            entry = _Entry(serde)
        self._entries[key] = entry
        if number is not None and entry.known.number != number:
            if entry.known.number is None:
                entry.known.number = number
            elif entry.known.number < number:
                entry.known = Known(number)
                self._count -= entry.counted
                entry.counted = 0
            else:
                return Known(number)
        return entry.known

    def holds(self, serde: SerializerProtocol, thread_id: str) -> bool:
        """Whether anything is known of a thread."""
        return (id(serde), thread_id) in self._entries

    def drop(self, thread_id: str) -> None:
        """Forget what is known of a thread."""
        for key in [key for key in self._entries if key[1] == thread_id]:
            self._count -= self._entries.pop(key).counted

    def trim(self, serde: SerializerProtocol, thread_id: str) -> None:
        """Count a thread's messages again, and forget others until the limit is kept."""
        entry = self._entries.get((id(serde), thread_id))
        if entry is not None:
            weight = max(1, entry.known.weight)
            self._count += weight - entry.counted
            entry.counted = weight
        while self._count > self._limit and (len(self._entries) > 1 or not self._limit):
            self._count -= self._entries.pop(next(iter(self._entries))).counted
