"""Tool results as LangChain tool messages."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from langchain_core.messages import ToolMessage

from farside.core.media import Medium, legible, medium
from farside.core.model import ToolResult
from farside.langgraph.media import block_of
from farside.langgraph.plain import plain
from farside.wire.messages import Failure


def tool_message(name: str, tool_call_id: str, result: ToolResult) -> ToolMessage:
    """The tool message that tells the model how a call ended.

    A string is the content as it is, any other value as JSON. Images, PDF files and texts among it become content
    blocks, in their order, and the JSON says where they belong; other bytes mean nothing to a model: the JSON names
    their size, and the message's ``artifact`` is the value with them. A failure has ``status="error"`` and names code
    and message.
    """
    if isinstance(result, Failure):
        content = f"Error ({result.error.code}): {result.error.message}"
        return _message(content, name, tool_call_id, status="error")
    if isinstance(result.value, str):
        return _message(result.value, name, tool_call_id)
    value = plain(result.value)
    blocks: list[dict[str, Any]] = []
    hidden: list[Medium] = []

    def shown(each: Medium) -> str:
        if (block := block_of(each)) is None:
            hidden.append(each)
            return str(each)
        blocks.append(block)
        return f"{each} (shown below, {len(blocks)})"

    text = json.dumps(legible(value, shown), ensure_ascii=False)
    whole = medium(value)
    if not blocks:
        content = text
    elif whole is None:
        content = [{"type": "text", "text": text}, *blocks]
    else:
        content = [{"type": "text", "text": str(whole)}, *blocks] if whole.name else blocks
    return _message(content, name, tool_call_id, artifact=value if hidden else None)


def _message(content: Any, name: str, tool_call_id: str, **fields: Any) -> ToolMessage:
    # With an id from the start: LangGraph would give it one, and what was stored of it before would be another message.
    return ToolMessage(content, name=name, tool_call_id=tool_call_id, id=str(uuid4()), **fields)
