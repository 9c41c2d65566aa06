"""A headless tool, a model that calls it beside others, and what came of a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage

from farside.langgraph import tool
from farside.testing import FakeBrowser
from server.tests.langgraph.scripted import Streaming, call, once

ANY_ARGS = {"type": "object", "additionalProperties": True}
ASK = tool(name="ask", description="Ask the page.", args_schema=ANY_ARGS, timeout=600)
"""The headless tool; the page of a turn answers it with ``"here"`` unless it is given another body."""


def here(**args: Any) -> str:
    """The body of ``ask``."""
    return "here"


class Counted:
    """A server tool ``count`` that counts how often it ran."""

    def __init__(self) -> None:
        self.times = 0

        @tool
        def count() -> str:
            """Count."""
            self.times += 1
            return "counted"

        self.tool = count


def beside(*calls: ToolCall) -> Streaming:
    """A model that calls ``ask``, and these tools in the same message."""
    return Streaming(script=once(call("ask", "ask"), *calls))


def tool_messages(messages: list[BaseMessage]) -> dict[str, ToolMessage]:
    """The tool messages among these, by tool call id."""
    return {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}


def told(model: Any) -> dict[str, Any]:
    """The contents that the model was told last, by tool call id."""
    return {call_id: message.content for call_id, message in tool_messages(model.seen[-1]).items()}


def bound(model: Any) -> list[str]:
    """The names of the tools that the model was offered last."""
    return [each["name"] if isinstance(each, dict) else each.name for each in model._tools]


@dataclass
class Turn:
    """A turn that has ended. ``ended``: its last lifecycle event; ``messages``: the thread's, a whole history."""

    page: FakeBrowser
    ended: dict[str, Any]
    messages: list[BaseMessage]

    @property
    def results(self) -> dict[str, ToolMessage]:
        """The thread's tool messages by tool call id."""
        return tool_messages(self.messages)

    @property
    def asked(self) -> list[str]:
        """The tools whose bodies ran in the page, in order."""
        return [name for name, _ in self.page.executions]

    def events(self, method: str) -> list[dict[str, Any]]:
        """The data of the events of one method that reached the page."""
        return [event["params"]["data"] for event in self.page.events if event["method"] == method]
