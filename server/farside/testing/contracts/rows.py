"""What a store promises of each noun."""

from __future__ import annotations

from dataclasses import replace

from farside.core.model import Call, Run, success
from farside.core.ports import Store
from farside.testing.contracts.samples import (
    NOW,
    a_call,
    a_run,
    a_thread,
    an_entry,
    an_event,
)
from farside.wire.messages import ErrorBody


class RowsContract:
    """Rows: absent, stored, replaced."""

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
