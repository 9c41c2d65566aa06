"""A bus within one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from farside.core.model import Event
from farside.core.ports import Listener


class MemoryBus:
    """Implements :class:`farside.core.ports.Bus` with direct calls, in the order of joining."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = {}

    def publish(self, event: Event) -> None:
        for listener in tuple(self._listeners.get(event.thread_id, ())):
            listener(event)

    def listen(self, thread_id: str, listener: Listener) -> Callable[[], None]:
        self._listeners.setdefault(thread_id, []).append(listener)

        def stop() -> None:
            listeners = self._listeners.get(thread_id, [])
            if listener in listeners:
                listeners.remove(listener)
            if not listeners:
                self._listeners.pop(thread_id, None)

        return stop

    def listeners(self, thread_id: str) -> Sequence[Listener]:
        return tuple(self._listeners.get(thread_id, ()))

    def wanted(self, thread_id: str, method: str) -> bool:
        return any(listener.wants(method) for listener in self._listeners.get(thread_id, ()))
