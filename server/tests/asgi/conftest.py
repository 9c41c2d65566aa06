"""Hooks for tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from farside import Farside, Settings
from farside.core.ports import Store
from farside.stores.sqlite import SqliteStore
from farside.testing import MemoryLink
from server.tests.agents import echo, guide, pair
from server.tests.asgi.hook import Hook


class Hooks:
    """Opens pages with an official hook, on one thread of an app."""

    def __init__(self, app: Farside) -> None:
        self.opened: list[Hook] = []
        self._app = app

    async def __call__(self) -> Hook:
        self.opened.append(Hook(await self.link()))
        return self.opened[-1]

    async def link(self) -> MemoryLink:
        """A connection without a page."""
        return await MemoryLink(self._app, "t", None).open()


@pytest.fixture
async def hooks(make_app: Callable[..., Farside]) -> AsyncGenerator[Hooks]:
    settings = Settings(lease_ms=10_000, default_timeout=None)
    hooks = Hooks(make_app({"assistant": guide, "pair": pair, "echo": echo}, settings=settings))
    yield hooks
    for hook in hooks.opened:
        await hook.link.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One store for all: what is tested here stands in front of it."""
    return SqliteStore(tmp_path / "farside.db")
