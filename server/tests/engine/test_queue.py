"""A message while a run is under way: cancelled, refused or queued (F6)."""

from __future__ import annotations

import asyncio

import pytest

from farside import FarsideError, Settings, tool
from farside.testing import MemoryLink
from server.tests.agents import guide


class Slow:
    """An agent that says what it was told when it is let go on."""

    def __init__(self) -> None:
        self.go_on = asyncio.Semaphore(0)
        self.begun: list[str] = []

    def agent(self):
        async def slow(turn, value):
            self.begun.append(turn.text)
            await self.go_on.acquire()
            await turn.say(f"heard {turn.text}")

        return slow


def lifecycle(page):
    data = [e["params"]["data"] for e in page.events if e["method"] == "lifecycle"]
    return [(each["run_id"], each["event"]) for each in data]


async def test_messages_while_a_run_executes_are_queued_and_run_in_order(make_app, open_page):
    slow = Slow()
    page = await open_page(make_app(slow.agent()))
    runs = [await page.submit(text) for text in ("one", "two", "three")]
    waiting = await page.command("state.get")
    slow.go_on.release()
    await page.ended(runs[0])
    slow.go_on.release()
    await page.ended(runs[1])
    slow.go_on.release()
    await page.ended(runs[2])

    one, two, three = runs
    assert page.texts() == ["heard one", "heard two", "heard three"]
    assert slow.begun == ["one", "two", "three"]
    assert lifecycle(page) == [
        (one, "running"),
        (two, "queued"),
        (three, "queued"),
        (one, "completed"),
        (two, "running"),
        (two, "completed"),
        (three, "running"),
        (three, "completed"),
    ]
    assert waiting["run"]["run_id"] == one
    assert [run["run_id"] for run in waiting["queued"]] == [two, three]
    assert waiting["queued"][0]["input"]["messages"][0]["content"] == "two"


async def test_a_queued_message_is_said_once_in_the_history_and_after_the_run_before_it(make_app, open_page):
    slow = Slow()
    page = await open_page(make_app(slow.agent()))
    await page.submit("one")
    second = await page.submit("two", run_id="r2")
    assert await page.submit("two", run_id="r2") == second
    slow.go_on.release()
    slow.go_on.release()
    await page.ended(second)
    messages = (await page.command("state.get"))["values"]["messages"]

    assert [message["content"] for message in messages] == ["one", "heard one", "two", "heard two"]


async def test_a_queued_run_starts_after_a_restart(make_app, open_page):
    slow = Slow()
    first = make_app(slow.agent())
    page = await open_page(first)
    await page.submit("one")
    await page.submit("two", run_id="r2")
    await page.submit("three", run_id="r3")
    await first.stop()
    for _ in range(3):
        slow.go_on.release()
    back = await open_page(make_app(slow.agent()))
    await back.ended("r3")

    assert slow.begun == ["one", "one", "two", "three"]
    assert back.texts() == ["heard one", "heard two", "heard three"]


async def test_a_run_that_fails_does_not_keep_the_next_from_starting(make_app, open_page):
    going = asyncio.Event()

    async def agent(turn, value):
        await going.wait()
        if turn.text == "break":
            raise RuntimeError("broken")
        await turn.say("fine")

    page = await open_page(make_app(agent))
    broken = await page.submit("break")
    second = await page.submit("go on")
    going.set()

    assert (await page.ended(broken))["event"] == "failed"
    assert (await page.ended(second))["event"] == "completed"


async def test_stop_ends_the_run_and_what_waits_behind_it(make_app, open_page):
    """F16: after stop nothing runs."""
    slow = Slow()
    page = await open_page(make_app(slow.agent()))
    runs = [await page.submit(text) for text in ("one", "two", "three")]
    await page.command("run.cancel", run_id=runs[0])
    for run_id in runs:
        assert (await page.ended(run_id))["code"] == "cancelled"
    slow.go_on.release()
    assert await page.ask("four") == "heard four"

    assert slow.begun == ["one", "four"]


async def test_a_queued_run_can_be_withdrawn_alone(make_app, open_page):
    slow = Slow()
    page = await open_page(make_app(slow.agent()))
    one, two, three = [await page.submit(text) for text in ("one", "two", "three")]
    await page.command("run.cancel", run_id=two)
    slow.go_on.release()
    slow.go_on.release()
    await page.ended(three)

    assert slow.begun == ["one", "three"]
    assert (await page.ended(two))["code"] == "cancelled"
    assert (await page.ended(one))["event"] == "completed"


async def test_a_message_during_a_call_can_be_refused(make_app, open_page):
    page = await open_page(make_app(guide, settings=Settings(on_new_message="refuse")))
    run_id = await page.submit("Where am I?")
    await page.until(lambda e: e["method"] == "calls")
    with pytest.raises(FarsideError) as refused:
        await page.submit("Hello?")

    assert refused.value.code == "run_interrupted"
    assert refused.value.details == {"run_id": run_id}
    assert page.calls("cancelled") == []


async def test_a_message_during_a_call_can_be_queued(make_app, open_page):
    page = await open_page(make_app(guide, settings=Settings(on_new_message="queue")))
    first = await page.submit("Where am I?")
    opened = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]
    second = await page.submit("And now?")
    result = {"status": "success", "value": {"lat": 7}}
    await page.command("call.settle", **page.held(opened["interrupt_id"]), result=result)
    await page.ended(first)
    again = await page.until(lambda e: e["method"] == "calls" and e["params"]["data"].get("run_id") == second)
    interrupt_id = again["params"]["data"]["interrupt_id"]
    await page.command("call.settle", **page.held(interrupt_id), result=result)
    await page.ended(second)

    assert page.texts() == ["You are at 7.", "You are at 7."]


async def test_a_message_can_stop_a_run_that_executes(make_app, open_page):
    slow = Slow()
    page = await open_page(make_app(slow.agent(), settings=Settings(on_active_run="cancel")))
    first = await page.submit("one")
    await page.until(lambda e: e["method"] == "lifecycle")
    second = await page.submit("two")
    slow.go_on.release()

    assert (await page.ended(first))["code"] == "cancelled"
    assert (await page.ended(second))["event"] == "completed"
    assert page.texts() == ["heard two"]


async def test_a_new_message_during_a_call_goes_behind_what_was_said_before_it(make_app, open_page):
    """One was queued while the run executed; then the run asked the page, and the user spoke again."""
    ask = tool(name="ask", timeout=60)
    going = asyncio.Event()

    async def agent(turn, value):
        if turn.text == "one":
            await going.wait()
            await turn.call(ask)
        await turn.say(f"heard {turn.text}")

    page = await open_page(make_app(agent))
    one = await page.submit("one")
    two = await page.submit("two")
    going.set()
    await page.until(lambda e: e["method"] == "calls")
    three = await page.submit("three")
    await page.ended(three)

    assert (await page.ended(one))["code"] == "cancelled"
    assert page.texts() == ["heard two", "heard three"]
    assert (await page.ended(two))["event"] == "completed"


async def test_plain_connections_are_not_told_of_the_queue(make_app, open_page, clock):
    slow = Slow()
    app = make_app(slow.agent())
    page = await open_page(app)
    plain = await MemoryLink(app, "thread-1", None).open()
    await plain.send({"id": 1, "method": "subscription.subscribe", "params": {"channels": ["lifecycle", "values"]}})
    await clock.somebody_waits(150)
    clock.advance(150)
    one, two = [await page.submit(text) for text in ("one", "two")]
    slow.go_on.release()
    slow.go_on.release()
    await page.ended(two)
    heard = [await plain.receive() for _ in range(plain.pending())]
    await plain.close()

    told = [message["params"]["data"]["event"] for message in heard if message["type"] == "event"]
    assert told == ["running", "completed", "running", "completed"]
    assert one != two
