"""A thread's history, as entries of its journal: one for each message, written once.

A run writes its messages under their index. What its server tools have returned is written beside them, under the ids
of the model's message and of the call, until the message that carries the returns is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, cast

from pydantic_ai import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse, RunUsage, UserContent
from pydantic_ai.messages import ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_core import from_json, to_json

from farside.core.model import JournalEntry
from farside.core.ports import Leg

_SMALL = 8192
"""Up to how many bytes a message is kept in memory."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A message of a history. ``ids``: how clients know it: a response's own id, or those of the user's messages that a
    request carries first. ``usage``: what the run had used when a response was there, as :func:`usage_at` writes it."""

    message: ModelMessage
    ids: tuple[str, ...] = ()
    usage: bytes | None = None


def entry(thread_id: str, run_id: str, index: int, kept: Kept) -> JournalEntry:
    """The message as an entry; ``index``: its place among the run's messages."""
    value: dict[str, Any] = {"ids": list(kept.ids), "message": _dump(kept.message)}
    if kept.usage is not None:
        value["usage"] = kept.usage
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


def usage_at(usage: RunUsage) -> bytes:
    """What a run has used, as of now."""
    return to_json({name: value for name, value in vars(usage).items() if value})


def usage_of(mine: Sequence[Kept]) -> RunUsage:
    """What the run had used when its newest response was there: what its tools have used, too."""
    known = (kept.usage for kept in reversed(mine) if kept.usage is not None)
    used: dict[str, Any] = from_json(next(known, b"{}"))
    cost = used.pop("cost", None)
    return RunUsage(**used, cost=None if cost is None else Decimal(cost))


# --- what server tools have returned ---


def step(message_id: str, call_id: str) -> str:
    """The position of what a tool has returned: the message that called it, and the call."""
    return f"{message_id}/{call_id}"


def finished(leg: Leg, position: str, part: ToolReturnPart, beside: str | Sequence[UserContent] | None) -> JournalEntry:
    """The end of a server tool, as an entry; ``beside``: content for the model that comes with it."""
    parts = [part] if not beside else [part, UserPromptPart(beside)]
    return JournalEntry(leg.thread_id, leg.run_id, position, "step", part.tool_name, _dump(ModelRequest(parts)))


def finish_of(position: str, journal: Mapping[str, JournalEntry]) -> tuple[ToolReturnPart, Any] | None:
    """What :func:`finished` wrote: the return, and the content for the model beside it; None where there is nothing."""
    known = journal.get(position)
    if known is None or known.value is None:
        return None
    returned, *others = _load(known.value).parts
    beside = others[0].content if others and isinstance(others[0], UserPromptPart) else None
    return (returned, beside) if isinstance(returned, ToolReturnPart) else None


def _kept(each: JournalEntry) -> Kept:
    return Kept(_load(each.value["message"]), tuple(each.value["ids"]), each.value.get("usage"))


def _index(each: JournalEntry) -> int:
    return int(each.position)


def _dump(message: ModelMessage) -> bytes:
    return ModelMessagesTypeAdapter.dump_json([message])


def _load(data: bytes) -> ModelMessage:
    """The message, as an object of the caller's own: a history processor may change it."""
    found = _read_once(data) if len(data) <= _SMALL else _read(data)
    message = _copy(found)
    message.parts = [_copy(part) for part in found.parts]
    return message


def _read(data: bytes) -> ModelMessage:
    return ModelMessagesTypeAdapter.validate_json(data)[0]


# A history is read at each leg. What is known by its bytes cannot be out of date, whoever has written it.
_read_once = lru_cache(maxsize=8192)(_read)


def _copy(value: Any) -> Any:
    """As :func:`copy.copy`, which takes seven times as long."""
    made: Any = object.__new__(cast("type[Any]", type(value)))
    cast("dict[str, Any]", made.__dict__).update(value.__dict__)
    return made
