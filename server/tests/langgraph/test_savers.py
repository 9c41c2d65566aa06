from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from farside.langgraph import LangGraphRuntime, SqliteSaver, tool
from farside.langgraph.savers import open_saver
from server.tests.langgraph.scripted import Whole, answering, call, drive, messages_of, once, start


async def test_our_values_survive_without_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    value = {"image": b"\x00\xff" * 100, "nested": [{"a": None, "b": 1.5}], "text": "Zürich"}
    for _ in range(2):
        with caplog.at_level(logging.WARNING):
            async with open_saver(tmp_path / "graph.db") as saver:
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
        async with open_saver(path):
            pass


async def test_a_saver_for_each_store(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "graph.db", SqliteSaver), (None, InMemorySaver)):
        async with open_saver(path) as saver:
            assert isinstance(saver, kind)
    assert (tmp_path / "graph.db").exists()
