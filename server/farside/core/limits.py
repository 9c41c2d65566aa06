"""How much one run may do: pure."""

from __future__ import annotations

from collections import Counter
from typing import Any

from farside.errors import FarsideError


class Meter:
    """Counts a run's tool calls and model turns, across pauses and restarts, by the events that tell of them.

    A call of a headless tool is told of twice, as ``opened`` and as ``tool-started``, in either order; it counts once.

    Args:
        max_tool_calls, max_model_turns: how many of each the run may have; None for any number.
    """

    def __init__(self, max_tool_calls: int | None, max_model_turns: int | None) -> None:
        self._limits = {"tool calls": max_tool_calls, "model turns": max_model_turns}
        self._counts = {"tool calls": 0, "model turns": 0}
        self._opened: Counter[str] = Counter()
        self._started: Counter[str] = Counter()

    def count(self, method: str, data: dict[str, Any]) -> None:
        """Take account of an event of the run.

        Raises:
            FarsideError: ``limit_exceeded``.
        """
        self.recall(method, data)
        for what, limit in self._limits.items():
            if limit is not None and self._counts[what] > limit:
                message = f"expected at most {limit} {what} in a run, the agent wants more; raise the limit if it may"
                raise FarsideError("limit_exceeded", message)

    def recall(self, method: str, data: dict[str, Any]) -> None:
        """Take account of an event from before a restart."""
        match method, data.get("event"):
            case "messages", "message-start":
                self._counts["model turns"] += 1
            case "tools", "tool-started":
                self._called(data["tool_call_id"], self._started, self._opened)
            case "calls", "opened":
                self._called(data["tool_call_id"], self._opened, self._started)
            case _:
                pass

    def _called(self, tool_call_id: str, told: Counter[str], otherwise: Counter[str]) -> None:
        told[tool_call_id] += 1
        if told[tool_call_id] > otherwise[tool_call_id]:
            self._counts["tool calls"] += 1
