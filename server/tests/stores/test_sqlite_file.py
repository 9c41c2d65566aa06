"""What the SQLite store promises of its file: durable, shared, brought up to date, refused when it must be."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from farside.core.model import ThreadUpdate
from farside.core.ports import StaleWrite, ThreadQuery
from farside.errors import FarsideError
from farside.stores import migrations, sqlite
from farside.stores.rows import pack as packed
from farside.stores.sqlite import SqliteStore
from farside.testing.contracts import NOW, a_call, a_run, a_thread, an_entry, an_event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "farside.db"


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[SqliteStore]:
    store = SqliteStore(path)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def select(path: Path, query: str) -> list[Any]:
    """What another program reads in the file."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def content(path: Path) -> bytes:
    return path.read_bytes()


# --- durable ---


async def test_another_store_on_the_file_finds_everything(path: Path) -> None:
    rows = [a_thread(), a_run(), a_call(), an_event(1), an_entry("1")]
    async with opened(path) as store:
        await store.commit(rows)
    async with opened(path) as store:
        assert await store.thread("t1") == rows[0]
        assert list(await store.unfinished()) == [rows[1]]
        assert list(await store.calls("t1")) == [rows[2]]
        assert list(await store.events("t1")) == [rows[3]]
        assert list(await store.journal("t1", "r1")) == [rows[4]]


async def test_every_commit_is_flushed_to_disk(path: Path) -> None:
    async with opened(path) as store:
        await store.commit([a_thread()])
        assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert path.with_name("farside.db-wal").stat().st_size > 0
        assert select(path, "SELECT id FROM farside_threads") == [("t1",)]


WRITER = """
import asyncio, sys
from farside.stores.sqlite import SqliteStore
from farside.testing.contracts import a_call, an_entry, an_event

async def main(path, name, count):
    store = SqliteStore(path)
    await store.open()
    for n in range(1, count + 1):
        rows = [a_call(thread_id=name, interrupt_id=str(n), args={"a": bytes(2000)}), an_event(n, thread_id=name)]
        await store.commit([*rows, an_entry(str(n), thread_id=name, run_id=name)])
        print(n, flush=True)
    await store.close()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def write(path: Path, name: str, count: int) -> asyncio.subprocess.Process:
    """A process that makes ``count`` commits on a thread, and says a number after each."""
    arguments = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)


async def numbers_on(store: SqliteStore, thread_id: str) -> list[int]:
    """The commits that arrived, each of them whole."""
    calls = [int(call.interrupt_id) for call in await store.calls(thread_id)]
    assert [event.seq for event in await store.events(thread_id)] == calls
    assert [int(entry.position) for entry in await store.journal(thread_id, thread_id)] == calls
    return calls


@pytest.mark.parametrize("acknowledged", [1, 20, 150])
async def test_a_killed_process_loses_nothing_that_it_acknowledged(path: Path, acknowledged: int) -> None:
    writer = await write(path, "t1", 1_000_000)
    assert writer.stdout is not None
    for number in range(1, acknowledged + 1):
        assert await writer.stdout.readline() == f"{number}\n".encode()
    writer.send_signal(signal.SIGKILL)
    told = acknowledged + len((await writer.stdout.read()).splitlines())
    assert await writer.wait() == -signal.SIGKILL
    async with opened(path) as store:
        stored = await numbers_on(store, "t1")
        assert stored == list(range(1, len(stored) + 1))
        assert told <= len(stored) <= told + 1
        assert select(path, "PRAGMA integrity_check") == [("ok",)]
        await store.commit([a_call(thread_id="t1", interrupt_id=str(len(stored) + 1))])


# --- shared ---


async def test_processes_share_a_file(path: Path) -> None:
    names = ["one", "two", "three"]
    writers = [await write(path, name, 30) for name in names]
    async with opened(path) as store:
        for number in range(1, 31):
            await store.commit([an_event(number)])
        for writer in writers:
            await writer.communicate()
            assert writer.returncode == 0
        for name in names:
            assert await numbers_on(store, name) == list(range(1, 31))
        assert len(await store.events("t1")) == 30


async def test_stores_share_a_file(path: Path) -> None:
    async with opened(path) as one, opened(path) as other:
        await one.commit([a_thread(), a_call()])
        assert await other.thread("t1") == a_thread()
        await other.commit([a_call(version=2)])
        with pytest.raises(StaleWrite):
            await one.commit([a_call(version=2), an_event(1)])
        await asyncio.gather(
            *(store.commit([an_event(n, thread_id="t2")]) for n in range(1, 41) for store in (one, other))
        )
        assert len(await one.events("t2")) == len(await other.events("t2")) == 40
        assert list(await one.events("t1")) == []


async def test_a_new_file_is_opened_by_many_at_once(path: Path) -> None:
    stores = [SqliteStore(path) for _ in range(8)]
    await asyncio.gather(*(store.open() for store in stores))
    await asyncio.gather(*(store.commit([a_thread(id=str(n))]) for n, store in enumerate(stores)))
    assert [await stores[0].thread(str(n)) is not None for n in range(8)] == [True] * 8
    await asyncio.gather(*(store.close() for store in stores))
    assert versions(path) == list(range(1, KNOWN + 1))


async def test_tables_of_others_stay(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE checkpoints (a); INSERT INTO checkpoints VALUES (7)")
    async with opened(path):
        pass
    assert select(path, "SELECT a FROM checkpoints") == [(7,)]
    tables = select(path, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    assert all(name.startswith("farside_") for (name,) in tables if name != "checkpoints")


# --- brought up to date ---

KNOWN = len(migrations.MIGRATIONS)
NEXT = ("ALTER TABLE farside_threads ADD COLUMN note TEXT", "CREATE TABLE farside_notes (a)")


@pytest.fixture
def grow(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives the schema more versions."""
    released = migrations.MIGRATIONS

    def extend(*more: tuple[str, ...]) -> None:
        monkeypatch.setattr(migrations, "MIGRATIONS", (*released, *more))

    return extend


def versions(path: Path) -> list[int]:
    return [version for (version,) in select(path, "SELECT version FROM farside_schema ORDER BY version")]


async def test_an_older_file_is_brought_up_to_date(path: Path, grow: Callable[..., None]) -> None:
    async with opened(path) as store:
        await store.commit([a_thread(), an_event(1)])
    grow(NEXT, ("INSERT INTO farside_notes VALUES (1)",))
    for _ in range(2):
        async with opened(path) as store:
            assert await store.thread("t1") == a_thread()
            assert list(await store.events("t1")) == [an_event(1)]
        assert versions(path) == list(range(1, KNOWN + 3))
        assert select(path, "SELECT note FROM farside_threads") == [(None,)]
        assert select(path, "SELECT a FROM farside_notes") == [(1,)]


async def test_threads_from_before_they_were_listed_are_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", released[:2])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrations.migrate(db, path)
        for name, agent, created in (("t1", "guide", NOW), ("t2", "écho's", NOW + 2)):
            db.execute("INSERT INTO farside_threads VALUES (?, ?, ?, 0)", [name, agent, created])
        for seq, when in ((1, NOW + 9), (7, NOW + 5)):
            values = ["t1", seq, "r1", "lifecycle", packed([]), when, packed({})]
            db.execute("INSERT INTO farside_events VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    monkeypatch.setattr(migrations, "MIGRATIONS", released)
    async with opened(path) as store:
        found = {info.id: info for info in await store.search(ThreadQuery())}
        assert [(info.created_at, info.updated_at, info.state_updated_at) for info in found.values()] == [
            (NOW, NOW + 5, NOW + 5),
            (NOW + 2, NOW + 2, NOW + 2),
        ]
        assert found["t2"].metadata == {"graph_id": "écho's", "assistant_id": "écho's"}
        for name in ("graph_id", "assistant_id"):
            assert [info.id for info in await store.search(ThreadQuery(metadata={name: "guide"}))] == ["t1"]
        await store.commit([ThreadUpdate("t1", NOW + 9, {"graph_id": "other"})])
        assert await store.count(ThreadQuery(metadata={"graph_id": "guide"})) == 0


async def test_a_list_reads_what_it_shows_and_no_more(path: Path) -> None:
    """The order of a list, and what is unusual, have their indexes."""
    async with opened(path) as store:
        await store.commit([a_thread(), ThreadUpdate("t1", NOW, {"user": "a"})])
        for query in (
            ThreadQuery(),
            ThreadQuery(sort_by="created_at"),
            ThreadQuery(sort_by="state_updated_at", descending=False),
            ThreadQuery(sort_by="thread_id", status="idle"),
            ThreadQuery(status="busy"),
            ThreadQuery(status="interrupted"),
            ThreadQuery(metadata={"user": "a"}),
        ):
            asked: list[str] = []
            store._db.set_trace_callback(asked.append)
            await store.search(query)
            store._db.set_trace_callback(None)
            plan = [row[3] for row in store._db.execute(f"EXPLAIN QUERY PLAN {asked[-1]}")]
            scans = [step for step in plan if step.startswith("SCAN") and "INDEX" not in step]
            assert scans == [], (query, plan)
            sorts = any("TEMP B-TREE FOR ORDER BY" in step for step in plan)
            assert not sorts or query.status in ("busy", "interrupted") or query.metadata, (query, plan)


async def test_a_change_of_the_schema_that_fails_leaves_the_file_as_it_was(
    path: Path, grow: Callable[..., None]
) -> None:
    async with opened(path) as store:
        await store.commit([a_thread()])
    before = dump(path)
    grow(NEXT, ("CREATE TABLE farside_more (a)", "nonsense"))
    store = SqliteStore(path)
    with pytest.raises(sqlite3.OperationalError, match="nonsense"):
        await store.open()
    assert dump(path) == before
    grow(NEXT)
    async with opened(path) as store:
        assert await store.thread("t1") == a_thread()
    assert versions(path) == list(range(1, KNOWN + 2))


async def test_a_newer_file_is_refused_and_left_as_it_is(path: Path, grow: Callable[..., None]) -> None:
    grow(NEXT)
    async with opened(path) as store:
        await store.commit([a_thread()])
    before, bytes_before = dump(path), content(path)
    grow()
    store = SqliteStore(path)
    with pytest.raises(RuntimeError, match=f"has schema version {KNOWN + 1}, this farside knows {KNOWN}; upgrade"):
        await store.open()
    with pytest.raises(RuntimeError, match="closed"):
        await store.thread("t1")
    assert content(path) == bytes_before
    assert dump(path) == before


# --- refused ---


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected a folder for the SQLite file .*nowhere.*; make it first"):
        await SqliteStore(tmp_path / "nowhere" / "farside.db").open()


async def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    await asyncio.to_thread(path.write_bytes, b"no database" * 1000)
    with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
        await SqliteStore(path).open()
    assert content(path) == b"no database" * 1000


async def test_a_database_that_cannot_be_durable_is_refused() -> None:
    with pytest.raises(RuntimeError, match="WAL"):
        await SqliteStore(":memory:").open()


async def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore(path)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="closed"):
            await store.commit([a_thread()])
        with pytest.raises(RuntimeError, match="closed"):
            await store.thread("t1")
        await store.open()
        await store.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("farside-sqlite")]


async def test_a_value_that_may_not_travel_is_refused_and_nothing_is_stored(path: Path) -> None:
    async with opened(path) as store:
        with pytest.raises(FarsideError) as caught:
            await store.commit([a_thread(), an_event(1, data={"a": float("nan")})])
        assert caught.value.code == "invalid_value"
        assert await store.thread("t1") is None


async def test_a_full_disk_stores_nothing_and_later_commits_work(path: Path) -> None:
    async with opened(path) as store:
        [pages] = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count={pages + 20}")
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await store.commit([a_thread(), an_event(1, data={"a": bytes(1_000_000)})])
        assert await store.thread("t1") is None
        await store.commit([a_thread()])
        assert await store.thread("t1") == a_thread()


async def test_a_file_that_another_program_keeps_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0.01)
    async with opened(path) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                await store.commit([a_thread()])
            assert await store.thread("t1") is None
            other.execute("ROLLBACK")
        await store.commit([a_thread()])
        assert await store.thread("t1") == a_thread()
