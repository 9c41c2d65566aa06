"""A conversation as messages, folded from a thread's stored events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from farside.core.model import Event


def fold(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The messages of a thread whose agent keeps no state of its own, in order, each ``{type, id, content}``."""
    messages: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.namespace:
            continue
        if event.method == "lifecycle" and event.data.get("event") == "running":
            for message in input_messages(event.data.get("input")):
                messages.setdefault(message["id"], message)
        elif event.method == "messages":
            _message(messages, event.data)
    return list(messages.values())


def unfinished(events: Iterable[Event], run_id: str) -> list[Event]:
    """The starts of a run's messages that have not ended."""
    started: dict[str, Event] = {}
    for event in events:
        if event.method != "messages" or event.run_id != run_id:
            continue
        if event.data["event"] == "message-start":
            started[event.data.get("message_id", "")] = event
        elif event.data["event"] in ("message-finish", "error"):
            started.pop(event.data.get("message_id", ""), None)
    return list(started.values())


def text_so_far(events: Sequence[Event]) -> str | None:
    """What an unfinished message has said, None when it has said nothing or does more than think and say something."""
    blocks = _blocks(events)
    if any(block["content"].get("type") not in ("text", "reasoning") for block in blocks.values()):
        return None
    text = "".join(_text(block) for block in blocks.values())
    return text if text.strip() else None


def ending(events: Sequence[Event], text: str | None) -> list[dict[str, Any]]:
    """The data of the events that end an unfinished message: with its text so far, or taking it back."""
    message_id = events[0].data["message_id"]
    if text is None:
        return [void(message_id)]
    finished: list[dict[str, Any]] = [
        {"event": "content-block-finish", "index": index, "content": {"type": "text", "text": _text(block)}}
        for index, block in _blocks(events).items()
        if block["event"] != "content-block-finish" and block["content"].get("type") == "text"
    ]
    return [{**data, "message_id": message_id} for data in (*finished, {"event": "message-finish"})]


def _blocks(events: Sequence[Event]) -> dict[int, dict[str, Any]]:
    """The blocks of a message by index, each as its start or its end says; ``said`` is what was added to the start."""
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        data = event.data
        if data["event"] in ("content-block-start", "content-block-finish"):
            blocks[data["index"]] = {**data, "said": ""}
        elif data["event"] == "content-block-delta" and data["index"] in blocks:
            blocks[data["index"]]["said"] += data["delta"].get("text", "")
    return blocks


def _text(block: dict[str, Any]) -> str:
    return block["content"].get("text", "") + block["said"]


def void(message_id: str) -> dict[str, Any]:
    """The data of the event that takes back an unfinished message."""
    broken = {"message": "this message was not finished and does not count", "code": "interrupted"}
    return {"event": "error", "message_id": message_id, **broken}


def input_messages(value: Any) -> list[dict[str, Any]]:
    """The messages in a run's input ``{"messages": [...]}``, those that have an id."""
    if not isinstance(value, dict):
        return []
    found = cast("dict[str, Any]", value).get("messages")
    if not isinstance(found, list):
        return []
    return [
        cast("dict[str, Any]", message)
        for message in cast("list[Any]", found)
        if isinstance(message, dict) and isinstance(cast("dict[str, Any]", message).get("id"), str)
    ]


def text_of(message: dict[str, Any]) -> str:
    """The text of a message whose content is a string or a list of content blocks."""
    content = message.get("content", "")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [cast("dict[str, Any]", block) for block in cast("list[Any]", content) if isinstance(block, dict)]
    return "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def _message(messages: dict[str, dict[str, Any]], data: dict[str, Any]) -> None:
    if data["event"] == "message-start":
        messages[data["id"]] = {"type": data["role"], "id": data["id"], "content": ""}
    elif data["event"] == "content-block-finish":
        message = messages.get(data.get("message_id", ""))
        if message is not None and data["content"].get("type") == "text":
            message["content"] += data["content"]["text"]
