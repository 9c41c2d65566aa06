from __future__ import annotations

import asyncio
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from farside.langgraph import LangGraphRuntime, tool
from farside.langgraph.savers import open_saver, open_sqlite_saver
from server.tests.langgraph.scripted import Whole, answering, call, drive, messages_of, once, start


async def test_the_connection_is_durable(tmp_path: Path) -> None:
    async with open_sqlite_saver(tmp_path / "graph.db") as saver:
        for pragma, expected in (("journal_mode", "wal"), ("synchronous", 2), ("busy_timeout", 5000)):
            async with saver.conn.execute(f"PRAGMA {pragma}") as cursor:
                assert await cursor.fetchone() == (expected,)
        assert saver.is_setup


async def test_our_values_survive_without_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    value = {"image": b"\x00\xff" * 100, "nested": [{"a": None, "b": 1.5}], "text": "Zürich"}
    for _ in range(2):
        with caplog.at_level(logging.WARNING):
            async with open_sqlite_saver(tmp_path / "graph.db") as saver:
                model = Whole(script=once(call("where")))
                runtime = LangGraphRuntime(create_agent(model, [tool(name="where")]), checkpointer=saver)
                if not await messages_of(runtime):
                    _, (new,) = await drive(runtime, start())
                    await drive(runtime, answering(start(), (new, value)))
                told: Any = (await messages_of(runtime))[2]
                assert told["artifact"] == value
    assert caplog.records == []


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    path.write_bytes(b"this is no database at all, however long it may be" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        async with open_sqlite_saver(path):
            pass


async def test_a_saver_for_each_store(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "graph.db", AsyncSqliteSaver), (None, InMemorySaver)):
        async with open_saver(path) as saver:
            assert isinstance(saver, kind)
    assert (tmp_path / "graph.db").exists()


@pytest.mark.parametrize("write", ["aput", "aput_writes"])
async def test_a_write_that_is_cancelled_locks_nobody_out(tmp_path: Path, write: str) -> None:
    """Stopping a run in the middle of a checkpoint must not keep our store, in the same file, from storing that."""
    async with open_sqlite_saver(tmp_path / "graph.db") as saver:
        begun, may_go_on = asyncio.Event(), asyncio.Event()
        commit = saver.conn.commit

        async def slow() -> None:
            begun.set()
            await may_go_on.wait()
            await commit()

        saver.conn.commit = slow
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c"}}
        what = (empty_checkpoint(), {}, {}) if write == "aput" else ([("a", 1)], "task")
        task = asyncio.ensure_future(getattr(saver, write)(config, *what))
        await begun.wait()
        task.cancel()
        may_go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

        with sqlite3.connect(tmp_path / "graph.db", timeout=0) as other:
            other.execute("BEGIN IMMEDIATE")
            counts = other.execute("SELECT (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM writes)")
            assert counts.fetchone() == ((1, 0) if write == "aput" else (0, 1))
