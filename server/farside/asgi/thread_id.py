"""Thread ids, which clients make."""

from __future__ import annotations

import re

from farside.errors import FarsideError

_SHAPE = re.compile(r"[A-Za-z0-9_.:~-]{1,128}")


def checked(thread_id: str) -> str:
    """The same id.

    Raises:
        FarsideError: ``invalid_argument``, it is no thread id.
    """
    if not _SHAPE.fullmatch(thread_id):
        expected = "expected a thread id of 1 to 128 letters, digits, '_', '.', ':', '~' or '-'"
        raise FarsideError("invalid_argument", expected)
    return thread_id
