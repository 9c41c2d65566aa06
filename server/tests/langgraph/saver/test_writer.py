"""One thread writes: in groups, in order, and to the end."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import threading
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from farside.langgraph import SqliteSaver
from farside.langgraph.saver import schema
from farside.langgraph.saver.transaction import Transaction
from server.tests.langgraph.saver.made import config, items, message, messages_of, put, rows

Hold = Callable[[SqliteSaver], threading.Event]


def file_of(saver: SqliteSaver) -> Any:
    return saver._shared.open()


async def begun(saver: SqliteSaver, *works: Any) -> list[asyncio.Future[Any]]:
    """Submit work without waiting for it."""
    loop = asyncio.get_running_loop()
    return [file_of(saver).writer.submit("t", work, loop) for work in works]


def fail(transaction: Transaction) -> None:
    transaction.db.execute("INSERT INTO farside_saver_threads (thread_id) VALUES ('undone')")
    raise LookupError("this work fails")


@pytest.fixture
def hold() -> Generator[Hold]:
    """Keeps a saver's writer busy with this one piece of work until the event is set, or the test is over."""
    events: list[threading.Event] = []

    def hold(saver: SqliteSaver) -> threading.Event:
        begun, event = threading.Event(), threading.Event()
        events.append(event)

        def wait(_: Transaction) -> None:
            begun.set()
            event.wait()

        file_of(saver).writer.submit("held", wait, None)
        begun.wait()
        return event

    yield hold
    for event in events:
        event.set()


async def test_what_many_threads_put_at_once_is_one_commit(saver: SqliteSaver, path: Path, hold: Hold) -> None:
    may_go_on = hold(saver)
    commits = file_of(saver).writer.commits
    puts = [asyncio.ensure_future(saver.aput(*put([message()], f"t{number}"))) for number in range(50)]
    writes = [asyncio.ensure_future(saver.aput_writes(config("t0", parent="c"), [("a", 1)], "task"))]
    await asyncio.sleep(0)
    may_go_on.set()
    await asyncio.gather(*puts, *writes)
    assert file_of(saver).writer.commits == commits + 2  # what held the writer, and all the others
    assert items(path) == 50


async def test_work_that_fails_fails_alone(saver: SqliteSaver, path: Path, hold: Hold) -> None:
    may_go_on = hold(saver)
    history = [message()]
    first = asyncio.ensure_future(saver.aput(*put(history)))
    await asyncio.sleep(0)
    [failing] = await begun(saver, fail)
    history.append(message())
    second = asyncio.ensure_future(saver.aput(*put(history)))
    await asyncio.sleep(0)
    may_go_on.set()
    with pytest.raises(LookupError, match="this work fails"):
        await failing
    await asyncio.gather(first, second)
    assert messages_of(await saver.aget_tuple(config())) == history
    assert rows(path, "SELECT thread_id FROM farside_saver_threads") == [("t",)]
    assert items(path) == 2


async def test_what_a_failed_put_would_have_stored_is_stored_by_the_next(saver: SqliteSaver, path: Path) -> None:
    history = [message()]
    place, given, metadata, versions = put(history)
    bad: Any = {**given, "id": ["no", "id"]}
    with pytest.raises(sqlite3.Error):
        await saver.aput(place, bad, metadata, versions)
    assert items(path) == 0
    await saver.aput(*put(history))
    assert messages_of(await saver.aget_tuple(config())) == history


def test_a_transaction_that_cannot_be_rolled_back_is_so_before_the_next(saver: SqliteSaver, path: Path) -> None:
    file = file_of(saver)
    denied = [sqlite3.SQLITE_TRANSACTION, "ROLLBACK"]

    def allow(action: int, name: str | None, *_: str | None) -> int:
        return sqlite3.SQLITE_DENY if [action, name] == denied else sqlite3.SQLITE_OK

    def deny(transaction: Transaction) -> None:
        transaction.db.set_authorizer(allow)
        fail(transaction)

    with pytest.raises(LookupError, match="this work fails"):
        file.write("t", deny)
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        saver.put(*put([message()]))
    denied.clear()
    saver.put(*put([message()]))
    assert rows(path, "SELECT thread_id FROM farside_saver_threads") == [("t",)]


def test_a_read_that_was_interrupted_before_its_end_keeps_nobody_from_reading(saver: SqliteSaver) -> None:
    saver.put(*put([message("one")]))
    file_of(saver)._db.execute("BEGIN")
    assert messages_of(saver.get_tuple(config()))[0].content == "one"
    saver.put(*put([message("two")]))
    assert messages_of(saver.get_tuple(config()))[0].content == "two"


async def test_a_file_that_is_locked_for_too_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 50)
    async with SqliteSaver(path) as saver:
        with sqlite3.connect(path, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            puts = [saver.aput(*put([message()], f"t{number}")) for number in range(3)]
            reads = [saver.aget_tuple(config(f"t{number}")) for number in range(3)]
            *done, first, second, third = await asyncio.gather(*puts, *reads, return_exceptions=True)
            other.execute("ROLLBACK")
        assert [str(each) for each in done] == ["database is locked"] * 3
        assert first is second is third is None
        await saver.aput(*put([message()]))
        assert messages_of(await saver.aget_tuple(config()))


@pytest.mark.parametrize("write", ["aput", "aput_writes"])
async def test_a_write_that_is_cancelled_is_finished_and_locks_nobody_out(
    saver: SqliteSaver, path: Path, write: str, hold: Hold
) -> None:
    """Stopping a run in the middle of a checkpoint must not keep our store, in the same file, from storing that."""
    may_go_on = hold(saver)
    what: Any = put([message()]) if write == "aput" else (config(parent="c"), [("a", 1)], "task")
    task = asyncio.ensure_future(getattr(saver, write)(*what))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    with sqlite3.connect(path, timeout=0) as other:
        other.execute("BEGIN IMMEDIATE")
        counts = "(SELECT COUNT(*) FROM farside_saver_checkpoints), (SELECT COUNT(*) FROM farside_saver_writes)"
        assert other.execute(f"SELECT {counts}").fetchone() == ((1, 0) if write == "aput" else (0, 1))


async def test_a_failure_of_a_cancelled_write_is_nobodys(saver: SqliteSaver, hold: Hold) -> None:
    may_go_on = hold(saver)
    task = asyncio.ensure_future(file_of(saver).awrite("t", fail))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_read_sees_what_was_put_before_it_and_is_not_awaited(saver: SqliteSaver, hold: Hold) -> None:
    may_go_on = hold(saver)
    history = [message()]
    writing = asyncio.ensure_future(saver.aput(*put(history)))
    await asyncio.sleep(0)
    reading = asyncio.ensure_future(saver.aget_tuple(config()))
    listing = asyncio.ensure_future(anext(saver.alist(None)))
    elsewhere = await saver.aget_tuple(config("another"))
    assert elsewhere is None
    assert not reading.done()
    may_go_on.set()
    assert messages_of(await reading) == messages_of(await listing) == history
    await writing


async def test_what_is_in_memory_is_read_where_it_is_asked_for(saver: SqliteSaver) -> None:
    await saver.aput(*put([message()]))
    assert (
        await reading_thread(saver, "t", hot=file_of(saver).cache.holds(saver.serde, "t")) is threading.current_thread()
    )
    assert (
        await reading_thread(saver, "u", hot=file_of(saver).cache.holds(saver.serde, "u"))
        is not threading.current_thread()
    )


async def reading_thread(saver: SqliteSaver, thread_id: str, *, hot: bool) -> threading.Thread:
    return await file_of(saver).aread(thread_id, lambda _: threading.current_thread(), hot=hot)


async def test_a_read_does_not_hold_up_the_event_loop_while_another_thread_reads(saver: SqliteSaver) -> None:
    history = [message()]
    await saver.aput(*put(history))
    begun, may_go_on = threading.Event(), threading.Event()

    def slow(_: Any) -> bool:
        begun.set()
        return may_go_on.wait(10)

    other = asyncio.ensure_future(asyncio.to_thread(file_of(saver).read, None, slow))
    await asyncio.to_thread(begun.wait)
    reading = asyncio.ensure_future(saver.aget_tuple(config()))
    asyncio.get_running_loop().call_soon(may_go_on.set)
    assert messages_of(await reading) == history
    assert await other, "the loop was held up"


def test_any_thread_may_use_either_interface(saver: SqliteSaver) -> None:
    def synchronous(number: int) -> Any:
        saver.put(*put([message()], f"s{number}"))
        return saver.get_tuple(config(f"s{number}"))

    def asynchronous(number: int) -> Any:
        async def run() -> Any:
            await saver.aput(*put([message()], f"a{number}"))
            return await saver.aget_tuple(config(f"a{number}"))

        return asyncio.run(run())

    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(synchronous, range(20)), *threads.map(asynchronous, range(20))]
    assert all(messages_of(each) for each in found)
    assert len(list(saver.list(None))) == 40


async def test_the_synchronous_interface_works_beside_a_running_loop(saver: SqliteSaver) -> None:
    """It blocks the loop, but for the writer's time only."""
    saver.put(*put([message()]))
    assert messages_of(saver.get_tuple(config())) == messages_of(await saver.aget_tuple(config()))


async def test_closing_finishes_what_was_put(path: Path, hold: Hold) -> None:
    saver = SqliteSaver(path)
    may_go_on = hold(saver)
    puts = [asyncio.ensure_future(saver.aput(*put([message()], f"t{number}"))) for number in range(10)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(asyncio.to_thread(saver.close))
    may_go_on.set()
    await asyncio.gather(closing, *puts)
    saver.close()
    assert items(path) == 10


async def test_a_closed_saver_says_so(path: Path) -> None:
    saver = SqliteSaver(path)
    await saver.aput(*put([message()]))
    file = file_of(saver)
    await saver.aget_tuple(config("cold"))
    clone = saver.with_allowlist([("somewhere", "Something")])
    saver.close()
    uses: list[Any] = [
        lambda: saver.get_tuple(config()),
        lambda: clone.put(*put([message()])),
        lambda: list(saver.list(None)),
        lambda: file.read("t", lambda tuples: None),
        lambda: file.write("t", lambda transaction: None),
        saver.open,
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match="closed; "):
            use()
    with pytest.raises(RuntimeError, match="closed; "):
        await saver.aget_tuple(config())
    with pytest.raises(RuntimeError, match="closed; "):
        await file.aread("t", lambda tuples: None)


def test_a_saver_that_nobody_closes_ends_with_the_last_reference(path: Path) -> None:
    saver = SqliteSaver(path)
    saver.put(*put([message()]))
    writer = file_of(saver).writer
    del saver
    assert not writer._thread.is_alive()


@pytest.mark.parametrize("when", ["in a piece of work", "after it"])
def test_the_garbage_collector_may_end_it_in_its_own_thread(
    path: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a graph, which refers to itself, was the last to have it."""
    saver = SqliteSaver(path)
    writer = file_of(saver).writer
    may_go_on = threading.Event()

    def collect(_: Transaction) -> None:
        may_go_on.wait()
        gc.collect()

    class Waiting(dict[str, int]):
        """Collects where the writer counts what still waits."""

        def __delitem__(self, thread_id: str) -> None:
            collect(cast("Transaction", None))
            super().__delitem__(thread_id)

    if when == "after it":
        monkeypatch.setattr(writer, "_waiting", Waiting())
    writer.submit("t", collect if when == "in a piece of work" else lambda _: None, None)
    circle: list[Any] = [saver]
    circle.append(circle)
    del saver, circle
    may_go_on.set()
    writer._thread.join(10)
    assert not writer._thread.is_alive()


def test_a_process_that_is_forked_off_is_told_to_make_a_saver_of_its_own(saver: SqliteSaver) -> None:
    """The thread that writes is not in it: without a word, it would wait for ever."""
    saver.put(*put([message()]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on: there are threads
        child = os.fork()
    if child == 0:
        refused = 0
        for use in (lambda: saver.put(*put([message()])), lambda: saver.get_tuple(config()), saver.open):
            try:
                use()
            except RuntimeError as error:
                refused += "make another saver" in str(error)
        saver.close()
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    saver.put(*put([message()]))
