"""The names that clients make: of threads, and of themselves."""

from __future__ import annotations

import re

from farside.errors import FarsideError

_SHAPE = re.compile(r"[A-Za-z0-9_.:~-]{1,128}")


def thread_id(name: str) -> str:
    """The same name, if it is one that a thread may have.

    Raises:
        FarsideError: ``invalid_argument``.
    """
    return _checked("a thread id", name)


def client_name(name: str) -> str:
    """The same name, if it is one that a client may have. Raises as :func:`thread_id`."""
    return _checked("a client's name", name)


def _checked(what: str, name: str) -> str:
    if not _SHAPE.fullmatch(name):
        expected = f"expected {what} of 1 to 128 letters, digits, '_', '.', ':', '~' or '-'"
        raise FarsideError("invalid_argument", expected)
    return name
