"""A conversation as messages, folded from a thread's stored events."""

from __future__ import annotations

from collections.abc import Iterable
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
