"""What a saver shares with the clones that LangGraph makes of it, which differ in their serializer."""

from __future__ import annotations

import threading
from pathlib import Path

from farside.langgraph.saver.cache import Cache
from farside.langgraph.saver.file import File


class Shared:
    """A file that is opened when it is first used.

    Args:
        cache_messages: how many decoded messages to keep in memory.
    """

    def __init__(self, path: str | Path, cache_messages: int) -> None:
        self.path = str(path)
        self.cache_messages = cache_messages
        self._lock = threading.Lock()
        self._file: File | None = None
        self._closed = False

    @property
    def opened(self) -> File | None:
        """The file, None if it is not open."""
        return None if self._closed else self._file

    def open(self) -> File:
        """Open the file unless it is.

        Raises:
            RuntimeError: it was closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the saver of {self.path} is closed; make another one")
            if self._file is None:
                self._file = File(self.path, Cache(self.cache_messages))
            return self._file

    def close(self) -> None:
        """Finish what was submitted, and close the file for good."""
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()
