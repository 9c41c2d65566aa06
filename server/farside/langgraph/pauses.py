"""LangGraph's interrupts as the engine's calls, and settled calls as resume values.

An interrupt's id is unique in its thread: LangGraph makes it from the checkpoint, the task and how many answers the
task already has. So the engine's calls bear it as it is, and an answer whose id is still pending was not taken yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langgraph.types import Interrupt

from farside.core.model import Call
from farside.core.ports import NewCall
from farside.langgraph.answers import pack
from farside.langgraph.plain import plain
from farside.tools import HeadlessTool
from farside.wire.messages import Success


def new_call(interrupt: Interrupt[Any], declaration: Callable[[str], HeadlessTool | None]) -> NewCall:
    """The pause as the engine takes it: a tool call when the payload is one, else a question of the agent's own.

    Args:
        declaration: finds a declared tool by its name; it knows timeout, idempotence and title.
    """
    call = _tool_call(interrupt.value)
    if call is None:
        return NewCall(interrupt.id, "input", "", "", {"payload": plain(interrupt.value)})
    known = declaration(call["name"])
    if known is None:
        return NewCall(interrupt.id, "tool", call["id"], call["name"], plain(call["args"]))
    return NewCall(
        interrupt.id,
        "tool",
        call["id"],
        call["name"],
        plain(call["args"]),
        title=known.title,
        idempotent=known.idempotent,
        timeout=known.timeout,
    )


def is_tool_call(interrupt: Interrupt[Any]) -> bool:
    """Whether the pause asks a page for a tool call."""
    return _tool_call(interrupt.value) is not None


def resume_value(call: Call) -> Any:
    """What the pause's ``interrupt()`` returns for a settled call."""
    if call.result is None:
        raise ValueError(f"expected a settled call, {call.interrupt_id} is {call.state}; answer it first")
    if call.kind == "tool":
        return pack(call.tool_call_id, call.result)
    if isinstance(call.result, Success):
        return call.result.value
    return {"error": call.result.error.model_dump()}


def _tool_call(payload: Any) -> dict[str, Any] | None:
    """The tool call in a payload ``{"type": "tool", "tool_call": {"id", "name", "args"}}``, None when it is no such."""
    if not isinstance(payload, dict):
        return None
    fields = cast("dict[str, Any]", payload)
    call = fields.get("tool_call")
    if fields.get("type") != "tool" or not isinstance(call, dict):
        return None
    call = cast("dict[str, Any]", call)
    fits = isinstance(call.get("id"), str) and isinstance(call.get("name"), str) and isinstance(call.get("args"), dict)
    return call if fits and call["name"] else None
