"""A thread's history, as entries of its journal: one for each message, written once.

A run writes its messages under their index. What its server tools have returned is written beside them, under the ids
of the model's message and of the call, until the message that carries the returns is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse, RunUsage
from pydantic_ai.messages import FunctionToolResultEvent, ToolCallPart, ToolReturnPart, UserPromptPart

from farside.core.model import JournalEntry
from farside.core.ports import Leg


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of a history. ``ids``: how clients know it: a response's own id, or those of the user's messages that a
    request carries first."""

    message: ModelMessage
    ids: tuple[str, ...] = ()


def entry(thread_id: str, run_id: str, index: int, kept: Kept) -> JournalEntry:
    """The message as an entry; ``index``: its place among the run's messages."""
    value = {"ids": list(kept.ids), "message": _dump(kept.message)}
    return JournalEntry(thread_id, run_id, str(index), "message", kept.message.kind, value)


def kept_in(entries: Iterable[JournalEntry]) -> dict[str, list[Kept]]:
    """The messages among the entries, by run."""
    runs: dict[str, list[JournalEntry]] = {}
    for each in entries:
        if each.kind == "message":
            runs.setdefault(each.run_id, []).append(each)
    return {run_id: [_kept(each) for each in sorted(run, key=_index)] for run_id, run in runs.items()}


def is_over(mine: Sequence[Kept]) -> bool:
    """Whether a run that has written these messages has come to its end. It writes when tools are called, and then."""
    return bool(mine) and not calls_of(mine[-1].message)


def calls_of(message: ModelMessage) -> Sequence[ToolCallPart]:
    """The tool calls of a model's message."""
    return message.tool_calls if isinstance(message, ModelResponse) else ()


def usage_of(mine: Iterable[Kept]) -> RunUsage:
    """What the run has used so far."""
    usage = RunUsage()
    for kept in mine:
        if isinstance(kept.message, ModelResponse):
            usage.requests += 1
            usage.incr(kept.message.usage)
    return usage


# --- what server tools have returned ---


def step(message_id: str, call_id: str) -> str:
    """The position of what a tool has returned: the message that called it, and the call."""
    return f"{message_id}/{call_id}"


def finished(leg: Leg, position: str, event: FunctionToolResultEvent) -> JournalEntry:
    """The end of a server tool, as an entry."""
    parts = [event.part] if not event.content else [event.part, UserPromptPart(event.content)]
    return JournalEntry(leg.thread_id, leg.run_id, position, "step", event.part.tool_name, _dump(ModelRequest(parts)))


def finish_of(position: str, journal: Mapping[str, JournalEntry]) -> tuple[ToolReturnPart, Any] | None:
    """What :func:`finished` wrote: the return, and the content for the model beside it; None where there is nothing."""
    known = journal.get(position)
    if known is None or known.value is None:
        return None
    returned, *others = _load(known.value).parts
    beside = others[0].content if others and isinstance(others[0], UserPromptPart) else None
    return (returned, beside) if isinstance(returned, ToolReturnPart) else None


def _kept(each: JournalEntry) -> Kept:
    return Kept(_load(each.value["message"]), tuple(each.value["ids"]))


def _index(each: JournalEntry) -> int:
    return int(each.position)


def _dump(message: ModelMessage) -> bytes:
    return ModelMessagesTypeAdapter.dump_json([message])


def _load(data: bytes) -> ModelMessage:
    return ModelMessagesTypeAdapter.validate_json(data)[0]
