"""Stands in for the package of the README's model provider: ``init_chat_model("openai:...")`` finds this class here.

It is loaded by a server whose folder has a ``server.py``, so it cannot import from this project's folder ``server``.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage


def _scripted() -> ModuleType:
    path = Path(__file__).parents[3] / "server/tests/langgraph/scripted.py"
    spec = importlib.util.spec_from_file_location("scripted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


scripted = _scripted()


def script(messages: list[BaseMessage]) -> AIMessage:
    """Asks for the position, then says what it was told."""
    if messages[-1].type == "human":
        return scripted.calling(scripted.call("get_location"))
    return AIMessage(f"You are here: {messages[-1].text}")


class ChatOpenAI(scripted.Streaming):
    """A scripted model, which refuses invalid histories."""

    script: Any = staticmethod(script)
    model: str
