"""What a saver shares with the clones that LangGraph makes of it, which differ in their serializer."""

from __future__ import annotations

import os
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
        self._process: int | None = None
        self._closed = False

    @property
    def opened(self) -> File | None:
        """The file, None if it is not open.

        Raises:
            RuntimeError: see :meth:`open`.
        """
        return None if self._closed or self._file is None else self._of_this_process(self._file)

    def open(self) -> File:
        """Open the file unless it is.

        Raises:
            RuntimeError: it was closed, or opened before this process was forked off: the thread that writes, and what
                SQLite knows of its locks, stay behind.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the saver of {self.path} is closed; make another one")
            if self._file is None:
                self._file = File(self.path, Cache(self.cache_messages))
                self._process = os.getpid()
            return self._of_this_process(self._file)

    def close(self) -> None:
        """Finish what was submitted, and close the file for good."""
        with self._lock:
            self._closed = True
            if self._file is not None and self._process == os.getpid():
                self._file.close()

    def _of_this_process(self, file: File) -> File:
        if self._process != os.getpid():
            raise RuntimeError(
                f"the saver of {self.path} was opened in process {self._process}, and this one was forked off since; "
                "make another saver in it"
            )
        return file
