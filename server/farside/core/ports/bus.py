"""Who hears of what happens on a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from farside.core.model import (
    Call,
    Event,
)
from farside.core.routing import Mismatch, Presence


class Listener(Protocol):
    """A connection's ear on a thread. Its methods are called synchronously and must not block."""

    @property
    def plain(self) -> bool:
        """The connection has no farside subprotocol: it hears ``input.requested`` when it is chosen."""
        ...

    @property
    def client_id(self) -> str:
        """Who the connection speaks for: its client, or for a plain connection itself."""
        ...

    def speak_for(self, client_id: str) -> None:
        """The connection is that of a client which had another one before."""
        ...

    @property
    def presence(self) -> Presence | None:
        """What its page can do now; None for one that cannot take calls: it said nothing, or does not listen."""
        ...

    def __call__(self, event: Event) -> None: ...

    def wants(self, method: str) -> bool:
        """Whether the connection would see events of this method (saves making what nobody wants)."""
        ...

    def offer(self, call: Call, seq: int, *, again: bool = False) -> None:
        """The call is now this plain connection's. ``again``: its page may have been told of it before."""
        ...

    def mismatched(self, call: Call, mismatch: Mismatch) -> None:
        """The page has the call's tool with other schemas than the server's: it is not offered the call."""
        ...

    @property
    def is_retired(self) -> bool:
        """Whether another connection speaks for the client now."""
        ...

    def retire(self) -> None:
        """Another connection speaks for the client now: nothing more of this one is carried out."""
        ...

    def hang_up(self, code: int, reason: str) -> None:
        """End the connection, with a WebSocket close code."""
        ...


class Bus(Protocol):
    """Carries a thread's events to its listeners."""

    def publish(self, event: Event) -> None: ...

    def listen(self, thread_id: str, listener: Listener) -> Callable[[], None]:
        """Hear every later event of the thread; returns what ends it."""
        ...

    def listeners(self, thread_id: str) -> Sequence[Listener]:
        """Who listens in this process, in the order of joining."""
        ...

    def wanted(self, thread_id: str, method: str) -> bool:
        """Whether any listener wants events of this method."""
        ...
