"""What a store promises to the processes that share it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from farside.core.model import failure, success
from farside.core.ports import Lease, LeaseLost, StaleWrite, Store
from farside.testing.contracts.samples import (
    NOW,
    a_call,
    a_run,
    a_thread,
    an_entry,
    an_event,
)


class ProcessesContract:
    """Time, opening and closing, and who drives a thread."""

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
