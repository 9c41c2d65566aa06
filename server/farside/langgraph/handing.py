"""Handing a conversation to another graph while calls of the same message have no answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage
from langgraph.types import Command

from farside.core.model import failure
from farside.langgraph.history import closed
from farside.langgraph.results import tool_message

Answer = Callable[[ToolCall], ToolMessage]


def hands_over(output: Any) -> bool:
    """Whether a tool's output ends its graph and goes on in the one around it."""
    return isinstance(output, Command) and output.graph is Command.PARENT


def withdrawn(call: ToolCall) -> ToolMessage:
    """The tool message of a call whose graph was left before it was answered."""
    reason = "the conversation was handed over before this call was answered"
    return tool_message(call["name"], call["id"] or "", failure("cancelled", reason))


def handed_over(command: Command[Any], key: str, answer: Answer = withdrawn) -> Command[Any]:
    """The command, with a tool message for each call in its update's messages that has none (L6).

    LangGraph drops whatever else the step of the command was to write: the answers of its siblings, and their pauses.

    Args:
        key: where its update has the messages.
        answer: makes the tool message for a call.
    """
    update = cast("Any", command).update
    messages = cast("dict[str, Any]", update).get(key) if isinstance(update, dict) else None
    if not isinstance(messages, list) or not all(isinstance(each, BaseMessage) for each in cast("list[Any]", messages)):
        return command
    return replace(command, update={**update, key: closed(cast("list[BaseMessage]", messages), answer)})
