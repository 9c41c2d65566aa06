"""A store that fails or is slow: nothing is announced that is not stored, and nothing is forgotten."""

from __future__ import annotations

import asyncio

import pytest

from farside import Farside, FarsideError
from farside.core.model import Call, JournalEntry, Run
from farside.stores.memory import MemoryStore
from farside.testing import FakeBrowser, LinkClosed, MemoryLink
from server.tests.agents import echo, guide, locate
from server.tests.troubled import TroubledStore


@pytest.fixture
def store() -> TroubledStore:
    return TroubledStore()


async def test_a_call_is_not_heard_of_before_it_is_stored(make_app, open_page, store):
    """L1, F21: the store is slow."""
    storing, go_on = asyncio.Event(), asyncio.Event()

    async def slow(writes):
        if any(isinstance(write, Call) for write in writes):
            storing.set()
            await go_on.wait()

    page = await open_page(make_app(guide), tools={"locate": lambda high: {"lat": 1}})
    store.before_commit = slow
    run_id = await page.submit("Where am I?")
    await storing.wait()
    await page.command("connection.ping")
    early = page.calls("opened")
    go_on.set()
    await page.ended(run_id)

    assert early == []
    assert page.texts() == ["You are at 1."]


async def test_a_page_that_comes_while_a_call_is_being_stored_gets_it(make_app, open_page, store):
    storing, go_on = asyncio.Event(), asyncio.Event()

    async def slow(writes):
        if any(isinstance(write, Call) and write.version == 1 for write in writes):
            storing.set()
            await go_on.wait()

    app = make_app(guide)
    watcher = await open_page(app)
    store.before_commit = slow
    run_id = await watcher.submit("Where am I?")
    await storing.wait()
    joining = asyncio.create_task(open_page(app, tools={"locate": lambda high: {"lat": 2}}))
    for _ in range(20):
        await asyncio.sleep(0)
    go_on.set()
    page = await joining
    await watcher.ended(run_id)

    assert page.executions == [("locate", {"high": True})]


async def test_an_answer_that_cannot_be_stored_is_not_acknowledged_and_can_be_given_again(make_app, open_page, store):
    """L4."""
    page = await open_page(make_app(guide))
    run_id = await page.submit("Where am I?")
    interrupt_id = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]["interrupt_id"]
    store.fail_commits(lambda write: isinstance(write, Call))
    answer = {**page.held(interrupt_id), "result": {"status": "success", "value": {"lat": 1}}}

    with pytest.raises(FarsideError) as refused:
        await page.command("call.settle", **answer)
    await page.command("call.settle", **answer)
    await page.ended(run_id)

    assert refused.value.code == "internal"
    assert page.texts() == ["You are at 1."]


async def test_a_run_whose_end_cannot_be_stored_ends_later(make_app, open_page, store, clock):
    page = await open_page(make_app(echo))
    store.fail_commits(lambda write: isinstance(write, Run) and write.status != "running", times=2)
    run_id = await page.submit("hi")
    await page.until(lambda e: bool(page.texts()))
    for pause in (500, 1000):
        await clock.somebody_waits(pause)
        clock.advance(pause)

    assert (await page.ended(run_id))["event"] == "completed"
    assert await page.ask("again") == "You said again."


async def test_a_step_that_cannot_be_stored_at_once_is_done_once(make_app, open_page, store, clock):
    done = []

    async def agent(turn, value):
        await turn.step(done.append, turn.text)
        await turn.say("done")

    page = await open_page(make_app(agent))
    store.fail_commits(lambda write: isinstance(write, JournalEntry), times=2)
    run_id = await page.submit("hi")
    for pause in (500, 1000):
        await clock.somebody_waits(pause)
        clock.advance(pause)

    assert (await page.ended(run_id))["event"] == "completed"
    assert (done, page.texts()) == (["hi"], ["done"])


async def test_a_stop_that_cannot_be_stored_changes_nothing(make_app, open_page, store):
    going = asyncio.Event()

    async def slow(turn, value):
        await going.wait()
        await turn.say("done")

    page = await open_page(make_app(slow))
    run_id = await page.submit("hi")
    store.fail_commits(lambda write: isinstance(write, Run) and write.status == "cancelled")
    with pytest.raises(FarsideError) as refused:
        await page.stop()
    going.set()

    assert refused.value.code == "internal"
    assert (await page.ended(run_id))["event"] == "completed"
    assert page.texts() == ["done"]


async def test_a_deadline_that_cannot_be_stored_comes_later(make_app, open_page, store, clock):
    """L9."""
    page = await open_page(make_app(guide))
    run_id = await page.submit("Where am I?")
    await page.until(lambda e: e["method"] == "calls")
    store.fail_commits(lambda write: isinstance(write, Call))
    await clock.somebody_waits(30_000)
    clock.advance(30_000)
    await clock.somebody_waits(1_000)
    clock.advance(1_000)
    await page.ended(run_id)

    assert page.texts() == ["No position: timed_out"]


async def test_what_an_agent_does_to_its_input_stays_its_own(make_app, open_page, store):
    async def agent(turn, value):
        value["seen"] = {1, 2}
        found = await turn.call(locate)
        found["changed"] = object()
        await turn.say("ok")

    page = await open_page(make_app(agent), tools={"locate": lambda: {"lat": 1}})

    assert await page.ask("hi") == "ok"
    assert (await page.command("state.get"))["calls"][0]["result"]["value"] == {"lat": 1}


async def test_a_stopped_app_takes_no_more_commands_and_sends_its_pages_away(make_app, open_page):
    page = await open_page(make_app(echo))
    app = make_app(echo)
    link = await MemoryLink(app, "thread-2").open()
    engine = await app.engine()
    async with FakeBrowser(link, agent="assistant") as other:
        await app.stop()
        with pytest.raises(LinkClosed):
            await other.submit("hi")
    with pytest.raises(FarsideError) as refused:
        await engine.seq("thread-2")

    assert link.closed_with == 1012
    assert refused.value.code == "unavailable"
    assert await page.ask("hi") == "You said hi."


async def test_an_agent_that_asks_again_while_it_is_stopped_does_not_hold_up_the_thread(make_app, open_page):
    async def agent(turn, value):
        try:
            await turn.call(locate)
        finally:
            await turn.call(locate)

    page = await open_page(make_app(agent))
    first = await page.submit("hi")
    await page.until(lambda e: e["method"] == "calls")
    await page.stop()

    assert (await page.ended(first))["code"] == "cancelled"


async def test_two_threads_may_have_runs_of_one_name(open_page, clock):
    store = MemoryStore()

    async def agent(turn, value):
        secret = await turn.step(str.upper, turn.text)
        await turn.call(locate)
        await turn.say(secret)

    app = Farside({"assistant": agent}, store=store, clock=clock)
    for thread_id in ("a", "b"):
        page = await open_page(app, thread_id=thread_id)
        await page.submit(f"secret of {thread_id}", run_id="r1")
        await page.until(lambda e: e["method"] == "calls")
        await page.close()
    await app.stop()
    app = Farside({"assistant": agent}, store=store, clock=clock)
    page = await open_page(app, thread_id="a", tools={"locate": lambda: {"lat": 1}})
    await page.ended("r1")

    assert page.texts() == ["SECRET OF A"]
    await app.stop()


async def test_a_result_is_checked_although_the_tool_was_not_known_when_it_came(open_page, clock, caplog):
    """L10: after a restart a function's tools are known when it calls them."""
    store = MemoryStore()
    waits = asyncio.Event()

    async def agent(turn, value):
        await turn.step(waits.wait)
        await guide(turn, value)

    waits.set()
    app = Farside({"assistant": agent}, store=store, clock=clock)
    page = await open_page(app)
    run_id = await page.submit("hi")
    await page.until(lambda e: e["method"] == "calls")
    interrupt_id = page.calls("opened")[0]["interrupt_id"]
    await app.stop()
    app = Farside({"assistant": guide_later(waits := asyncio.Event())}, store=store, clock=clock)
    page = await open_page(app)
    await page.command(
        "call.settle", **page.held(interrupt_id), result={"status": "success", "value": {"lat": "north"}}
    )
    waits.set()
    await page.ended(run_id)

    assert page.texts() == ["No position: invalid_result"]
    await app.stop()


def guide_later(waits: asyncio.Event):
    """The same agent, which comes to its call later."""

    async def agent(turn, value):
        await waits.wait()
        await turn.step(waits.wait)
        await guide(turn, value)

    return agent
