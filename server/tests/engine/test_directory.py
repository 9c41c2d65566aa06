"""Threads as a list shows them, and how they go: whatever runs on them, whoever listens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent

import farside.langgraph
from farside import Farside, FarsideError, Settings, Turn
from farside.core.model import ThreadUpdate
from farside.core.ports import Store, ThreadQuery
from farside.engine import Connection
from farside.engine.directory import CLOSE_DELETED
from farside.pydantic_ai import HeadlessToolset
from farside.stores.memory import MemoryStore
from farside.stores.sqlite import SqliteStore
from farside.testing import MemoryLink
from server.tests.agents import ANY_ARGS, echo, guide, locate, pair
from server.tests.langgraph import scripted as langgraph
from server.tests.pydantic_ai import scripted as pydantic_ai

THREAD = "thread-1"


def graph() -> Any:
    """Calls ``locate`` at the first message of a conversation."""
    tool = farside.langgraph.tool(name="locate", description="Where.", args_schema=ANY_ARGS, idempotent=True)
    model = langgraph.Streaming(script=langgraph.once(langgraph.call("locate", "call-1", high=True)))
    return create_agent(model, [tool])


def pydantic_ai_agent() -> Any:
    """The same."""
    script = pydantic_ai.once(pydantic_ai.calling(pydantic_ai.call("locate", high=True)), pydantic_ai.saying("There."))
    return pydantic_ai.scripted(script, toolsets=[HeadlessToolset([locate])])


AGENTS: dict[str, Any] = {"function": lambda: guide, "graph": graph, "pydantic_ai": pydantic_ai_agent}


async def rows(store: Store) -> int:
    """How many rows a store has of the thread, all tables together."""
    if isinstance(store, SqliteStore):
        tables = ("threads", "labels", "runs", "calls", "events", "journal", "leases")
        return sum(len(store._db.execute(f"SELECT 1 FROM farside_{table}").fetchall()) for table in tables)  # noqa: S608
    assert isinstance(store, MemoryStore)
    kept = [store._threads, store._listed, store._runs, store._calls, store._events, store._journal, store._history]
    return sum(map(len, kept)) + len(store._leases)


@pytest.mark.parametrize("kind", AGENTS)
async def test_a_thread_that_waits_for_a_tool_is_deleted(make_app, open_page, store, kind) -> None:
    app: Farside = make_app(AGENTS[kind]())
    directory = (await app.engine()).directory
    begun, aborted = asyncio.Event(), asyncio.Event()

    async def body(high: bool) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            aborted.set()
            raise

    page = await open_page(app, tools={"locate": body})
    watcher = MemoryLink(app, THREAD, None)
    await watcher.open()
    run_id = await page.submit("Where am I?")
    await begun.wait()
    await directory.delete(THREAD)

    assert (await page.ended(run_id))["code"] == "cancelled"
    assert page.calls("cancelled") != []
    await aborted.wait()
    assert watcher.closed_with == CLOSE_DELETED
    assert await rows(store) == 0
    with pytest.raises(FarsideError, match="no thread 'thread-1'"):
        await directory.get(THREAD)


@pytest.mark.parametrize("kind", AGENTS)
async def test_the_id_of_a_deleted_thread_begins_empty(make_app, open_page, store, kind) -> None:
    app: Farside = make_app(AGENTS[kind]())
    directory = (await app.engine()).directory
    heard: list[Any] = []
    for _ in range(2):
        page = await open_page(app, tools={"locate": lambda high: {"lat": 1}})
        assert await directory.count(ThreadQuery()) == 0
        await page.ask("Where am I?")
        state = await page.command("state.get")
        heard.append([(message["type"], message["content"]) for message in state["values"]["messages"]])
        assert (await directory.values(await directory.get(THREAD)))["messages"] == state["values"]["messages"]
        assert len(page.executions) == 1
        await directory.delete(THREAD)
        assert await rows(store) == 0
    assert heard[0] == heard[1]


async def test_queued_runs_go_with_the_thread(make_app, open_page, store) -> None:
    app: Farside = make_app(pair, settings=Settings(on_new_message="queue"))
    directory = (await app.engine()).directory
    page = await open_page(app)
    first = await page.submit("Pay")
    await page.until(lambda event: event["method"] == "calls")
    second = await page.submit("Pay again")
    await directory.delete(THREAD)
    assert [(await page.ended(run_id))["code"] for run_id in (first, second)] == ["cancelled", "cancelled"]
    assert await rows(store) == 0


async def test_what_is_still_sent_to_a_deleted_thread_does_not_bring_it_back(make_app, store) -> None:
    """A socket is read until it is closed."""
    app: Farside = make_app(echo)
    engine = await app.engine()
    ended: list[int] = []
    connection = Connection(engine, THREAD, None, lambda frame: None, lambda code, reason: ended.append(code))
    await engine.directory.create(THREAD, {}, may_exist=False)
    await engine.directory.delete(THREAD)
    assert ended == [CLOSE_DELETED]
    await connection.receive('{"id": 1, "method": "run.start", "params": {"assistant_id": "assistant", "input": "hi"}}')
    await connection.close()
    assert await rows(store) == 0


async def test_a_command_that_waits_for_a_deletion_is_told_to_try_again(make_app, store) -> None:
    app: Farside = make_app(echo)
    engine = await app.engine()
    await engine.directory.create(THREAD, {}, may_exist=False)
    deleted = store.delete
    waiting: list[asyncio.Task[Any]] = []

    async def delete(thread_id: str, **options: Any) -> None:
        waiting.append(asyncio.create_task(engine.runs.cancel(THREAD, None)))
        await asyncio.sleep(0)
        await deleted(thread_id, **options)

    store.delete = delete
    await engine.directory.delete(THREAD)
    with pytest.raises(FarsideError, match="is being loaded anew; try again"):
        await waiting[0]
    await engine.runs.cancel(THREAD, None)
    assert await rows(store) == 0


async def test_a_deletion_that_fails_can_be_made_again(make_app, open_page, store) -> None:
    app: Farside = make_app(graph())
    engine = await app.engine()
    page = await open_page(app, tools={"locate": lambda high: {"lat": 1}})
    await page.ask("Where am I?")
    deleted = store.delete

    async def fails(thread_id: str, **options: Any) -> None:
        store.delete = deleted
        raise OSError("the disk is full")

    store.delete = fails
    with pytest.raises(OSError, match="full"):
        await engine.directory.delete(THREAD)
    assert (await engine.directory.get(THREAD)).status == "idle"
    await engine.directory.delete(THREAD)
    assert await rows(store) == 0


async def test_a_thread_of_another_process_is_described_but_not_deleted(make_app, open_page, tmp_path) -> None:
    one, two = [make_app(echo, store=SqliteStore(tmp_path / "shared.db")) for _ in range(2)]
    page = await open_page(one)
    await page.ask("hi")
    other = (await two.engine()).directory
    assert (await other.describe(THREAD, {"title": "Tea"})).metadata["title"] == "Tea"
    info = await other.get(THREAD)
    assert [message["content"] for message in (await other.values(info))["messages"]] == ["hi", "You said hi."]
    with pytest.raises(FarsideError, match="served by another process"):
        await other.delete(THREAD)
    await page.ask("ho")
    assert (await other.get(THREAD)).metadata["title"] == "Tea", "the process that drives it has not overwritten it"


async def test_times_are_those_of_runs(make_app, open_page, clock) -> None:
    """No event writes a time: the start of a run does, and its end."""
    app: Farside = make_app(guide)
    directory = (await app.engine()).directory
    began, begun, go_on = clock.now(), asyncio.Event(), asyncio.Event()

    async def body(high: bool) -> Any:
        begun.set()
        await go_on.wait()
        return {"lat": 1}

    page = await open_page(app, tools={"locate": body})
    run_id = await page.submit("Where am I?")
    await begun.wait()
    clock.advance(1000)
    info = await directory.get(THREAD)
    assert (info.created_at, info.updated_at, info.state_updated_at) == (began, began, began)
    go_on.set()
    await page.ended(run_id)
    info = await directory.get(THREAD)
    assert (info.updated_at, info.state_updated_at) == (began + 1000, began + 1000)


async def test_a_queued_message_tells_its_metadata_when_it_comes(make_app, open_page) -> None:
    """What was changed while it waited stays."""
    go_on = asyncio.Event()

    async def slow(turn: Turn, value: Any) -> None:
        await go_on.wait()

    app: Farside = make_app(slow)
    directory = (await app.engine()).directory
    page = await open_page(app)
    await page.submit("one")
    second = await page.submit("two", metadata={"title": "Tea", "n": 2})
    assert (await directory.get(THREAD)).metadata["title"] == "Tea"
    await directory.describe(THREAD, {"title": "Coffee"})
    go_on.set()
    await page.ended(second)
    metadata = (await directory.get(THREAD)).metadata
    assert metadata == {"title": "Coffee", "n": 2, "graph_id": "assistant", "assistant_id": "assistant"}


async def test_a_checkpointer_that_cannot_delete_says_so(make_app, monkeypatch) -> None:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.memory import InMemorySaver

    monkeypatch.setattr(InMemorySaver, "adelete_thread", BaseCheckpointSaver.adelete_thread)
    app: Farside = make_app(graph(), store=MemoryStore())
    directory = (await app.engine()).directory
    await directory.create(THREAD, {}, may_exist=False)
    with pytest.raises(FarsideError, match="InMemorySaver has no adelete_thread") as refused:
        await directory.delete(THREAD)
    assert refused.value.code == "not_supported"
    assert (await directory.get(THREAD)).id == THREAD


async def test_an_update_is_written_with_the_run_it_is_of(make_app, open_page) -> None:
    """One transaction for a run's start, one for its end; none more for the list."""
    commits: list[list[str]] = []

    class Watched(MemoryStore):
        async def commit(self, writes: Any, **options: Any) -> None:
            if any(isinstance(write, ThreadUpdate) for write in writes):
                commits.append(sorted({type(write).__name__ for write in writes}))
            await super().commit(writes, **options)

    page = await open_page(make_app(echo, store=Watched()))
    await page.ask("hi")
    assert [("Run" in names, "Event" in names) for names in commits] == [(True, True), (True, True)]
