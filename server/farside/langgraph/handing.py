"""Handing a conversation to another graph while calls of the same message have no answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import ToolCall, ToolMessage, convert_to_messages
from langgraph.types import Command

from farside.core.model import failure
from farside.langgraph.history import Answer, closed
from farside.langgraph.results import tool_message


def hands_over(output: Any) -> bool:
    """Whether a tool's output ends its graph and goes on in the one around it."""
    return isinstance(output, Command) and output.graph is Command.PARENT


def withdrawn(call: ToolCall) -> ToolMessage:
    """The tool message of a call whose graph was left; whether it had ended is not known there."""
    reason = "the conversation was handed over without waiting for the result of this call"
    return tool_message(call["name"], call["id"] or "", failure("cancelled", reason))


def handed_over(command: Command[Any], key: str, answer: Answer = withdrawn) -> Command[Any]:
    """The command, with a tool message for each call in its update's messages that has none (L6).

    LangGraph drops whatever else the step of the command was to write: the answers of its siblings, and their pauses.

    Args:
        key: where its update has the messages, if it is no list of them itself.
        answer: makes the tool message for a call.
    """
    update = cast("Any", command).update
    given = cast("dict[str, Any]", update).get(key) if isinstance(update, dict) else update
    if not isinstance(given, list):
        return command
    try:
        messages = convert_to_messages(cast("list[Any]", given))
    except (ValueError, NotImplementedError):  # an update of another kind
        return command
    whole = closed(messages, answer)
    return replace(command, update={**update, key: whole} if isinstance(update, dict) else whole)
