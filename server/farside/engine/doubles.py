"""Messages that arrive twice: LangGraph's clients send a command again when they have not heard its reply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from farside.core.model import Run
from farside.core.transcript import input_messages


def same_message(given: Any, agent: str, runs: Iterable[Run]) -> Run | None:
    """The run that was started with this very input, None when there is none, or when its last message has no id by
    which to tell. A run that has failed or was stopped is none: the same may be asked again."""
    messages = input_messages(given)
    if not messages or messages[-1] is not given["messages"][-1]:
        return None
    for run in runs:
        if run.agent == agent and run.status not in ("failed", "cancelled") and run.input == given:
            return run
    return None
