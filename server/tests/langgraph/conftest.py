from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from farside.langgraph.savers import open_sqlite_saver


@pytest.fixture(params=["memory", "sqlite"])
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Each checkpointer that a graph may live on."""
    if request.param == "memory":
        yield InMemorySaver()
        return
    async with open_sqlite_saver(tmp_path / "graph.db") as sqlite:
        yield sqlite
