"""What a store promises of its commits."""

from __future__ import annotations

import asyncio

import pytest

from farside.core.model import failure, success
from farside.core.ports import StaleWrite, Store
from farside.testing.contracts.samples import (
    UNUSUAL,
    VALUES,
    a_call,
    a_run,
    a_thread,
    an_entry,
    an_event,
)


class CommitsContract:
    """Values, compare and set, and several at once."""

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
