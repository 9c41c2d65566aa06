"""A server in a process of its own: to be killed, or to be measured from outside."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

_SERVE = """
import socket, sys, uvicorn
from farside.asgi import server_options
listening = socket.socket(proto=socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
listening.listen()
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(sys.argv[1], log_level="warning", **server_options())).run([listening])
"""


class ServerProcess:
    """A running server; ``address`` is ``127.0.0.1:port``.

    ``await ServerProcess.start("module:app")``, then :meth:`kill` or :meth:`stop`.
    """

    def __init__(self, process: asyncio.subprocess.Process, address: str) -> None:
        self.address = address
        self._process = process

    @classmethod
    async def start(
        cls, app: str, *, folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> ServerProcess:
        """Serve ``module:app`` with farside's own settings.

        Args:
            folder: where the module is found, by default the current folder.
            environment: variables beside this process's own.

        Raises RuntimeError when the process ends before it listens.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _SERVE,
            app,
            stdout=asyncio.subprocess.PIPE,
            cwd=folder,
            env={**os.environ, **(environment or {})},
        )
        if process.stdout is None:
            raise RuntimeError("the server's output is not to be read")
        port = (await process.stdout.readline()).decode().strip()
        if not port:
            raise RuntimeError(f"{app} ended before it listened; its errors are above")
        return cls(process, f"127.0.0.1:{port}")

    async def kill(self) -> None:
        """SIGKILL: no good-bye, nothing is saved."""
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """SIGTERM, and wait until it has ended by itself."""
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()
