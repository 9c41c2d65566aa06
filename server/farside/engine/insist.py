"""Doing what needs the store until the store does it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from farside.core.ports import Clock, LeaseLost, StaleWrite
from farside.errors import FarsideError

logger = logging.getLogger("farside.engine")

_FIRST_PAUSE_MS = 500
_LONGEST_PAUSE_MS = 30_000

_T = TypeVar("_T")


async def insist(clock: Clock, what: str, work: Callable[[], Awaitable[_T]]) -> _T:
    """Do the work, with growing pauses after each failure of the store.

    Args:
        what: for the log.

    Raises:
        StaleWrite, LeaseLost, FarsideError: trying again would be of no use.
    """
    pause = _FIRST_PAUSE_MS
    while True:
        try:
            return await work()
        except (StaleWrite, LeaseLost, FarsideError):
            raise
        except Exception:
            logger.exception("%s: the store failed; trying again in %d ms", what, pause)
        await clock.sleep_until(clock.now() + pause)
        pause = min(2 * pause, _LONGEST_PAUSE_MS)
