"""The contract of a store: what ``farside.core.ports.Store`` promises, as tests for anybody's implementation.

.. code-block:: python

    class TestMyStore(StoreContract):
        @pytest.fixture
        def unopened(self, tmp_path):
            return MyStore(tmp_path / "threads")

Needs pytest and pytest-asyncio. For readable failures call
``pytest.register_assert_rewrite("farside.testing.contracts")`` before the import.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from farside.core.model import Call, Event, JournalEntry, Run, Thread, ThreadInfo, ThreadUpdate, failure, success
from farside.core.ports import Lease, LeaseLost, StaleWrite, Store, ThreadQuery
from farside.errors import FarsideError
from farside.wire.messages import ErrorBody

NOW = 1_700_000_000_000


def a_thread(**changes: Any) -> Thread:
    """A thread to store."""
    return replace(Thread("t1", "assistant", NOW, 1000), **changes)


def a_run(**changes: Any) -> Run:
    """A run to store."""
    return replace(Run("r1", "t1", "assistant", {"messages": []}, {}, "running", NOW), **changes)


def a_call(**changes: Any) -> Call:
    """A call to store for the first time."""
    made = Call("t1", "r1", "i1", "tool", "call_1", "get_location", {"high": True}, NOW, version=1)
    return replace(made, **changes)


def an_event(seq: int, **changes: Any) -> Event:
    """An event to store."""
    return replace(Event("t1", "r1", seq, "messages", (), NOW + seq, {"event": "message-finish"}), **changes)


def an_entry(position: str, **changes: Any) -> JournalEntry:
    """A journal entry to store."""
    return replace(JournalEntry("t1", "r1", position, "step", "fetch", 1), **changes)


async def ids(store: Store, **query: Any) -> list[str]:
    """The threads that the store finds, which are as many as it counts."""
    many: dict[str, Any] = {"limit": 1000, **query}
    found = [info.id for info in await store.search(ThreadQuery(**many))]
    assert await store.count(ThreadQuery(**query)) == len(found)
    return found


async def described(store: Store, metadata: dict[str, Any], **changes: Any) -> None:
    """Store a thread with metadata."""
    thread = a_thread(**changes)
    await store.commit([thread, ThreadUpdate(thread.id, thread.created_at, metadata)])


VALUES: dict[str, Any] = {
    "null": None,
    "booleans": [True, False],
    "integers": [0, 1, -1, 2**31, 2**53 - 1, -(2**53 - 1)],
    "floats": [0.5, -0.1, 5e-324, 1e15],
    "strings": ["", "a", "\x00", "é€😀", "e\u0301", "'\"\\%_;--", "\u2028\ufeff"],
    "bytes": [b"", b"\x00", b"\xff\xfe", bytes(range(256))],
    "bytes alone": b"\x00\xff",
    "arrays": [[], [[]], [[[1], None]]],
    "objects": {"": {}, "a b": {"é": 1}, "constructor": 1, "$bytes": "AA", "😀": [b"a"]},
    "what looks like bytes": {"$bytes": "AA"},
    "depth": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],
}
"""Values of every kind."""

UNUSUAL = [
    "é",
    "e\u0301",
    "日本語",
    "😀",
    " a",
    "a ",
    "A",
    "a",
    "%",
    "_",
    "a'b",
    'a"b',
    "a;--",
    "a/b",
    "a:b",
    "\\",
    "x" * 256,
]
"""Ids that a store may not mix up, cut or fold."""


class StoreContract:
    """Derive from it, and give the fixture ``unopened``: a new, empty store that was not opened yet."""

    pytestmark = pytest.mark.asyncio

    @pytest.fixture
    def unopened(self) -> Store:
        """The store under test."""
        raise NotImplementedError("override the fixture `unopened`: return a new, empty store")

    @pytest_asyncio.fixture
    async def store(self, unopened: Store) -> AsyncGenerator[Store]:
        """The store under test, open; closed at the end."""
        await unopened.open()
        yield unopened
        await unopened.close()

    # --- each noun: absent, stored, replaced ---

    async def test_an_empty_store_has_nothing(self, store: Store) -> None:
        assert await store.thread("t1") is None
        assert await store.run("t1", "r1") is None
        assert await store.latest_run("t1") is None
        assert list(await store.unfinished()) == []
        assert await store.call("t1", "i1") is None
        assert list(await store.calls("t1")) == []
        assert await store.next_due() is None
        assert list(await store.due(NOW)) == []
        assert list(await store.events("t1")) == []
        assert await store.run_started_seq("t1") == 0
        assert list(await store.journal("t1", "r1")) == []

    async def test_an_empty_commit_is_one(self, store: Store) -> None:
        await store.commit([])

    async def test_threads(self, store: Store) -> None:
        await store.commit([a_thread(), a_thread(id="t2", reserved_seq=0)])
        assert await store.thread("t1") == a_thread()
        changed = a_thread(agent="other", created_at=NOW + 1, reserved_seq=2000)
        await store.commit([changed])
        assert await store.thread("t1") == changed
        assert await store.thread("t2") == a_thread(id="t2", reserved_seq=0)

    async def test_runs(self, store: Store) -> None:
        await store.commit([a_run(), a_run(thread_id="t2", agent="other")])
        assert await store.run("t1", "r1") == a_run()
        assert await store.run("t2", "r1") == a_run(thread_id="t2", agent="other")
        assert await store.run("t1", "r2") is None
        error = ErrorBody(code="agent_failed", message="m", details={"a": [1, None]})
        changed = Run("r1", "t1", "other", [1], {"a": 1}, "failed", NOW + 1, error)
        await store.commit([changed])
        assert await store.run("t1", "r1") == changed
        await store.commit([replace(changed, error=ErrorBody(code="agent_failed", message="m"))])
        assert await store.run("t1", "r1") == replace(changed, error=ErrorBody(code="agent_failed", message="m"))

    async def test_the_latest_run_is_the_one_that_was_stored_last_for_the_first_time(self, store: Store) -> None:
        await store.commit([a_run(id="b", created_at=NOW + 9)])
        await store.commit([a_run(id="a"), a_run(id="z", thread_id="t2")])
        assert await store.latest_run("t1") == a_run(id="a")
        await store.commit([a_run(id="b", status="completed")])
        assert await store.latest_run("t1") == a_run(id="a")

    async def test_a_queued_run_has_not_started(self, store: Store) -> None:
        first, waiting = (
            a_run(id="a"),
            [a_run(id="b", status="queued", started=False, starter="c"), a_run(id="c", status="queued", started=False)],
        )
        await store.commit([first, *waiting, a_run(id="d", thread_id="t2", status="queued")])
        assert await store.latest_run("t1") == first
        assert list(await store.queued("t1")) == waiting
        assert list(await store.unfinished()) == [first, *waiting, a_run(id="d", thread_id="t2", status="queued")]
        await store.commit([replace(waiting[0], status="running", started=True)])
        assert await store.latest_run("t1") == replace(waiting[0], status="running", started=True)
        assert list(await store.queued("t1")) == waiting[1:]
        await store.commit([replace(waiting[1], status="cancelled")])
        assert (await store.latest_run("t1") or first).id == "b", "a run that was withdrawn never started"

    async def test_the_start_of_a_queued_run_is_no_start_yet(self, store: Store) -> None:
        await store.commit([a_run(id="a"), an_event(3, run_id="a"), a_run(id="b", status="queued", started=False)])
        await store.commit([an_event(4, run_id="b")])
        assert await store.run_started_seq("t1") == 3

    async def test_running_runs_of_all_threads_oldest_first(self, store: Store) -> None:
        runs = [a_run(id=run_id, thread_id=thread_id) for run_id, thread_id in (("c", "t2"), ("a", "t1"), ("b", "t3"))]
        await store.commit([*runs, a_run(id="d", status="completed")])
        assert list(await store.unfinished()) == runs
        await store.commit([replace(runs[1], status="cancelled")])
        assert list(await store.unfinished()) == [runs[0], runs[2]]
        await store.commit([replace(runs[1], status="running")])
        assert list(await store.unfinished()) == runs

    async def test_calls(self, store: Store) -> None:
        full = a_call(
            interrupt_id="i2", title="T", idempotent=True, deadline=NOW + 1, state="claimed", client_id="c",
            claim_id="k", lease_until=NOW + 2,
        )  # fmt: skip
        await store.commit([a_call(), full, a_call(thread_id="t2", kind="input", tool_call_id="", name="", args={})])
        assert await store.call("t1", "i1") == a_call()
        assert await store.call("t1", "i2") == full
        changed = Call(
            "t1", "r2", "i1", "input", "call_2", "copy", {}, NOW + 3, "settled", "U", True, NOW, "d", "l", NOW + 4,
            success({"a": 1}), NOW + 5, "d", 2,
        )  # fmt: skip
        await store.commit([changed])
        assert await store.call("t1", "i1") == changed
        assert await store.call("t1", "i2") == full

    async def test_calls_of_a_thread_in_the_order_in_which_they_were_opened(self, store: Store) -> None:
        opened = [a_call(interrupt_id="b"), a_call(interrupt_id="a", run_id="r2"), a_call(interrupt_id="c")]
        await store.commit(opened[:1])
        await store.commit([*opened[1:], a_call(thread_id="t2")])
        assert list(await store.calls("t1")) == opened
        settled = replace(opened[0], state="settled", result=success(1), version=2)
        await store.commit([settled])
        assert list(await store.calls("t1")) == [settled, *opened[1:]]
        assert list(await store.calls("t1", unsettled=True)) == opened[1:]
        assert list(await store.calls("t1", run_id="r1")) == [settled, opened[2]]
        assert list(await store.calls("t1", run_id="r1", unsettled=True)) == [opened[2]]
        assert list(await store.calls("t1", run_id="r9")) == []

    async def test_events_of_a_thread_in_the_order_of_their_seq(self, store: Store) -> None:
        first, second, third, far = an_event(1, namespace=("a", "é")), an_event(2), an_event(3), an_event(2**53 - 1)
        await store.commit([third, an_event(2, thread_id="t2")])
        await store.commit([far, first])
        await store.commit([second])
        assert list(await store.events("t1")) == [first, second, third, far]
        assert list(await store.events("t1", after=1)) == [second, third, far]
        assert list(await store.events("t1", after=2**53 - 1)) == []
        assert [event.thread_id for event in await store.events("t2")] == ["t2"]

    async def test_an_event_that_is_stored_again_replaces_itself(self, store: Store) -> None:
        """A commit whose caller was cancelled is made again."""
        await store.commit([an_event(1), an_event(2)])
        changed = an_event(1, method="tools", run_id="r2", timestamp=5, namespace=("a",), data={"a": 1})
        await store.commit([changed, an_event(3)])
        assert list(await store.events("t1")) == [changed, an_event(2), an_event(3)]

    async def test_events_come_back_without_their_frames(self, store: Store) -> None:
        framed = an_event(1, frames={"json": "{}"})
        await store.commit([framed])
        [event] = await store.events("t1")
        assert event == framed
        assert event.frames == {}

    async def test_where_the_newest_run_began(self, store: Store) -> None:
        await store.commit([a_run(), an_event(5), an_event(3)])
        assert await store.run_started_seq("t1") == 3
        await store.commit([a_run(id="r2"), an_event(4, thread_id="t2", run_id="r2")])
        assert await store.run_started_seq("t1") == 0
        await store.commit([an_event(8, run_id="r2"), an_event(9, run_id="r2"), an_event(10)])
        assert await store.run_started_seq("t1") == 8
        assert await store.run_started_seq("t2") == 0

    async def test_a_journal_in_the_order_of_writing(self, store: Store) -> None:
        entries = [an_entry("2"), an_entry("10", kind="say", name="", value=None), an_entry("1")]
        await store.commit(entries[:2])
        await store.commit([entries[2], an_entry("1", run_id="r2")])
        assert list(await store.journal("t1", "r1")) == entries
        entries[1] = an_entry("10", kind="step", name="other", value=[b"a"])
        await store.commit([entries[1]])
        assert list(await store.journal("t1", "r1")) == entries

    async def test_the_history_of_a_thread_in_the_order_of_writing(self, store: Store) -> None:
        first, second, third = (an_entry(position, kind="message", value=b"{}") for position in ("2", "10", "1"))
        later, other = replace(first, run_id="r2"), replace(first, thread_id="t2")
        await store.commit([first, an_entry("0"), second, other])
        await store.commit([later, third])
        changed = replace(first, name="other")
        await store.commit([changed])
        assert list(await store.history("t1")) == [changed, second, later, third]
        assert list(await store.history("t2")) == [other]
        assert list(await store.history("t3")) == []

    # --- lists of threads ---

    async def test_a_thread_in_a_list(self, store: Store) -> None:
        assert await ids(store) == []
        await store.commit([a_thread(agent="")])
        made = ThreadInfo("t1", "", NOW, NOW, NOW, {}, "idle")
        assert list(await store.search(ThreadQuery())) == [made]
        await store.commit([ThreadUpdate("t1", NOW + 1, {"a": 1, "b": {"c": 1}})])
        await store.commit([ThreadUpdate("t1", NOW + 2, has_run=True)])
        await store.commit([a_thread(agent="other", reserved_seq=7), ThreadUpdate("t1", NOW + 3, {"b": [1]})])
        assert list(await store.search(ThreadQuery())) == [
            ThreadInfo("t1", "other", NOW, NOW + 3, NOW + 2, {"a": 1, "b": [1]}, "idle")
        ]
        assert await store.thread("t1") == a_thread(agent="other", reserved_seq=7)

    async def test_updates_come_after_what_else_is_written(self, store: Store) -> None:
        updates = [ThreadUpdate("t1", NOW + 1, {"a": 1}), ThreadUpdate("t1", NOW + 2, {"b": 2})]
        await store.commit([*updates, a_thread()])
        [info] = await store.search(ThreadQuery())
        assert (info.updated_at, info.metadata) == (NOW + 2, {"a": 1, "b": 2})

    async def test_an_update_of_no_thread_changes_nothing(self, store: Store) -> None:
        await store.commit([ThreadUpdate("t1", NOW, {"a": 1}), a_run()])
        assert await ids(store) == []
        await store.commit([a_thread()])
        assert await ids(store, metadata={"a": 1}) == []

    async def test_metadata_that_become_too_large_are_refused_and_nothing_is_stored(self, store: Store) -> None:
        await described(store, {"a": "x" * 40_000})
        with pytest.raises(FarsideError) as refused:
            await store.commit([a_run(), ThreadUpdate("t1", NOW + 1, {"b": "x" * 40_000})])
        assert refused.value.code == "too_large"
        assert await store.run("t1", "r1") is None
        [info] = await store.search(ThreadQuery())
        assert (info.updated_at, list(info.metadata)) == (NOW, ["a"])

    @pytest.mark.parametrize("kind", VALUES)
    async def test_metadata_of_every_kind(self, store: Store, kind: str) -> None:
        metadata = {"value": VALUES[kind], "other": 1}
        await described(store, metadata)
        await described(store, {"other": 1}, id="t2")
        [info] = await store.search(ThreadQuery(ids=("t1",)))
        assert info.metadata == metadata
        assert await ids(store, metadata={"value": VALUES[kind]}) == ["t1"]
        assert await ids(store, metadata=metadata) == ["t1"]
        assert sorted(await ids(store, metadata={"other": 1})) == ["t1", "t2"]
        assert sorted(await ids(store, metadata={})) == ["t1", "t2"]

    async def test_threads_are_found_by_their_metadata(self, store: Store) -> None:
        await described(store, {"user": "a", "n": 1, "deep": {"x": {"y": 1, "z": [1, 2]}, "w": None}})
        await described(store, {"user": "b", "n": 1.5, "yes": True, "deep": {"x": 1}}, id="t2")
        fits: list[dict[str, Any]] = [
            {"user": "a"}, {"n": 1.0}, {"user": "a", "n": 1}, {"deep": {"w": None}}, {"deep": {"x": {"y": 1}}},
            {"deep": {"x": {}}}, {"deep": {"x": {"z": [1.0, 2]}}, "user": "a"},
        ]  # fmt: skip
        for metadata in fits:
            assert await ids(store, metadata=metadata) == ["t1"], metadata
        fits_none: list[dict[str, Any]] = [
            {"user": "c"}, {"user": "a", "n": 2}, {"yes": 1}, {"n": "1"}, {"n": True}, {"nobody": None}, {"user": {}},
            {"deep": {"x": {"z": [1]}}}, {"deep": {"x": {"z": [2, 1]}}}, {"y": 1}, {"deep.w": None}, {"x": {"y": 1}},
        ]  # fmt: skip
        for metadata in fits_none:
            assert await ids(store, metadata=metadata) == [], metadata
        assert sorted(await ids(store, metadata={"deep": {}})) == ["t1", "t2"]

    async def test_metadata_that_were_replaced_are_not_found(self, store: Store) -> None:
        await described(store, {"deep": {"x": 1, "y": 1}, "user": "a"})
        await store.commit([ThreadUpdate("t1", NOW, {"deep": {"y": 1}})])
        assert await ids(store, metadata={"deep": {"x": 1}}) == []
        assert await ids(store, metadata={"deep": {"y": 1}, "user": "a"}) == ["t1"]

    @pytest.mark.parametrize("name", UNUSUAL)
    async def test_names_and_values_are_data(self, store: Store, name: str) -> None:
        await store.commit([a_thread(id=other) for other in UNUSUAL])
        await store.commit([ThreadUpdate(other, NOW, {other: other, "name": other}) for other in UNUSUAL])
        assert await ids(store, metadata={name: name}) == [name]
        assert await ids(store, metadata={"name": name}) == [name]
        assert [info.id for info in await store.search(ThreadQuery(ids=(name,)))] == [name]

    async def test_the_status_follows_from_runs_and_calls(self, store: Store) -> None:
        await store.commit([a_thread(), a_thread(id="t2")])

        async def status(*writes: Any) -> str:
            await store.commit(writes)
            [shown] = [info.status for info in await store.search(ThreadQuery(ids=("t1",)))]
            for each in ("idle", "busy", "interrupted", "error"):
                others = ["t2"] if each == "idle" else []
                assert await ids(store, status=each, descending=False) == (["t1"] if each == shown else []) + others
            return shown

        assert await status() == "idle"
        assert await status(a_run()) == "busy"
        waiting = a_call(kind="input", args={"payload": 1})
        assert await status(waiting) == "interrupted"
        assert await status(a_call(interrupt_id="i2", state="claimed")) == "interrupted"
        assert await status(replace(waiting, version=2, state="settled", result=success(1))) == "interrupted"
        assert await status(a_call(interrupt_id="i2", version=2, state="settled", result=success(1))) == "busy"
        assert await status(a_run(status="failed")) == "error"
        assert await status(a_run(id="r2", status="queued", started=False)) == "busy"
        assert await status(a_run(id="r2", status="cancelled", started=False)) == "error"
        assert await status(a_run(id="r3")) == "busy"
        assert await status(a_run(id="r3", status="completed")) == "idle"
        assert await status(a_run(id="r4", status="cancelled")) == "idle"

    async def test_the_order_of_a_list(self, store: Store) -> None:
        for name, created, updated, state in (("b", 3, 5, 4), ("a", 1, 6, 2), ("d", 2, 5, 6), ("c", 2, 4, 4)):
            await store.commit([a_thread(id=name, created_at=NOW + created)])
            await store.commit([ThreadUpdate(name, NOW + state, has_run=True)])
            await store.commit([ThreadUpdate(name, NOW + updated)])
        await store.commit([a_run(thread_id="c"), a_run(thread_id="d", status="failed")])
        orders = {
            "thread_id": "abcd", "created_at": "acdb", "updated_at": "cbda", "state_updated_at": "abcd",
            "status": "cdab",
        }  # fmt: skip
        for sort_by, order in orders.items():
            assert await ids(store, sort_by=sort_by, descending=False) == list(order)
            assert await ids(store, sort_by=sort_by) == list(reversed(order))
        assert await ids(store) == list("adbc")

    async def test_the_pages_of_a_list(self, store: Store) -> None:
        names = [f"t{number:02}" for number in range(25)]
        await store.commit([a_thread(id=name) for name in names])

        async def page(offset: int, limit: int) -> list[str]:
            query = ThreadQuery(offset=offset, limit=limit, descending=False)
            return [info.id for info in await store.search(query)]

        assert await page(0, 10) + await page(10, 10) + await page(20, 10) == names
        assert await page(25, 10) == await page(2**53 - 1, 1001) == []
        assert await store.count(ThreadQuery(offset=20, limit=1)) == 25

    async def test_a_list_of_named_threads(self, store: Store) -> None:
        await store.commit([a_thread(id=name) for name in "abc"])
        assert await ids(store, ids=("c", "a", "x", "a"), descending=False) == ["a", "c"]
        assert await ids(store, ids=()) == []
        assert await ids(store, ids=tuple(f"x{number}" for number in range(1000))) == []

    async def test_filters_together(self, store: Store) -> None:
        for name, user in (("a", 1), ("b", 1), ("c", 2)):
            await described(store, {"user": user}, id=name)
        await store.commit([a_run(thread_id="a"), a_run(thread_id="c")])
        assert await ids(store, metadata={"user": 1}, status="busy") == ["a"]
        assert await ids(store, metadata={"user": 1}, status="idle", ids=("b", "c")) == ["b"]
        assert await ids(store, metadata={"user": 2}, status="busy", ids=("a", "b")) == []

    async def test_metadata_that_many_threads_have(self, store: Store) -> None:
        """More than a store looks up one by one."""
        names = [f"t{number:04}" for number in range(1500)]
        await store.commit([a_thread(id=name) for name in names])
        await store.commit([ThreadUpdate(name, NOW, {"all": 1, "tens": name[:-1]}) for name in names])
        await store.commit([a_run(thread_id="t0007", status="failed")])
        page = await store.search(ThreadQuery(metadata={"all": 1}, sort_by="thread_id", offset=2, limit=2))
        assert [info.id for info in page] == ["t1497", "t1496"]
        assert await ids(store, metadata={"all": 1, "tens": "t014"}, descending=False) == names[140:150]
        assert await ids(store, metadata={"all": 1}, status="error") == ["t0007"]
        assert await store.count(ThreadQuery(metadata={"all": 1})) == 1500
        assert await store.count(ThreadQuery(metadata={"all": 2})) == 0

    async def test_a_deleted_thread_leaves_nothing_and_others_alone(self, store: Store) -> None:
        lease = Lease("t1", "p1", "1")
        await store.beat("p1", NOW + 10)
        for name in ("t1", "t2"):
            rows = [a_thread(id=name), ThreadUpdate(name, NOW, {"user": "a"}), a_run(thread_id=name)]
            entry = an_entry("1", thread_id=name, kind="message")
            call = a_call(thread_id=name, deadline=NOW)
            await store.commit([*rows, call, an_event(1, thread_id=name), entry])
            assert await store.acquire(replace(lease, thread_id=name), NOW)
        await store.delete("t1", lease=lease)
        assert await store.thread("t1") is None
        assert await store.run("t1", "r1") is await store.latest_run("t1") is await store.call("t1", "i1") is None
        assert [*await store.calls("t1"), *await store.events("t1"), *await store.journal("t1", "r1")] == []
        assert list(await store.history("t1")) == []
        assert [run.thread_id for run in await store.unfinished()] == ["t2"]
        assert [call.thread_id for call in await store.due(NOW)] == ["t2"]
        assert await ids(store, metadata={"user": "a"}) == await ids(store, status="interrupted") == ["t2"]
        assert list(await store.held("p1")) == [replace(lease, thread_id="t2")]
        assert len(await store.events("t2")) == len(await store.history("t2")) == 1
        with pytest.raises(LeaseLost):
            await store.commit([an_event(2)], lease=lease)
        await store.commit([a_thread()])
        assert await ids(store, metadata={"user": "a"}) == ["t2"], "the metadata went too"
        assert await store.latest_run("t1") is None

    async def test_nothing_is_deleted_without_the_lease(self, store: Store) -> None:
        await store.beat("p1", NOW + 10)
        assert await store.acquire(Lease("t1", "p1"), NOW)
        await store.commit([a_thread(), an_event(1)])
        with pytest.raises(LeaseLost):
            await store.delete("t1", lease=Lease("t1", "p2"))
        assert await store.thread("t1") == a_thread()
        assert list(await store.events("t1")) == [an_event(1)]

    # --- time ---

    async def test_due(self, store: Store) -> None:
        by_deadline = a_call(interrupt_id="a", deadline=NOW + 30)
        by_lease = a_call(interrupt_id="b", lease_until=NOW + 10, state="claimed", client_id="c")
        by_both = a_call(interrupt_id="c", thread_id="t2", deadline=NOW + 20, lease_until=NOW + 40, client_id="c")
        over = a_call(interrupt_id="d", deadline=NOW, state="settled", result=failure("failed", "m"))
        await store.commit([by_deadline, by_lease, by_both, over, a_call(interrupt_id="e")])
        assert await store.next_due() == NOW + 10
        for passed, expected in ((9, ""), (10, "b"), (19, "b"), (20, "bc"), (30, "abc"), (10**9, "abc")):
            assert sorted(call.interrupt_id for call in await store.due(NOW + passed)) == list(expected)
        assert list(await store.due(NOW + 10)) == [by_lease]
        await store.commit([replace(by_lease, lease_until=NOW + 15, version=2)])
        assert await store.next_due() == NOW + 15
        await store.commit([replace(by_lease, result=success(1), state="settled", lease_until=None, version=3)])
        assert await store.next_due() == NOW + 20

    # --- values ---

    @pytest.mark.parametrize("kind", VALUES)
    async def test_values_of_every_kind_survive(self, store: Store, kind: str) -> None:
        value = VALUES[kind]
        wrapped = {"value": value, "list": [value]}
        run = a_run(input=value, config=wrapped)
        call = a_call(args=wrapped, state="settled", result=success(value))
        failed = a_call(interrupt_id="i2", state="settled", result=failure("failed", "m", {"value": value}))
        event, entry = an_event(1, data=wrapped), an_entry("1", value=value)
        await store.commit([run, call, failed, event, entry])
        assert await store.run("t1", "r1") == run
        assert list(await store.calls("t1")) == [call, failed]
        assert list(await store.events("t1")) == [event]
        [stored] = await store.journal("t1", "r1")
        assert stored == entry
        assert type(stored.value) is type(value)

    async def test_ids_are_kept_apart(self, store: Store) -> None:
        await store.commit([a_thread(id=name, agent=name) for name in UNUSUAL])
        await store.commit([a_run(id=name, thread_id=name, agent=name) for name in UNUSUAL])
        names = [
            a_call(interrupt_id=name, run_id=name, client_id=name, tool_call_id=name, name=name) for name in UNUSUAL
        ]
        await store.commit(names)
        await store.commit([an_entry(name, thread_id=name, run_id=name, name=name) for name in UNUSUAL])
        for name, call in zip(UNUSUAL, names, strict=True):
            assert await store.thread(name) == a_thread(id=name, agent=name)
            assert (
                await store.run(name, name)
                == await store.latest_run(name)
                == a_run(id=name, thread_id=name, agent=name)
            )
            assert await store.call("t1", name) == call
            assert list(await store.calls("t1", run_id=name)) == [call]
            assert list(await store.journal(name, name)) == [an_entry(name, thread_id=name, run_id=name, name=name)]

    async def test_large_values_survive(self, store: Store) -> None:
        large = {"bytes": bytes(4_000_000), "text": "é" * 1_000_000, "list": list(range(100_000))}
        call = a_call(args=large, state="settled", result=success(large))
        await store.commit([call, an_event(1, data=large)])
        assert await store.call("t1", "i1") == call
        assert list(await store.events("t1")) == [an_event(1, data=large)]

    async def test_many_rows_in_one_commit(self, store: Store) -> None:
        events = [an_event(seq) for seq in range(1, 3001)]
        calls = [a_call(interrupt_id=f"i{number}") for number in range(500)]
        await store.commit([*events, *calls])
        assert list(await store.events("t1")) == events
        assert list(await store.calls("t1")) == calls

    # --- compare and set ---

    @pytest.mark.parametrize(("stored", "offered"), [(0, 0), (0, 2), (1, 0), (1, 1), (1, 3), (3, 1), (3, 3), (3, 5)])
    async def test_a_stale_call_is_refused_and_nothing_is_stored(self, store: Store, stored: int, offered: int) -> None:
        for version in range(1, stored + 1):
            await store.commit([a_call(version=version)])
        other = a_call(interrupt_id="other")
        rows = [a_thread(), a_run(), other, an_event(1), a_call(version=offered, state="settled"), an_entry("1")]
        with pytest.raises(StaleWrite):
            await store.commit(rows)
        assert await store.thread("t1") is None
        assert await store.run("t1", "r1") is None
        assert list(await store.calls("t1")) == ([a_call(version=stored)] if stored else [])
        assert list(await store.events("t1")) == []
        assert list(await store.journal("t1", "r1")) == []
        await store.commit([a_call(version=stored + 1, state="settled")])
        assert await store.call("t1", "i1") == a_call(version=stored + 1, state="settled")

    async def test_several_changes_of_a_call_in_one_commit(self, store: Store) -> None:
        await store.commit([a_call(), an_event(1), a_call(version=2, title="T"), a_call(interrupt_id="i2")])
        assert list(await store.calls("t1")) == [a_call(version=2, title="T"), a_call(interrupt_id="i2")]
        with pytest.raises(StaleWrite):
            await store.commit([a_call(version=3), a_call(version=3)])
        assert await store.call("t1", "i1") == a_call(version=2, title="T")

    async def test_of_many_who_change_a_call_at_once_one_wins(self, store: Store) -> None:
        await store.commit([a_call()])
        rivals = [
            [an_event(number), a_call(version=2, client_id=f"client-{number}"), an_entry(str(number))]
            for number in range(1, 21)
        ]
        outcomes = await asyncio.gather(*(store.commit(rows) for rows in rivals), return_exceptions=True)
        [winner] = [rows for rows, outcome in zip(rivals, outcomes, strict=True) if outcome is None]
        assert all(outcome is None or isinstance(outcome, StaleWrite) for outcome in outcomes)
        assert [await store.call("t1", "i1")] == [winner[1]]
        assert list(await store.events("t1")) == [winner[0]]
        assert list(await store.journal("t1", "r1")) == [winner[2]]

    # --- several at once ---

    async def test_commits_at_once_are_all_stored(self, store: Store) -> None:
        numbers = range(1, 101)
        commits = [[a_call(interrupt_id=f"i{number}", thread_id=f"t{number}"), an_event(number)] for number in numbers]
        await asyncio.gather(*(store.commit(rows) for rows in commits))
        assert [event.seq for event in await store.events("t1")] == list(numbers)
        for call, _ in commits:
            assert list(await store.calls(call.thread_id)) == [call]

    async def test_nobody_sees_what_was_not_committed(self, store: Store) -> None:
        await store.commit([a_call()])

        async def refused(number: int) -> None:
            with pytest.raises(StaleWrite):
                await store.commit([an_event(number), a_run(), a_call(version=9)])

        async def look() -> None:
            for _ in range(20):
                assert list(await store.events("t1")) == []
                assert list(await store.unfinished()) == []

        await asyncio.gather(*(work for number in range(1, 31) for work in (refused(number), look())))

    async def test_what_was_committed_is_seen_at_once(self, store: Store) -> None:
        async def change(number: int) -> None:
            await store.commit([a_thread(id=f"t{number}"), an_event(number)])
            assert await store.thread(f"t{number}") is not None
            assert an_event(number) in list(await store.events("t1", after=number - 1))

        await asyncio.gather(*(change(number) for number in range(1, 51)))

    @pytest.mark.parametrize("steps", range(8))
    async def test_a_cancelled_commit_happens_or_does_not(self, store: Store, steps: int) -> None:
        for version in range(1, 11):
            rows = [an_event(version), a_call(interrupt_id=f"i{version}"), an_entry(str(version))]
            committing = asyncio.ensure_future(store.commit(rows))
            for _ in range(steps):
                await asyncio.sleep(0)
            committing.cancel()
            await asyncio.gather(committing, return_exceptions=True)
        await store.commit([a_thread()])
        assert await store.thread("t1") == a_thread()
        seqs = [event.seq for event in await store.events("t1")]
        assert [call.interrupt_id for call in await store.calls("t1")] == [f"i{seq}" for seq in seqs]
        assert [entry.position for entry in await store.journal("t1", "r1")] == [str(seq) for seq in seqs]
        for version in range(1, 11):
            await store.commit([an_event(version), an_entry(str(version))])
        assert len(await store.events("t1")) == len(await store.journal("t1", "r1")) == 10

    # --- opening and closing ---

    async def test_an_open_store_can_be_closed_and_opened_again(self, store: Store) -> None:
        rows = [a_thread(), a_run(), a_call(), an_event(1), an_entry("1")]
        await store.commit(rows)
        await store.close()
        await store.open()
        assert await store.thread("t1") == rows[0]
        assert await store.run("t1", "r1") == rows[1]
        assert await store.call("t1", "i1") == rows[2]
        assert list(await store.events("t1")) == [rows[3]]
        assert list(await store.journal("t1", "r1")) == [rows[4]]
        with pytest.raises(StaleWrite):
            await store.commit([a_call()])

    async def test_closing_twice_is_harmless(self, store: Store) -> None:
        await store.close()
        await store.close()
        await store.open()

    # --- which process drives a thread ---

    async def test_a_lease_is_held_by_one_living_process(self, store: Store) -> None:
        mine, yours = Lease("t1", "p1"), Lease("t1", "p2")
        await store.beat("p1", NOW + 10)
        await store.beat("p2", NOW + 10)
        assert await store.acquire(mine, NOW)
        assert await store.acquire(mine, NOW)
        assert not await store.acquire(yours, NOW)
        assert await store.acquire(Lease("t2", "p2"), NOW)
        await store.beat("p1", NOW + 20)
        assert not await store.acquire(yours, NOW + 19)
        assert await store.acquire(yours, NOW + 20)

    async def test_a_lease_that_was_given_back_is_free(self, store: Store) -> None:
        await store.beat("p1", NOW + 10)
        assert await store.acquire(Lease("t1", "p1"), NOW)
        await store.release(Lease("t1", "p2"))
        assert not await store.acquire(Lease("t1", "p2"), NOW)
        await store.release(Lease("t1", "p1"))
        assert await store.acquire(Lease("t1", "p2"), NOW)

    async def test_a_lease_is_of_one_load(self, store: Store) -> None:
        await store.beat("p1", NOW + 10)
        before, after = Lease("t1", "p1", "1"), Lease("t1", "p1", "2")
        assert await store.acquire(before, NOW)
        assert await store.acquire(after, NOW)
        assert list(await store.held("p1")) == [after]
        with pytest.raises(LeaseLost):
            await store.commit([a_run()], lease=before)
        await store.release(before)
        assert list(await store.held("p1")) == [after]
        assert list(await store.held("p2")) == []

    async def test_a_process_that_was_buried_holds_nothing(self, store: Store) -> None:
        await store.beat("p1", NOW + 10)
        await store.beat("p2", NOW + 10)
        assert await store.acquire(Lease("t1", "p1"), NOW)
        assert sorted(await store.processes()) == ["p1", "p2"]
        await store.bury("p1")
        assert list(await store.processes()) == ["p2"]
        assert await store.acquire(Lease("t1", "p2"), NOW)

    async def test_one_of_many_who_ask_for_a_lease_gets_it(self, store: Store) -> None:
        names = [f"p{number}" for number in range(10)]
        for name in names:
            await store.beat(name, NOW + 10)
        got = await asyncio.gather(*(store.acquire(Lease("t1", name), NOW) for name in names))
        assert got.count(True) == 1

    async def test_nothing_is_stored_without_the_lease(self, store: Store) -> None:
        await store.beat("p1", NOW + 10)
        assert await store.acquire(Lease("t1", "p1"), NOW)
        await store.commit([a_run()], lease=Lease("t1", "p1"))
        for lease in (Lease("t1", "p2"), Lease("t2", "p1")):
            with pytest.raises(LeaseLost):
                await store.commit([a_run(id="r2")], lease=lease)
        assert await store.run("t1", "r2") is None

    async def test_stranded_runs_are_those_that_no_living_process_drives(self, store: Store) -> None:
        runs = [a_run(thread_id=f"t{number}") for number in range(1, 5)]
        await store.commit([*runs[:3], replace(runs[3], status="queued"), a_run(thread_id="t5", status="completed")])
        await store.beat("p1", NOW + 10)
        await store.beat("p2", NOW + 20)
        assert await store.acquire(Lease("t1", "p1"), NOW)
        assert await store.acquire(Lease("t2", "p2"), NOW)
        assert [run.thread_id for run in await store.stranded(NOW)] == ["t3", "t4"]
        assert [run.thread_id for run in await store.stranded(NOW + 10)] == ["t1", "t3", "t4"]
        await store.bury("p2")
        assert [run.thread_id for run in await store.stranded(NOW + 10)] == ["t1", "t2", "t3", "t4"]
