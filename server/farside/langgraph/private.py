"""What this package needs of LangGraph and has no public name for: all of it, and nothing else, is here."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import ToolCall
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.config import get_config
from langgraph.pregel._io import (  # pyright: ignore[reportMissingTypeStubs]
    map_command,  # pyright: ignore[reportUnknownVariableType]
)
from langgraph.types import Command

_CALL = "__pregel_call"
"""A node's ``configurable`` has under this key what runs a ``@task`` in it."""

_SEND = "__pregel_send"
"""What writes to the state before a task ends."""

_SCRATCHPAD = "__pregel_scratchpad"
"""A task's answers: ``interrupt()`` reads ``resume`` there."""

_KIND = "__type"
"""The key that tells an input of LangGraph's ``ToolNode`` from a state."""

_RETURN = "__return__"
"""The channel of what a ``@task`` has returned, among the writes that wait for the end of a step."""


def returned_by_tasks(saved: CheckpointTuple) -> list[Any]:
    """What the ``@task`` functions have returned whose node has not ended."""
    return [value for _, channel, value in saved.pending_writes or () if channel == _RETURN]


def is_stored(command: Command[Any], saved: CheckpointTuple) -> bool:
    """Whether LangGraph has begun to carry the command out: all that it writes waits with the checkpoint."""
    waiting = list(saved.pending_writes or ())
    return all(write in waiting for write in map_command(command))


def call_in_state(call: ToolCall, state: Any) -> dict[str, Any]:
    """The input with which LangGraph's ``ToolNode`` runs one call and has its tool see the state."""
    return {_KIND: "tool_call_with_context", "tool_call": call, "state": state}


def is_call_in_state(given: Any) -> bool:
    """Whether the input is such a call, as ``create_agent`` sends it."""
    return isinstance(given, dict) and _KIND in given


def may_call_tasks() -> bool:
    """Whether the code runs in a node of a graph, which may call functions that are decorated with ``@task``."""
    return _CALL in _configurable()


def running_task() -> object:
    """What is the same object for all code of the running task and for no other's; None outside of a graph."""
    return _configurable().get(_SCRATCHPAD)


def answers_of_task() -> list[Any] | None:
    """The answers that the running task was resumed with, None outside of a graph."""
    scratchpad = _configurable().get(_SCRATCHPAD)
    return None if scratchpad is None else cast("list[Any]", getattr(scratchpad, "resume", []))


def write_if_task_ends(key: str, value: Any) -> None:
    """Write to a key of the state if the running task ends; a task that pauses writes nothing."""
    _configurable()[_SEND]([(key, value)])


def _configurable() -> dict[str, Any]:
    try:
        return get_config().get("configurable", {})
    except RuntimeError:
        return {}
