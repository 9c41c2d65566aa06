"""Apps and pages for tests, over every store; and settings that all tests share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from farside import Farside
from farside.core.ports import Store
from farside.stores.memory import MemoryStore
from farside.stores.sqlite import SqliteStore
from farside.testing import FakeBrowser, ManualClock, MemoryLink

settings.register_profile("farside", deadline=None)
settings.load_profile("farside")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, so that no worker is busy with it alone in the end."""
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the tables of the crash matrix, whichever process they come from."""
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        for name, text in report.user_properties:
            if name == "table" and report.nodeid.startswith("server/"):
                terminalreporter.write_line(f"\n{text}")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Each store that a thread may live in."""
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "farside.db")


@pytest.fixture
async def make_app(store: Store, clock: ManualClock) -> AsyncGenerator[Callable[..., Farside]]:
    """Makes an app with one agent, "assistant", or with several by name; it is stopped at the end."""
    async with AsyncExitStack() as opened:

        def make(agents: Any, **options: Any) -> Farside:
            named = agents if isinstance(agents, dict) else {"assistant": agents}
            app = Farside(named, **{"store": store, "clock": clock, **options})
            opened.push_async_callback(app.stop)
            return app

        yield make


@pytest.fixture
async def open_page() -> AsyncGenerator[Callable[..., Awaitable[FakeBrowser]]]:
    """Opens a page on "thread-1"; it is closed at the end."""
    async with AsyncExitStack() as opened:

        async def open_one(
            app: Farside,
            *,
            thread_id: str = "thread-1",
            subprotocol: str | None = "farside.v1.msgpack",
            **options: Any,
        ) -> FakeBrowser:
            link = await MemoryLink(app, thread_id, subprotocol).open()
            return await opened.enter_async_context(FakeBrowser(link, agent="assistant", **options))

        yield open_one
