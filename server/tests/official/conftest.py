"""LangGraph's own Python client, on a server that listens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

from farside.core.ports import Store
from farside.stores.sqlite import SqliteStore
from farside.testing import serve


@pytest.fixture
async def open_client(make_app: Any) -> AsyncGenerator[Any]:
    """Serves agents as ``make_app`` takes them; gives LangGraph's client of it."""
    async with AsyncExitStack() as opened:

        async def open_one(agents: Any, **options: Any) -> Any:
            address = await opened.enter_async_context(serve(make_app(agents, **options)))
            return await opened.enter_async_context(get_client(url=f"http://{address}", api_key=None))

        yield open_one


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One store for all: what is tested here stands in front of it."""
    return SqliteStore(tmp_path / "farside.db")
