"""Calls and events to begin a test with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from farside.core.model import Call, Event

NOW = 1_700_000_000_000

OPEN = Call(
    thread_id="thread-1",
    run_id="run-1",
    interrupt_id="interrupt-1",
    kind="tool",
    tool_call_id="call-1",
    name="get_location",
    args={"high": True},
    opened_at=NOW,
)


def call(**changes: Any) -> Call:
    """An open tool call, changed."""
    return replace(OPEN, **changes)


def question(**changes: Any) -> Call:
    """An open question of the agent's own."""
    return call(**{"kind": "input", "tool_call_id": "", "name": "", "args": {"payload": "Sure?"}, **changes})


def event(seq: int, method: str = "messages", **changes: Any) -> Event:
    """An event of thread-1, changed."""
    made = Event("thread-1", "run-1", seq, method, (), NOW + seq, {"event": "message-finish"})
    return replace(made, **changes)
