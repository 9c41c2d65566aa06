"""A whole message as the events that a streamed one would have made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from langchain_core.messages import AIMessage

from farside.langgraph.plain import plain

_HEAVY = frozenset({"args", "base64", "data", "output", "transcript", "value", "annotations", "index"})
"""Fields that only the finished block carries."""


def message_events(message: AIMessage) -> Iterator[dict[str, Any]]:
    """``message-start``, for each content block its start, text and finish, and ``message-finish``."""
    yield {"event": "message-start", "role": "ai", "id": message.id}
    for index, block in enumerate(_blocks(message)):
        yield {"event": "content-block-start", "index": index, "content": _skeleton(block)}
        if delta := _delta(block):
            yield {"event": "content-block-delta", "index": index, "delta": delta}
        yield {"event": "content-block-finish", "index": index, "content": block}
    finish: dict[str, Any] = {"event": "message-finish"}
    if message.usage_metadata:
        finish["usage"] = plain(message.usage_metadata)
    if message.response_metadata:
        finish["metadata"] = plain(message.response_metadata)
    yield finish


def _blocks(message: AIMessage) -> list[dict[str, Any]]:
    """The content blocks in plain values; the tool calls whose arguments are no JSON, kept apart, come last."""
    blocks = cast("list[dict[str, Any]]", plain(message.content_blocks))
    shown = {block.get("id") for block in blocks if block["type"] == "invalid_tool_call"}
    invalid = cast("list[dict[str, Any]]", plain(message.invalid_tool_calls))
    return blocks + [{**call, "type": "invalid_tool_call"} for call in invalid if call.get("id") not in shown]


def _skeleton(block: dict[str, Any]) -> dict[str, Any]:
    """The block before its content has arrived."""
    kind = block["type"]
    if kind in ("text", "reasoning"):
        return {**{key: value for key, value in block.items() if key not in _HEAVY}, kind: ""}
    light = {key: value for key, value in block.items() if key not in _HEAVY}
    if kind in ("tool_call", "server_tool_call"):
        light["args"] = {}
    elif kind == "invalid_tool_call":
        light["args"] = None
    elif kind == "non_standard":
        light["value"] = {}
    return light


def _delta(block: dict[str, Any]) -> dict[str, Any] | None:
    kind = block["type"]
    if kind in ("text", "reasoning") and block.get(kind):
        return {"type": f"{kind}-delta", kind: block[kind]}
    return None
