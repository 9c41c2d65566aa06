from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import messages_from_dict

from farside.stores.sqlite import SqliteStore
from farside.testing import FakeBrowser
from server.tests.langgraph.scripted import check_history
from server.tests.langgraph.table.beside import Turn, here


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """What graphs do does not depend on the store; this is the one that users have."""
    return SqliteStore(tmp_path / "farside.db")


@pytest.fixture
def finish() -> Callable[..., Awaitable[Turn]]:
    """Waits for the end of a run; the thread's history must be whole."""

    async def finish(page: FakeBrowser, run_id: str) -> Turn:
        ended = await page.ended(run_id)
        state = await page.command("state.get")
        messages = messages_from_dict([{"type": each["type"], "data": each} for each in state["values"]["messages"]])
        check_history(messages)
        return Turn(page, ended, messages)

    return finish


@pytest.fixture
def take(make_app: Any, open_page: Any, finish: Any) -> Callable[..., Awaitable[Turn]]:
    """Takes a turn with an agent behind farside's engine, and a page that answers ``ask`` and what else is given."""

    async def take(agent: Any, *, bodies: dict[str, Any] | None = None, **options: Any) -> Turn:
        page = await open_page(make_app(agent, **options), tools={"ask": here, **(bodies or {})})
        return await finish(page, await page.submit("go"))

    return take
