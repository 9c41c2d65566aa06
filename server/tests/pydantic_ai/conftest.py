"""Restarts: another app over the same store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from farside import Farside


@pytest.fixture
def restart(make_app: Callable[..., Farside]) -> Callable[..., Awaitable[Farside]]:
    """Stops an app where it stands, and starts one with another agent over its store."""

    async def restart(app: Farside, agent: Any, **options: Any) -> Farside:
        await app.stop()
        again = make_app(agent, **options)
        await again.engine()
        return again

    return restart
