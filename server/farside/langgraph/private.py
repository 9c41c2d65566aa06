"""What this package needs of LangGraph and has no public name for: all of it, and nothing else, is here."""

from __future__ import annotations

from typing import Any, cast

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.config import get_config

_CALL = "__pregel_call"
"""A node's ``configurable`` has under this key what runs a ``@task`` in it."""

_SCRATCHPAD = "__pregel_scratchpad"
"""A task's answers: ``interrupt()`` reads ``resume`` there."""


_RETURN = "__return__"
"""The channel of what a ``@task`` has returned, among the writes that wait for the end of a step."""


def returned_by_tasks(saved: CheckpointTuple) -> list[Any]:
    """What the ``@task`` functions have returned whose node has not ended."""
    return [value for _, channel, value in saved.pending_writes or () if channel == _RETURN]


def may_call_tasks() -> bool:
    """Whether the code runs in a node of a graph, which may call functions that are decorated with ``@task``."""
    return _CALL in _configurable()


def answers_of_task() -> list[Any] | None:
    """The answers that the running task was resumed with, None outside of a graph."""
    scratchpad = _configurable().get(_SCRATCHPAD)
    return None if scratchpad is None else cast("list[Any]", getattr(scratchpad, "resume", []))


def _configurable() -> dict[str, Any]:
    try:
        return get_config().get("configurable", {})
    except RuntimeError:
        return {}
