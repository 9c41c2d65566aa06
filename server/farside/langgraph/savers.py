"""Where a graph's checkpoints live."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


@asynccontextmanager
async def open_sqlite_saver(path: str | Path) -> AsyncGenerator[AsyncSqliteSaver]:
    """LangGraph's SQLite saver on a connection of its own, set up, for as long as the context lasts.

    A checkpoint that was acknowledged survives a power failure (``synchronous=FULL``), readers do not wait for the
    writer (WAL), and a writer waits up to five seconds for another process.

    Args:
        path: the database file, made when it is not there; another process or store may use the same file.

    Raises:
        sqlite3.Error: the file cannot be opened, or is no database.
    """
    async with aiosqlite.connect(path) as connection:
        await connection.execute("PRAGMA busy_timeout=5000")
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=FULL")
        saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer())
        await saver.setup()
        yield saver


@asynccontextmanager
async def open_saver(path: Path | None) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """The saver for a store's file: LangGraph's SQLite saver in the same file, or its memory saver for None."""
    if path is None:
        yield InMemorySaver()
    else:
        async with open_sqlite_saver(path) as saver:
            yield saver
