"""Whether a client is still there: pure. Time belongs to the caller."""

from __future__ import annotations

from typing import Literal

CLOSE_SILENT = 4000
"""The WebSocket close code for a client that gives no sign of life."""


class Liveness:
    """Asks a client for signs of life, and gives it up.

    Silence counts only after a question: a server that slept has not asked either.

    Args:
        ping_ms: how long between two questions; so the client is given up after a silence of one to two times that.
    """

    def __init__(self, now: int, ping_ms: int) -> None:
        self._ping_ms = ping_ms
        self._is_asked = False
        self.wake_at = now + ping_ms
        """When :meth:`tick` has something to do."""

    def heard(self) -> None:
        """The client said something."""
        self._is_asked = False

    def tick(self, now: int) -> Literal["wait", "ask", "give up"]:
        """Time has passed."""
        if now < self.wake_at:
            return "wait"
        self.wake_at = now + self._ping_ms
        if self._is_asked:
            return "give up"
        self._is_asked = True
        return "ask"
