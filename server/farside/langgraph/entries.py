"""How a leg enters its graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import Command, Send

from farside.core.model import Call
from farside.core.ports import Directive
from farside.langgraph.graph import END
from farside.langgraph.pauses import resume_value
from farside.langgraph.private import is_stored


@dataclass(frozen=True, slots=True)
class Entry:
    """What the graph is entered with. ``resumed``: the tool call ids of the calls it answers. ``checkpoint_id``: where,
    None for where the thread stands."""

    input: Any
    resumed: tuple[str, ...] = ()
    checkpoint_id: str | None = None


def resume(calls: Iterable[Call], directives: Mapping[str, Directive], saved: CheckpointTuple | None = None) -> Entry:
    """The entry that answers pauses.

    Args:
        directives: what came with the answers, by interrupt id.
        saved: the checkpoint, where the process that was to carry the directives out has died: what LangGraph has
            stored with it would be done twice.
    """
    settled = tuple(calls)
    if not settled:
        raise ValueError("expected the answers of the last pause, got none; LangGraph would do nothing")
    answers = {call.interrupt_id: resume_value(call) for call in settled}
    due = [directives[call.interrupt_id] for call in settled if call.interrupt_id in directives]
    if saved is not None:
        due = [directive for directive in due if not is_stored(_command([directive]), saved)]
    command = _command(due, answers)
    return Entry(command, tuple(call.tool_call_id for call in settled if call.kind == "tool"))


def _command(directives: Sequence[Directive], resume: Mapping[str, Any] | None = None) -> Command[Any]:
    updates = [update for directive in directives for update in directive.update.items()]
    goto = [_target(target) for directive in directives for target in directive.goto if target != END]
    return Command(resume=resume, update=updates or None, goto=goto)


def _target(target: str | Mapping[str, Any]) -> str | Send:
    return target if isinstance(target, str) else Send(str(target["node"]), target.get("input"))
