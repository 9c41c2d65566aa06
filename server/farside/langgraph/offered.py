"""Which tools the model was offered, whatever other middleware has left of them or added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import fields
from typing import Any

from langchain.agents.middleware import ModelRequest
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
        self.tools: Sequence[Tool] = ()
        """Those that were read last. The agent reads them when it calls the model, after all middleware."""

    def read(self, tools: Sequence[Tool]) -> list[Tool]:
        """What is left of the tools."""
        self.tools = [each for each in tools if not isinstance(each, HeadlessTool) or self._allows(each)]
        return list(self.tools)

    @property
    def headless(self) -> list[str]:
        """The names of the headless tools that were offered, sorted."""
        return sorted(each.name for each in self.tools if isinstance(each, HeadlessTool))


current_offer: ContextVar[Offer] = ContextVar("current_offer")
"""The offer of the model call that is under way."""


class OfferingRequest(ModelRequest[Any]):
    """A request, and whatever is derived from it, that tells the current offer which tools are read of it."""

    @classmethod
    def of(cls, request: ModelRequest[Any]) -> OfferingRequest:
        """The same request as one that tells."""
        return cls(**{field.name: getattr(request, field.name) for field in fields(request)})

    @property
    def tools(self) -> list[Tool]:
        return current_offer.get().read(self.__dict__["tools"])

    @tools.setter
    def tools(self, value: list[Tool]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self.__dict__["tools"] = value
