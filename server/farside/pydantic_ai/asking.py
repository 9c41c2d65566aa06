"""Deferred calls as the engine's calls, and their answers back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ToolCallPart

from farside.core.model import Call, ToolResult
from farside.core.ports import NewCall
from farside.pydantic_ai.messages import args_of
from farside.pydantic_ai.plain import plain
from farside.pydantic_ai.results import answer, told
from farside.tools import HeadlessTool
from farside.wire.messages import Failure


def interrupt_id(message_id: str, calls: Iterable[str], call: ToolCallPart) -> str:
    """The engine's name for a call: the message that made it, and its place among the message's ``calls``, which is not
    as long as its id may be; a call that a tool has made beside them goes by its id."""
    order = list(calls)
    return f"{message_id}/{order.index(call.tool_call_id) if call.tool_call_id in order else call.tool_call_id}"


def new_call(
    name: str,
    call: ToolCallPart,
    requests: DeferredToolRequests,
    tool: HeadlessTool | None,
    checked: Mapping[str, Any] | None,
) -> NewCall:
    """A deferred call as the engine takes it: a tool call; or a question, where somebody is to approve or to answer.

    Args:
        name: the interrupt id.
        tool: the called tool's declaration, None for one of another's.
        checked: the arguments as they passed the checks, the agent's hooks included; None for the model's own.

    Raises:
        ValueError: the arguments of another toolset's tool, which checks nothing, are no object in the data model.
    """
    kind = requests.kind(call.tool_call_id)
    if kind != "external":
        args = args_of(call) or {}
        asked = {"type": kind, "tool_call": {"id": call.tool_call_id, "name": call.tool_name, "args": args}}
        if metadata := requests.metadata.get(call.tool_call_id):
            asked["metadata"] = plain(metadata)
        return NewCall(name, "input", "", "", {"payload": asked})
    args: Any = plain(checked) if checked is not None else args_of(call) or {}
    if not isinstance(args, dict):
        raise ValueError(f"tool {call.tool_name}: expected an object as arguments, got {args!r:.200}")
    args = cast("dict[str, Any]", args)
    if tool is None:
        return NewCall(name, "tool", call.tool_call_id, call.tool_name, args)
    return NewCall(
        name,
        "tool",
        call.tool_call_id,
        tool.name,
        args,
        title=tool.title,
        idempotent=tool.idempotent,
        timeout=tool.timeout,
    )


def is_return(call: Call) -> bool:
    """Whether a call's result is the tool's return; an approval's is not, the tool is only run then."""
    return call.kind == "tool" or call.args["payload"]["type"] == "question"


def answers(requests: DeferredToolRequests, results: Mapping[str, ToolResult]) -> DeferredToolResults:
    """What the calls ended with, by tool call id, as Pydantic AI takes it."""
    return DeferredToolResults(
        calls={call.tool_call_id: answer(results[call.tool_call_id]) for call in requests.calls},
        approvals={call.tool_call_id: _decision(results[call.tool_call_id]) for call in requests.approvals},
    )


def deferred(requests: DeferredToolRequests) -> Iterable[ToolCallPart]:
    """All calls that are asked for."""
    return (*requests.calls, *requests.approvals)


def _decision(result: ToolResult) -> ToolApproved | ToolDenied:
    """``true`` approves, and so does ``{"approved": true}``; anything else denies, ``message`` says why."""
    if isinstance(result, Failure):
        return ToolDenied(told(result))
    given: Any = result.value
    decided = cast("dict[str, Any]", given) if isinstance(given, dict) else {"approved": given}
    if decided.get("approved") is True:
        return ToolApproved()
    message = decided.get("message")
    return ToolDenied(message) if isinstance(message, str) else ToolDenied()
