"""Tool results as what Pydantic AI gives the model."""

from __future__ import annotations

import re
from typing import Any

from pydantic_ai import BinaryContent, ToolReturn
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from farside.core.media import Medium, legible, medium
from farside.core.model import ToolResult, failure
from farside.errors import TOOL_CODES
from farside.wire.messages import Failure

_TOLD = re.compile(r"Error \((\w+)\): (.*)", re.DOTALL)


def told(result: Failure) -> str:
    """A failure as the model reads it: its code and its message."""
    return f"Error ({result.error.code}): {result.error.message}"


def failure_in(text: str) -> Failure:
    """The failure that a text tells of: the one of :func:`told`, or ``failed``."""
    found = _TOLD.fullmatch(text)
    return failure(found[1], found[2]) if found and found[1] in TOOL_CODES else failure("failed", text)


def answer(result: ToolResult) -> ToolReturn[Any] | ToolFailed:
    """A browser's result as the answer to a deferred call. ``ToolFailed`` is no value, and costs no retry."""
    return ToolFailed(told(result)) if isinstance(result, Failure) else ToolReturn(_content(result.value))


def tool_return(call: ToolCallPart, result: ToolResult) -> ToolReturnPart:
    """A browser's result as the return of a call in a history."""
    if isinstance(result, Failure):
        return ToolReturnPart(call.tool_name, told(result), call.tool_call_id, outcome="failed")
    return ToolReturnPart(call.tool_name, _content(result.value), call.tool_call_id)


def _content(value: Any) -> Any:
    """The value as a model may read it. Images and PDF files among it become files, which follow the value that says
    where they belong; a text file is its text, of other bytes the number is told."""
    files: list[BinaryContent] = []

    def shown(each: Medium) -> str:
        if (kind := each.kind) is None:
            return str(each) if (text := each.text) is None else text
        files.append(BinaryContent.narrow_type(BinaryContent(each.data, media_type=kind)))
        return f"{each} (shown below, {len(files)})"

    readable = legible(value, shown)
    if not files:
        return readable
    return files[0] if medium(value) is not None else [readable, *files]
