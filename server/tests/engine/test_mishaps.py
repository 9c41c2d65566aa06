"""What goes wrong between two steps: a load, an offer, a start or an end that cannot be stored."""

from __future__ import annotations

import asyncio

import pytest

from farside import Farside, FarsideError, Settings, ToolError, tool
from farside.core.model import Call, Run
from farside.stores.memory import MemoryStore
from farside.testing import ManualClock
from server.tests.agents import ANY_ARGS, echo, guide, pair
from server.tests.engine.test_queue import Slow
from server.tests.troubled import TroubledStore


async def opened(page, count=1):
    await page.until(lambda e: len(page.calls("opened")) == count)
    return page.calls("opened")


async def test_a_withdrawn_run_hides_nothing_and_after_a_restart_the_run_goes_on(make_app, open_page):
    slow = Slow()
    first = make_app(slow.agent())
    page = await open_page(first)
    one = await page.submit("one")
    two = await page.submit("two")
    await page.command("run.cancel", run_id=two)
    assert (await page.command("state.get"))["run"]["run_id"] == one
    late = await open_page(first)
    assert late.said() == ["one"]
    await first.stop()
    slow.go_on.release()
    back = await open_page(make_app(slow.agent()))

    assert (await back.ended(one))["event"] == "completed"
    assert back.texts() == ["heard one"]


async def test_a_load_that_failed_is_tried_again_although_somebody_listens(make_app, open_page):
    store = TroubledStore()
    app = make_app(echo, store=store)
    store.fail_reads = 1
    with pytest.raises(FarsideError) as refused:
        await open_page(app)
    page = await open_page(app)

    assert refused.value.code == "internal"
    assert await page.ask("hi") == "You said hi."


async def test_a_run_whose_thread_could_not_be_loaded_is_taken_up_later(make_app, open_page, clock):
    store = TroubledStore()
    first = make_app(pair, store=store)
    page = await open_page(first)
    run_id = await page.submit("pay")
    await opened(page, 2)
    await first.stop()
    store.fail_reads = 1
    second = make_app(pair, store=store)
    await second.engine()
    await clock.somebody_waits(5_000)
    clock.advance(5_000)
    back = await open_page(second, tools={"pay": lambda n: n})

    assert (await back.ended(run_id))["event"] == "completed"


async def test_deadlines_of_a_thread_that_was_taken_over_fire(open_page):
    """L9, in a process that had nothing to wait for."""
    store, clocks = MemoryStore(), (ManualClock(), ManualClock())
    one, two = [Farside({"assistant": guide}, store=store, clock=clock) for clock in clocks]
    page = await open_page(one)
    run_id = await page.submit("Where am I?")
    await opened(page)
    engine = await two.engine()
    clocks[1].advance(15_000)
    watcher = await open_page(two)
    await clocks[1].somebody_waits(15_000)
    clocks[1].advance(15_000)
    await watcher.ended(run_id)
    run = await engine.store.run("thread-1", run_id)
    await two.stop()
    await one.stop()

    assert run is not None
    assert watcher.texts() == ["No position: timed_out"]


async def test_a_stop_that_cannot_be_stored_leaves_a_call_that_can_be_answered(make_app, open_page):
    store = TroubledStore()
    page = await open_page(make_app(guide, store=store))
    run_id = await page.submit("Where am I?")
    [call] = await opened(page)
    store.fail_commits(lambda write: isinstance(write, Run))
    with pytest.raises(FarsideError) as refused:
        await page.stop()
    result = {"status": "success", "value": {"lat": 1}}
    await page.command("call.settle", **page.held(call["interrupt_id"]), result=result)

    assert refused.value.code == "internal"
    assert (await page.ended(run_id))["event"] == "completed"
    assert page.texts() == ["You are at 1."]


async def test_an_offer_that_could_not_be_stored_is_made_again(make_app, open_page, clock):
    store = TroubledStore()
    app = make_app(guide, store=store)
    asker = await open_page(app)
    run_id = await asker.submit("Where am I?")
    await opened(asker)
    store.fail_commits(lambda write: isinstance(write, Call))
    able = await open_page(app, tools={"locate": lambda high: {"lat": 1}})
    await clock.somebody_waits(500)
    clock.advance(500)
    await able.ended(run_id)

    assert len(able.executions) == 1


async def test_a_queued_run_that_could_not_be_begun_is_begun_later(make_app, open_page, clock):
    store = TroubledStore()
    slow = Slow()
    page = await open_page(make_app(slow.agent(), store=store))
    one = await page.submit("one")
    two = await page.submit("two")
    store.fail_commits(lambda write: isinstance(write, Run) and write.id == two and write.status == "running")
    slow.go_on.release()
    slow.go_on.release()
    await page.ended(one)
    await clock.somebody_waits(500)
    clock.advance(500)

    assert (await page.ended(two))["event"] == "completed"


async def test_what_was_being_said_stays_when_the_end_must_be_stored_twice(make_app, open_page, clock):
    store = TroubledStore()
    saying, broken = asyncio.Event(), asyncio.Event()

    async def pieces():
        yield "half a "
        saying.set()
        await broken.wait()
        raise RuntimeError("broken")

    async def agent(turn, value):
        await turn.say(pieces())

    page = await open_page(make_app(agent, store=store))
    run_id = await page.submit("go")
    await saying.wait()
    store.fail_commits(lambda write: isinstance(write, Run))
    broken.set()
    await clock.somebody_waits(500)
    clock.advance(500)
    await page.ended(run_id)

    assert page.texts() == ["half a "]
    assert (await page.command("state.get"))["values"]["messages"][-1]["content"] == "half a "


async def test_an_opening_that_had_to_be_tried_twice_counts_once(make_app, open_page, clock):
    store = TroubledStore()
    once = tool(name="once", args_schema=ANY_ARGS, timeout=600)

    async def agent(turn, value):
        try:
            await turn.say(await turn.call(once))
        except ToolError as error:
            await turn.say(error.code)

    app = make_app(agent, store=store, settings=Settings(max_tool_calls=1))
    page = await open_page(app, tools={"once": lambda: "done"})
    store.fail_commits(lambda write: isinstance(write, Call))
    run_id = await page.submit("go")
    await clock.somebody_waits(500)
    clock.advance(500)

    assert (await page.ended(run_id))["event"] == "completed"
    assert page.texts() == ["done"]


async def test_one_thread_that_is_busy_holds_up_no_other_one_s_time(make_app, open_page, clock):
    app = make_app(guide)
    busy, other = [await open_page(app, thread_id=f"thread-{n}") for n in (1, 2)]
    await busy.submit("Where am I?")
    await opened(busy)
    run_id = await other.submit("Where am I?")
    await opened(other)
    async with (await app.engine()).threads.locked("thread-1"):
        clock.advance(30_000)
        await other.ended(run_id)

    assert other.texts() == ["No position: timed_out"]


async def test_messages_cannot_pile_up_without_end(make_app, open_page):
    page = await open_page(make_app(Slow().agent(), settings=Settings(max_queued=2)))
    for text in ("one", "two", "three"):
        await page.submit(text)
    with pytest.raises(FarsideError) as refused:
        await page.submit("four")

    assert refused.value.code == "run_active"


async def test_a_refused_release_passes_nobody_over(make_app, open_page):
    page = await open_page(make_app(guide))
    for number in range(10):
        with pytest.raises(FarsideError):
            await page.command("call.release", interrupt_id=f"invented-{number}")
    engine = await page._link._app.engine()  # type: ignore[attr-defined]
    async with engine.threads.using("thread-1") as live:
        assert live.passed == {}
