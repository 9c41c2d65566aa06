from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from farside.langgraph import SqliteSaver


@pytest.fixture(params=["memory", "sqlite"])
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Each checkpointer that a graph may live on."""
    if request.param == "memory":
        yield InMemorySaver()
        return
    async with SqliteSaver(tmp_path / "graph.db") as sqlite:
        yield sqlite
