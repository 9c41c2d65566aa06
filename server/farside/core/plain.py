"""What a connection without our subprotocol hears: the Agent Streaming Protocol alone. Pure.

The official hooks know no channel ``calls``. What it tells reaches them as events that they do know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from farside.core.model import Call, Event

ENDS = frozenset({"completed", "failed", "interrupted"})
"""The lifecycle events that end a run."""

_RENAMED = re.compile(r"(.+)~[0-9]+")


def renamed(call: Call, seq: int) -> Call:
    """The call under names that are new in its thread, ``seq`` being its newest event: an official client executes what
    it is asked once, and ignores a name that it knows."""
    suffix = f"~{seq}"
    return replace(call, interrupt_id=call.interrupt_id + suffix, tool_call_id=call.tool_call_id + suffix)


def first_name(name: str) -> str | None:
    """The name before :func:`renamed`, None for one that cannot be a new one."""
    match = _RENAMED.fullmatch(name)
    return match and match[1]


def heard(event: Event) -> Sequence[Event]:
    """The events that tell a plain connection of this one."""
    if event.method == "calls":
        return _of_call(event)
    if event.method != "lifecycle":
        # The official clients see from the state which messages are gone.
        return () if event.method == "messages" and event.data["event"] == "message-removed" else (event,)
    # A queued run shows when it begins. The end of a run that another one replaces would end that one's submit().
    return () if event.data["event"] == "queued" or "replaced_by" in event.data else (event,)


def replayed(events: Sequence[Event], values: Event | None) -> list[Event]:
    """The events for a replay.

    The deltas of a finished block are missing in it, so its start has all of the text: the official clients do not read
    a text from the block's end. They read no more ``values`` when a run has ended, so the state comes before that.
    """
    finished = {
        (event.data.get("message_id"), event.data["index"]): event.data["content"]
        for event in events
        if event.method == "messages" and event.data["event"] == "content-block-finish"
    }
    whole = [_with_text(event, finished) for event in events]
    if values is not None:
        whole.insert(len(whole) - 1 if whole and ends_run(whole[-1]) else len(whole), values)
    return whole


def _with_text(event: Event, finished: Mapping[tuple[Any, int], dict[str, Any]]) -> Event:
    if event.method != "messages" or event.data["event"] != "content-block-start":
        return event
    start: dict[str, Any] = event.data["content"]
    kind = start["type"]
    whole = finished.get((event.data.get("message_id"), event.data["index"]), start)
    if kind not in ("text", "reasoning") or whole["type"] != kind:
        return event
    return replace(event, data={**event.data, "content": {**start, kind: whole.get(kind, "")}}, frames={})


def ends_run(event: Event) -> bool:
    """Whether the event ends a run: what it tells of the root."""
    return event.method == "lifecycle" and not event.namespace and event.data["event"] in ENDS


def begins_run(event: Event) -> bool:
    """Whether the event begins a run, or says that it goes on."""
    return event.method == "lifecycle" and not event.namespace and event.data["event"] == "running"


def waits(unsettled: Sequence[Call], seq: int) -> Event | None:
    """The event that tells of a run which waits for people's answers alone: it is interrupted to a plain client."""
    if not unsettled or any(call.kind == "tool" for call in unsettled):
        return None
    call = unsettled[-1]
    data = {"event": "interrupted", "run_id": call.run_id}
    at = call.opened_at
    return Event(call.thread_id, call.run_id, seq, "lifecycle", (), at, data, durable=False, part=":waits")


def _of_call(event: Event) -> Sequence[Event]:
    """The end of a call ends its card at once, before the agent goes on: a sibling may still be open. The hooks take
    a run that waits for one to be idle unless they hear that it is running."""
    data = event.data
    if data["event"] not in ("settled", "cancelled", "expired"):
        return ()
    told: list[Event] = []
    if data["tool_call_id"]:
        told.append(replace(event, method="tools", data=_end_of_tool(data), frames={}))
    if data["event"] != "cancelled":
        running = {"event": "running", "run_id": event.run_id}
        told.append(replace(event, method="lifecycle", data=running, part=":running", frames={}))
    return told


def _end_of_tool(data: dict[str, Any]) -> dict[str, Any]:
    head, result = {"tool_call_id": data["tool_call_id"]}, data["result"]
    if result["status"] == "success":
        return {"event": "tool-finished", **head, "output": result["value"]}
    return {"event": "tool-error", **head, "message": result["error"]["message"], "code": result["error"]["code"]}
