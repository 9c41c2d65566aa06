"""What a headless tool and the middleware around its call know of each other, whatever lies between them."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph.errors import GraphInterrupt

from farside.langgraph.private import running_task

if TYPE_CHECKING:
    from farside.langgraph.headless import HeadlessTool


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause, the headless tool that has made it, and the arguments that the page is asked with."""

    error: GraphInterrupt
    tool: HeadlessTool
    args: dict[str, Any]


@dataclass(slots=True)
class WatchedCall:
    """A call of the model's that is being executed.

    ``left_out``: the name of the tool that the model has called if it was not offered that one.
    ``pause``: set once it has paused; what lies between may catch that.
    """

    left_out: str | None
    pause: Pause | None = None
    task: object = field(default_factory=running_task)


watched_call: ContextVar[WatchedCall] = ContextVar("watched_call")
"""The call that the code runs for, or one around it: a tool may run another agent."""


def watched() -> WatchedCall | None:
    """The call that the running task executes, None if nothing watches it."""
    call = watched_call.get(None)
    return call if call is not None and call.task is running_task() else None
