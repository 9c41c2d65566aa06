"""The name of a process, and whether the process of a name is gone for certain."""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path

_alive: set[str] = set()
"""The names that this process has given and not taken back."""


def new_process_id() -> str:
    """A name for one engine of this process: where the process is, and a number that nobody else has."""
    process_id = f"{_place()}/{os.getpid()}/{uuid.uuid4().hex}"
    _alive.add(process_id)
    return process_id


def forget(process_id: str) -> None:
    """The engine of this name has stopped."""
    _alive.discard(process_id)


def is_gone(process_id: str) -> bool:
    """Whether it is certain that nobody of this name runs any more: only of this machine's processes can that be said.

    Of others, and where a process id is in use again, the end of the lease tells.
    """
    place, _, digits = process_id.rpartition("/")[0].rpartition("/")
    if process_id in _alive or place != _place() or not digits.isdigit():
        return False
    pid = int(digits)
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _place() -> str:
    """Where process ids mean the same: a machine, or a container of it."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}{namespace}"
