"""Files of LangGraph's own SQLite savers are opened in place, and there is a way back."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver as StockSqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from farside.langgraph import SqliteSaver
from farside.stores.sqlite import SqliteStore
from server.tests.langgraph.saver.made import checkpoint, config, items, message, messages_of, rows
from server.tests.langgraph.saver.talking import answer, say, talking
from server.tests.langgraph.scripted import check_history

LONG = 1_000


async def stock_thread(path: Path, thread_id: str = "t", length: int = LONG, *, paused: bool = True) -> None:
    """A thread of so many messages on LangGraph's saver, and a turn that is paused, or a finished one."""
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        graph = talking(saver)
        old = [(AIMessage if n % 2 else HumanMessage)(f"old {n}", id=f"{thread_id}-{n}") for n in range(length)]
        await graph.aupdate_state(config(thread_id), {"messages": old}, as_node="look")
        await say(graph, thread_id)
        if not paused:
            await answer(graph, thread_id)


def texts(messages: list[Any]) -> list[str]:
    return [f"{each.type}: {each.content}" for each in messages]


async def seen(saver: Any, thread_id: str = "t") -> list[Any]:
    """A thread's whole history."""
    history = [state async for state in talking(saver).aget_state_history(config(thread_id))]
    return [
        (texts(state.values.get("messages", [])), state.next, state.metadata, state.config, state.parent_config)
        for state in history
    ]


async def test_a_paused_thread_of_theirs_resumes(path: Path) -> None:
    await stock_thread(path)
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        before = await seen(stock)
    async with SqliteSaver(path) as saver:
        assert await seen(saver) == before
        await answer(talking(saver), "t")
        state = await talking(saver).aget_state(config("t"))
        check_history(state.values["messages"])
        assert len(state.values["messages"]) == LONG + 4
        assert (await seen(saver))[-len(before) + 1 :] == before[1:]
    assert items(path) == LONG + 4


async def test_it_resumes_as_the_agent_that_paused_it(path: Path) -> None:
    """What a task of theirs has written counts, whichever table it is in."""
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        name = await stock.aput(config(), checkpoint([message()]), {"step": 1}, {})
        await stock.aput_writes(name, [("a", "first"), ("b", "theirs")], "task-2", "path-1")
        await stock.aput_writes(name, [("__interrupt__", "old")], "task-1")
    async with SqliteSaver(path) as saver:
        await saver.aput_writes(name, [("a", "not again")], "task-2", "path-1")
        await saver.aput_writes(name, [("__interrupt__", "new")], "task-1")
        await saver.aput_writes(name, [("c", "ours")], "task-0")
        found: Any = await saver.aget_tuple(config())
        assert found.pending_writes == [
            ("task-0", "c", "ours"),
            ("task-1", "__interrupt__", "new"),
            ("task-2", "a", "first"),
            ("task-2", "b", "theirs"),
        ]
        assert [each.pending_writes for each in saver.list(config())] == [found.pending_writes]


async def test_their_checkpoint_is_replaced_by_ours_of_the_same_id(path: Path) -> None:
    old, history = checkpoint([message()]), [message()]
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        await stock.aput(config(), old, {}, {})
    async with SqliteSaver(path) as saver:
        new: Any = {**old, "channel_values": {"messages": history}}
        await saver.aput(config(), new, {}, {})
        [found] = list(saver.list(None))
        assert messages_of(found) == messages_of(await saver.aget_tuple(config())) == history


async def test_their_saver_may_go_on_with_a_thread_that_it_has(path: Path) -> None:
    """Each sees what theirs wrote last: a thread can be used by an older program for a while."""
    await stock_thread(path, length=4, paused=False)
    async with SqliteSaver(path) as saver, AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        assert len((await talking(saver).aget_state(config("t"))).values["messages"]) == 8
        await say(talking(stock), "t")
        await answer(talking(saver), "t")
        assert len((await talking(saver).aget_state(config("t"))).values["messages"]) == 12


async def test_several_open_a_thread_of_theirs_at_once(path: Path) -> None:
    for number in range(4):
        await stock_thread(path, f"t{number}", 20)
    async with SqliteSaver(path) as one, SqliteSaver(path) as two:
        graphs = [talking(one), talking(two)]
        await asyncio.gather(*(answer(graphs[number % 2], f"t{number}") for number in range(4)))
        for number in range(4):
            for graph in graphs:
                messages = (await graph.aget_state(config(f"t{number}"))).values["messages"]
                check_history(messages)
                assert len(messages) == 24


async def test_deleting_and_pruning_reach_their_tables(path: Path) -> None:
    for thread_id in ("a", "b", "c"):
        await stock_thread(path, thread_id, 4)
    async with SqliteSaver(path) as saver:
        await answer(talking(saver), "a")
        await saver.acopy_thread("a", "d")
        copied = [each[:2] for each in await seen(saver, "d")]
        assert copied == [each[:2] for each in await seen(saver, "a")]
        await saver.aprune(["a", "b"])
        assert [len(await seen(saver, thread_id)) for thread_id in ("a", "b")] == [1, 1]
        await answer(talking(saver), "b")
        await saver.adelete_thread("c")
        for table in ("checkpoints", "writes", "farside_saver_checkpoints"):
            assert rows(path, f"SELECT * FROM {table} WHERE thread_id = 'c'") == []  # noqa: S608
        assert [each[:2] for each in await seen(saver, "d")] == copied


async def test_a_checkpoint_of_theirs_without_metadata(path: Path) -> None:
    await stock_thread(path, length=4)
    rows(path, "UPDATE checkpoints SET metadata = NULL")
    async with SqliteSaver(path) as saver:
        await saver.acopy_thread("t", "copy")
        assert [each.metadata async for each in saver.alist(None)] == [{}] * 2 * len(await seen(saver))


async def test_a_file_from_before_writes_had_paths(path: Path) -> None:
    await stock_thread(path, length=4)
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE writes DROP COLUMN task_path")
    async with SqliteSaver(path) as saver:
        await answer(talking(saver), "t")
        assert len((await talking(saver).aget_state(config("t"))).values["messages"]) == 8


async def test_tables_of_the_same_name_that_are_not_theirs(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE checkpoints (name TEXT)")
    async with SqliteSaver(path) as saver:
        await say(talking(saver), "t")
        await saver.adelete_thread("t")
        assert await saver.aget_tuple(config()) is None


@pytest.mark.parametrize("paused", [True, False])
async def test_their_saver_goes_on_with_an_export(path: Path, tmp_path: Path, paused: bool) -> None:
    exported = tmp_path / "stock.db"
    await stock_thread(path, "old", 4)
    async with SqliteSaver(path) as saver:
        graph = talking(saver)
        for number in range(3):
            await say(graph, "t", f"question {number}")
            if number < 2 or not paused:
                await answer(graph, "t")
        await answer(graph, "old")
        count = await saver.aexport(exported)
        assert count == len([each async for each in saver.alist(None)])
        before = await seen(saver), await seen(saver, "old")
        assert saver.export(tmp_path / "one.db", "old") == len(before[1])
    async with AsyncSqliteSaver.from_conn_string(str(exported)) as stock:
        assert (await seen(stock), await seen(stock, "old")) == before
        graph = talking(stock)
        await (answer(graph, "t") if paused else say(graph, "t"))
        messages = (await graph.aget_state(config("t"))).values["messages"]
        assert len(messages) == (12 if paused else 14)
    with sqlite3.connect(tmp_path / "one.db") as db:
        listed: list[Any] = list(StockSqliteSaver(db).list(None))
        assert {each.config["configurable"]["thread_id"] for each in listed} == {"old"}


async def test_an_export_into_the_savers_own_file_is_refused(saver: SqliteSaver, path: Path) -> None:
    with pytest.raises(ValueError, match="expected another file"):
        saver.export(path.parent / "." / path.name)


async def test_an_export_has_what_was_put_and_is_not_awaited(saver: SqliteSaver, tmp_path: Path) -> None:
    history = [message()]
    task = asyncio.ensure_future(saver.aput(config(), checkpoint(history), {}, {}))
    await asyncio.sleep(0)
    assert await saver.aexport(tmp_path / "stock.db") == 1
    await task


async def test_the_file_is_shared_with_our_store(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    async with SqliteSaver(path) as saver:
        await say(talking(saver), "t")
        await store.beat("process", 1)
        await answer(talking(saver), "t")
        assert await store.processes() == ["process"]
    await store.close()


async def test_a_file_of_a_newer_version_is_refused(path: Path) -> None:
    SqliteSaver(path).open()
    async with aiosqlite.connect(path) as db:
        await db.execute("INSERT INTO farside_saver_schema VALUES (99)")
        await db.commit()
    with pytest.raises(RuntimeError, match="schema version 99, this farside knows 2; upgrade farside"):
        SqliteSaver(path).open()


async def test_the_connections_are_durable(saver: SqliteSaver) -> None:
    file: Any = saver._shared.open()
    for pragma, expected in (("journal_mode", "wal"), ("synchronous", 2), ("busy_timeout", 5000)):
        found = file.write(
            "t", lambda transaction, pragma=pragma: transaction.db.execute(f"PRAGMA {pragma}").fetchone()
        )
        assert found == (expected,)
