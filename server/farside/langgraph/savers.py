"""Where a graph's checkpoints live."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from farside.langgraph.saver.saver import SqliteSaver


@asynccontextmanager
async def open_saver(path: Path | None) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """The saver for a store's file: our SQLite saver in the same file, or LangGraph's memory saver for None."""
    if path is None:
        yield InMemorySaver()
    else:
        async with SqliteSaver(path) as saver:
            yield saver
