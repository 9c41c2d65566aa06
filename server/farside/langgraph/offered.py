"""Which tools the model was offered, whatever other middleware has left of them or added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool

from farside.langgraph.headless import HeadlessTool

Tool = BaseTool | dict[str, Any]


class Offer:
    """The tools of one model call.

    Args:
        allows: whether the model may be offered a headless tool.
    """

    def __init__(self, allows: Callable[[HeadlessTool], bool]) -> None:
        self._allows = allows
        self._read: Sequence[Tool] | None = None

    def read(self, tools: Sequence[Tool]) -> list[Tool]:
        """What is left of the tools. The agent reads them when it calls the model, after all middleware."""
        self._read = [each for each in tools if not isinstance(each, HeadlessTool) or self._allows(each)]
        return list(self._read)

    def left_out(self, answer: Sequence[BaseMessage]) -> dict[str, str]:
        """The names of tools that are called and were not among those read last, by tool call id.

        Empty if none were read: something has answered in the place of the model.
        """
        if self._read is None:
            return {}
        offered = {each.name for each in self._read if isinstance(each, BaseTool)}
        calls = [call for message in answer if isinstance(message, AIMessage) for call in message.tool_calls]
        return {call["id"] or "": call["name"] for call in calls if call["name"] not in offered}


class OfferingRequest(ModelRequest[Any]):
    """A request, and whatever is derived from it, that tells its offer which tools are read of it."""

    @classmethod
    def of(cls, request: ModelRequest[Any], offer: Offer) -> OfferingRequest:
        """The same request as one that tells the offer."""
        telling = cls(**{field.name: getattr(request, field.name) for field in fields(request)})
        telling.__dict__["offer"] = offer
        return telling

    def override(self, **overrides: Any) -> OfferingRequest:
        """As that of any request."""
        return self.of(super().override(**overrides), self.__dict__["offer"])

    @property
    def tools(self) -> list[Tool]:
        offer: Offer | None = self.__dict__.get("offer")
        return self.__dict__["tools"] if offer is None else offer.read(self.__dict__["tools"])

    @tools.setter
    def tools(self, value: list[Tool]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self.__dict__["tools"] = value
