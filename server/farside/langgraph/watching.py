"""Whether a headless tool has paused, for the middleware around it: what lies between may have caught the pause."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from langgraph.errors import GraphInterrupt


@dataclass(slots=True)
class WatchedCall:
    """A call that is being executed, and its pause once it has paused."""

    tool_call_id: str | None
    pause: GraphInterrupt | None = None


watched_call: ContextVar[WatchedCall] = ContextVar("watched_call")
"""The call that the code runs for."""
