"""How a server runs a farside app."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from farside.wire.values import DEFAULT_LIMITS


def server_options() -> dict[str, Any]:
    """How farside wants uvicorn to serve it: its fastest WebSockets, no compression, frames as large as the limits."""
    return {
        "ws": "websockets-sansio",
        "ws_per_message_deflate": False,
        "ws_max_size": DEFAULT_LIMITS.frame_bytes,
        "loop": "uvloop" if find_spec("uvloop") else "asyncio",
        "lifespan": "on",
        "timeout_graceful_shutdown": 5,
    }
