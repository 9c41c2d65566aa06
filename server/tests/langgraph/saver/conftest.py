from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from farside.langgraph import SqliteSaver


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "saver.db"


@pytest.fixture
async def saver(path: Path) -> AsyncGenerator[SqliteSaver]:
    async with SqliteSaver(path) as saver:
        yield saver
