"""What tasks have come to that were called together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def outcomes(futures: Iterable[Any]) -> list[Any]:
    """What each of the futures has returned or raised, pauses included, as ``asyncio.gather`` gives it."""
    found: list[Any] = []
    for future in futures:
        try:
            found.append(future.result())
        except Exception as error:
            found.append(error)
    return found
