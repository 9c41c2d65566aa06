"""Tool results as LangChain tool messages."""

from __future__ import annotations

import json
from typing import Any, cast

from langchain_core.messages import ToolMessage

from farside.core.model import ToolResult
from farside.langgraph.plain import has_bytes, plain
from farside.wire.messages import Failure


def tool_message(name: str, tool_call_id: str, result: ToolResult) -> ToolMessage:
    """The tool message that tells the model how a call ended.

    A string is the content as it is, any other value as JSON. Bytes mean nothing to a model: the JSON names their size,
    and the whole value is the message's ``artifact``. A failure has ``status="error"`` and names code and message.
    """
    if isinstance(result, Failure):
        content = f"Error ({result.error.code}): {result.error.message}"
        return ToolMessage(content, name=name, tool_call_id=tool_call_id, status="error")
    value = result.value
    if isinstance(value, str):
        return ToolMessage(value, name=name, tool_call_id=tool_call_id)
    value = plain(value)
    content = json.dumps(_legible(value), ensure_ascii=False)
    return ToolMessage(content, name=name, tool_call_id=tool_call_id, artifact=value if has_bytes(value) else None)


def _legible(value: Any) -> Any:
    """The plain value with bytes replaced by a text that says how many they are."""
    if type(value) is bytes:
        return f"<{len(value)} bytes>"
    if type(value) is list:
        return [_legible(item) for item in cast("list[Any]", value)]
    if type(value) is dict:
        return {key: _legible(item) for key, item in cast("dict[str, Any]", value).items()}
    return value
