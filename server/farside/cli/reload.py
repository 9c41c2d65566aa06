"""A server that starts anew when a source file changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from socket import socket
from typing import Any

from uvicorn import Config, Server
from uvicorn.supervisors.basereload import BaseReload

from farside.asgi import server_options

GRACE = 1
"""Seconds that open streams get to end before the next start. What stands then is in the store."""


class Sources(BaseReload):
    """uvicorn's restarts at every change of a Python file below the current folder.

    uvicorn's own watcher reads the folders of installed packages, too, four times a second, and misses new files and
    what changes before its first look.
    """

    def __init__(self, config: Config, target: Callable[[list[socket] | None], None], sockets: list[socket]) -> None:
        super().__init__(config, target, sockets)
        self.reloader_name = "farside dev"
        self._known = sources(Path.cwd())

    def should_restart(self) -> list[Path] | None:
        self.pause()
        before, self._known = self._known, sources(Path.cwd())
        return sorted({path for path, _ in before.items() ^ self._known.items()}) or None


def sources(folder: Path) -> dict[Path, tuple[int, int]]:
    """Each Python file below a folder, with the time of its last change and its size.

    Hidden folders and those of installed packages are left out.
    """
    found: dict[Path, tuple[int, int]] = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_foreign(Path(place, name))]
        for path in (Path(place, name) for name in files if name.endswith(".py")):
            try:
                status = path.stat()
            except FileNotFoundError:  # It was deleted meanwhile, or is a link to nowhere.
                continue
            found[path] = (status.st_mtime_ns, status.st_size)
    return found


def _is_foreign(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name == "node_modules" or (folder / "pyvenv.cfg").exists()


def run(app: str, *, host: str, port: int) -> None:
    """Serve ``module:app`` until a signal ends it. Files that do not work wait for their next change.

    The app runs in a process of its own, which has this one's environment. While it starts, requests wait.
    """
    options: dict[str, Any] = {**server_options(), "timeout_graceful_shutdown": GRACE}
    config = Config(app, host=host, port=port, **options)
    listening = config.bind_socket()
    listening.listen(config.backlog)
    Sources(config, Server(config).run, [listening]).run()
