"""``Farside``: what it takes, how it starts and stops."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from farside import Farside
from farside.testing import FakeBrowser, MemoryLink
from server.tests.agents import echo


def hello_graph(checkpointer=None, *, compiled=True):
    graph = StateGraph(MessagesState)
    graph.add_node("hello", lambda state: {"messages": [("ai", "Hello.")]})
    graph.add_edge(START, "hello")
    return graph.compile(checkpointer=checkpointer) if compiled else graph


def plain_function(turn, value):
    return None


@pytest.mark.parametrize("agent", [None, "assistant", plain_function, hello_graph(compiled=False)])
def test_what_is_no_agent_is_refused(agent):
    expected = "a compiled LangGraph graph, a Pydantic AI agent or an async function"
    with pytest.raises(ValueError, match=f"agent 'a': expected {expected}"):
        Farside({"a": agent}, store="memory")


def test_no_agents_are_refused():
    with pytest.raises(ValueError, match="at least one agent"):
        Farside({}, store="memory")


@pytest.mark.parametrize("store", ["", "sqlite", "sqlite:///", "postgres://x", "mysql:///x"])
def test_what_is_no_store_is_refused(store):
    with pytest.raises(ValueError, match=re.escape("expected store 'sqlite:///file.db', 'memory' or a store object")):
        Farside({"a": echo}, store=store)


def test_an_origin_that_is_no_list_is_refused():
    with pytest.raises(ValueError, match=r"expected a list of origins, got 'https://app\.example'"):
        Farside({"a": echo}, store="memory", allowed_origins="https://app.example")


async def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        await Farside({"a": echo}, store=f"sqlite:///{tmp_path}/nowhere/farside.db").engine()


async def test_a_relative_path_is_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = Farside({"a": echo}, store="sqlite:///here.db")
    await app.engine()
    await app.stop()
    assert Path("here.db").exists()


async def test_stopping_twice_or_before_starting_is_harmless():
    app = Farside({"a": echo}, store="memory")
    await app.stop()
    await app.engine()
    await app.stop()
    await app.stop()


async def test_a_graph_without_a_checkpointer_keeps_its_state_in_the_stores_file(tmp_path):
    app = Farside({"a": hello_graph()}, store=f"sqlite:///{tmp_path}/farside.db")
    async with FakeBrowser(await MemoryLink(app, "t").open(), agent="a") as page:
        await page.ended(await page.submit("Hi"))
    await app.stop()

    with sqlite3.connect(tmp_path / "farside.db") as file:
        assert file.execute("SELECT COUNT(*) FROM farside_saver_checkpoints").fetchone()[0] > 0
        assert file.execute("SELECT COUNT(*) FROM farside_runs").fetchone()[0] == 1


async def test_a_checkpointer_that_the_graph_brings_is_respected(tmp_path):
    saver = InMemorySaver()
    app = Farside({"a": hello_graph(saver)}, store=f"sqlite:///{tmp_path}/farside.db")
    async with FakeBrowser(await MemoryLink(app, "t").open(), agent="a") as page:
        await page.ended(await page.submit("Hi"))
    await app.stop()

    assert saver.get_tuple({"configurable": {"thread_id": "t"}}) is not None
    with sqlite3.connect(tmp_path / "farside.db") as file:
        assert file.execute("SELECT COUNT(*) FROM farside_saver_checkpoints").fetchone()[0] == 0
