"""A real server in this process, on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from farside.asgi import server_options


class _Server(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@asynccontextmanager
async def serve(app: Any) -> AsyncGenerator[str]:
    """Serve an ASGI app with farside's own settings; gives its address, ``127.0.0.1:port``.

    Raises RuntimeError when the app does not start.
    """
    options: dict[str, Any] = {**server_options(), "loop": "none", "log_level": "warning"}
    with socket.socket(proto=socket.IPPROTO_TCP) as bound:  # named so that asyncio turns Nagle off
        bound.bind(("127.0.0.1", 0))
        server = _Server(uvicorn.Config(app, **options))
        serving = asyncio.create_task(server.serve([bound]))
        listening = asyncio.create_task(server.listening.wait())
        await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
        listening.cancel()
        try:
            if serving.done():
                raise RuntimeError("the app did not start; the server's log says why")
            yield f"127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving
