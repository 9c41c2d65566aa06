"""Where a graph's checkpoints live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_T = TypeVar("_T")


class WholeSqliteSaver(AsyncSqliteSaver):
    """LangGraph's SQLite saver, whose writes are finished even if the run is cancelled in the middle of one.

    Otherwise a write that was begun and not committed keeps the file locked for everybody else, our store included,
    until the next one on the same connection.
    """

    async def aput(self, *args: Any, **kwargs: Any) -> RunnableConfig:
        return await _whole(super().aput(*args, **kwargs))

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        await _whole(super().aput_writes(*args, **kwargs))


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
        saver = WholeSqliteSaver(connection, serde=JsonPlusSerializer())
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


async def _whole(work: Coroutine[Any, Any, _T]) -> _T:
    """Carry out the work to its end, and only then be cancelled."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
