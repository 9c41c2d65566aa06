"""What a store promises of lists of threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from farside.core.model import ThreadInfo, ThreadUpdate, success
from farside.core.ports import Lease, LeaseLost, Store, ThreadQuery
from farside.errors import FarsideError
from farside.testing.contracts.samples import (
    NOW,
    UNUSUAL,
    VALUES,
    a_call,
    a_run,
    a_thread,
    an_entry,
    an_event,
    described,
    ids,
)


class ListsContract:
    """Threads with their metadata: found, listed, deleted."""

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
