"""Named points in a server, and death at one of them."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path


class Points:
    """Writes each point that the server comes by into a file, and ends the process by SIGKILL at the chosen one.

    Args:
        log: the file; one line for each point, ``name#n`` for the n-th time.
        fatal: the point at which to die, empty for none.
    """

    def __init__(self, log: Path, fatal: str = "") -> None:
        self._log = log
        self._fatal = fatal
        self._passed: Counter[str] = Counter()

    def reach(self, name: str) -> None:
        """The server has come to a point."""
        self._passed[name] += 1
        point = f"{name}#{self._passed[name]}"
        with self._log.open("a") as log:
            log.write(f"{point}\n")
        if point == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)
