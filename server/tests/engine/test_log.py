"""The thread's log as its readers see it: replays, late pages, threads that never ran, events that do not fit."""

from __future__ import annotations

import asyncio

from farside import Limits, tool
from farside.core.model import JournalEntry
from server.tests.agents import echo, guide


async def test_looking_at_a_thread_does_not_make_one(make_app, open_page):
    app = make_app(echo)
    page = await open_page(app)
    await page.close()
    engine = await app.engine()

    assert await engine.store.thread("thread-1") is None


async def test_seqs_have_no_hole_when_everybody_left_and_came_back(make_app, open_page):
    app = make_app(echo)
    page = await open_page(app)
    await page.ask("one")
    await page.close()
    again = await open_page(app)
    await again.ask("two")

    assert min(event["seq"] for event in again.events) == page.seq + 1


async def test_a_replay_since_a_seq_has_every_later_event_once(make_app, open_page):
    app = make_app(guide)
    page = await open_page(app, tools={"locate": lambda high: {"lat": 1}})
    await page.ask("Where am I?")
    for since in (0, 3, page.seq):
        late = await open_page(app)
        await late.command("subscription.subscribe", channels=["lifecycle", "messages", "tools", "calls"], since=since)
        await late.command("connection.ping")

        expected = [e for e in page.events if e["seq"] > since and not _is_delta(e)]
        assert late.events == expected


async def test_a_page_that_comes_in_the_middle_of_a_text_gets_what_was_said_so_far(make_app, open_page):
    half, rest = asyncio.Event(), asyncio.Event()

    async def pieces():
        yield "first half, "
        half.set()
        await rest.wait()
        yield "second half"

    async def agent(turn, value):
        await turn.say(pieces())

    app = make_app(agent)
    page = await open_page(app)
    run_id = await page.submit("hi")
    await half.wait()
    late = await open_page(app)
    await late.command("subscription.subscribe", channels=["messages"])
    await late.command("connection.ping")
    deltas = [e["params"]["data"]["delta"]["text"] for e in late.events if _is_delta(e)]
    rest.set()
    await late.ended(run_id)

    assert deltas == ["first half, "]
    assert late.texts() == ["first half, second half"]


async def test_limits_are_for_what_clients_send(make_app, open_page):
    """A value at the limit comes back inside larger messages: nobody can make a thread unreadable."""
    deep = 1.5
    for _ in range(58):
        deep = [deep]
    page = await open_page(
        make_app(guide, limits=Limits(frame_bytes=4000)), tools={"locate": lambda high: {"lat": 1, "x": deep}}
    )

    assert await page.ask("Where am I?") == "You are at 1."
    assert page.calls("settled")[0]["result"]["value"]["x"] == deep
    assert (await page.command("state.get"))["calls"][0]["result"]["value"]["x"] == deep


async def test_a_text_larger_than_a_clients_frame_arrives(make_app, open_page):
    async def agent(turn, value):
        await turn.say("x" * 50_000)

    page = await open_page(make_app(agent, limits=Limits(frame_bytes=4000)))

    assert len(await page.ask("hi")) == 50_000


async def test_a_result_is_stored_once_and_shown_whole(make_app, open_page):
    photo = tool(name="photo")

    async def agent(turn, value):
        await turn.call(photo)
        await turn.say("ok")

    app = make_app(agent)
    picture = b"\x89PNG" + bytes(50_000)
    page = await open_page(app, tools={"photo": lambda: {"image": picture}})
    await page.ask("photo")
    engine = await app.engine()
    stored = await engine.store.events("thread-1")
    late = await open_page(app)
    await late.command("subscription.subscribe", channels=["calls", "tools"], since=0)
    await late.command("connection.ping")

    assert not any("result" in event.data or "output" in event.data for event in stored)
    assert late.calls("settled")[0]["result"]["value"] == {"image": picture}
    assert [e["params"]["data"]["output"] for e in late.events if "output" in e["params"]["data"]] == [
        {"image": picture}
    ]


def _is_delta(event):
    return event["params"]["data"].get("event") == "content-block-delta"


async def test_events_come_in_order_also_beyond_what_was_reserved(make_app, open_page):
    async def agent(turn, value):
        for number in range(300):
            await turn.say(str(number))
        await turn.call(photo)

    photo = tool(name="photo")
    page = await open_page(make_app(agent), tools={"photo": lambda: 1})
    await page.ended(await page.submit("hi"))

    seqs = [event["seq"] for event in page.events]
    assert seqs == sorted(seqs)
    assert page.texts() == [str(number) for number in range(300)]


async def test_a_thread_is_let_go_when_its_run_ends_after_everybody_left(make_app, open_page):
    go_on = asyncio.Event()

    async def agent(turn, value):
        await go_on.wait()

    app = make_app(agent)
    page = await open_page(app)
    run_id = await page.submit("hi")
    await page.close()
    engine = await app.engine()
    legs = [task for task in asyncio.all_tasks() if "Legs._drive" in repr(task.get_coro())]
    go_on.set()
    await asyncio.wait(legs)

    assert (await engine.store.run("thread-1", run_id)).status == "completed"
    assert engine.threads._entries == {}


async def test_what_waits_is_stored_before_what_is_committed_next(make_app, open_page):
    """A history has its messages in the order in which they are stored."""
    app = make_app(echo)
    page = await open_page(app)
    await page.ask("hi")
    engine = await app.engine()
    first, second = (JournalEntry("thread-1", "run-1", name, "message", "", name) for name in ("first", "second"))
    async with engine.threads.using("thread-1") as live:
        live.log.write_soon(first)
        await live.log.commit([second])
        assert list(await live.log.history()) == [first, second]
