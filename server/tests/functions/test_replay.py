"""Durable by replay: a stopped server goes on where it was, and code that changed is found out."""

from __future__ import annotations

import asyncio

from farside import Farside
from farside.stores.memory import MemoryStore
from server.tests.agents import locate, pay


async def restart(app: Farside, agent, store, clock) -> Farside:
    await app.stop()
    again = Farside({"assistant": agent}, store=store, clock=clock)
    await again.engine()
    return again


async def test_steps_and_texts_are_not_done_again(open_page, clock):
    """L5 for functions: the step runs once, the text is said once, the answer given before the stop counts."""
    store, done = MemoryStore(), []

    def charge(amount):
        done.append(amount)
        return amount

    async def agent(turn, value):
        charged = await turn.step(charge, 5)
        await turn.say("charged")
        found = await turn.call(locate)
        await turn.say(f"{charged} at {found['lat']}")

    app = Farside({"assistant": agent}, store=store, clock=clock)
    page = await open_page(app)
    run_id = await page.submit("go")
    await page.until(lambda e: e["method"] == "calls")
    app = await restart(app, agent, store, clock)
    page = await open_page(app, tools={"locate": lambda: {"lat": 7}})
    await page.ended(run_id)

    state = await page.command("state.get")
    assert [m["content"] for m in state["values"]["messages"]] == ["go", "charged", "5 at 7"]
    assert done == [5]
    await app.stop()


async def test_an_acknowledged_answer_survives_and_the_run_resumes_at_the_next_start(open_page, clock):
    """L4: the server stops right after the acknowledgement of one of two answers."""
    store = MemoryStore()

    async def agent(turn, value):
        one, two = await asyncio.gather(turn.call(pay, n=1), turn.call(pay, n=2))
        await turn.say(f"{one} {two}")

    app = Farside({"assistant": agent}, store=store, clock=clock)
    page = await open_page(app)
    run_id = await page.submit("go")
    await page.until(lambda e: len(page.calls("opened")) == 2)
    second = page.calls("opened")[1]["interrupt_id"]
    await page.command("call.settle", **page.held(second), result={"status": "success", "value": "second"})
    app = await restart(app, agent, store, clock)
    page = await open_page(app, tools={"pay": lambda n: "first"})
    await page.ended(run_id)

    assert page.texts() == ["first second"]
    assert [args["n"] for _, args in page.executions] == [1]
    await app.stop()


async def test_branches_count_their_own_positions(open_page, clock):
    """Two tasks whose steps end in another order after the restart still find their own results."""
    store, order = MemoryStore(), []
    slow = asyncio.Event()

    async def work(name):
        order.append(name)
        if name == "a":
            await slow.wait()
        return name

    async def branch(turn, name):
        got = await turn.step(work, name)
        return await turn.call(pay, name=got)

    async def agent(turn, value):
        results = await asyncio.gather(branch(turn, "a"), branch(turn, "b"))
        await turn.say(" ".join(results))

    app = Farside({"assistant": agent}, store=store, clock=clock)
    page = await open_page(app)
    run_id = await page.submit("go")
    await page.until(lambda e: len(page.calls("opened")) == 1)
    slow.set()
    await page.until(lambda e: len(page.calls("opened")) == 2)
    app = await restart(app, agent, store, clock)
    page = await open_page(app, tools={"pay": lambda name: f"paid-{name}"})
    await page.ended(run_id)

    assert page.texts() == ["paid-a paid-b"]
    assert order == ["a", "b"]
    await app.stop()


async def test_code_that_no_longer_matches_its_journal_fails_clearly(open_page, clock):
    store = MemoryStore()

    async def before(turn, value):
        await turn.call(locate)

    async def after(turn, value):
        await turn.call(pay)

    app = Farside({"assistant": before}, store=store, clock=clock)
    page = await open_page(app)
    run_id = await page.submit("go")
    await page.until(lambda e: e["method"] == "calls")
    app = await restart(app, after, store, clock)
    page = await open_page(app)
    await page.command("subscription.subscribe", channels=["lifecycle"])
    ended = await page.ended(run_id)

    assert (ended["event"], ended["code"]) == ("failed", "journal_mismatch")
    assert "call locate" in ended["error"]
    assert "call pay" in ended["error"]
    await app.stop()


async def test_a_run_whose_agent_is_gone_waits(open_page, clock, caplog):
    store = MemoryStore()

    async def agent(turn, value):
        await turn.call(locate)

    app = Farside({"assistant": agent}, store=store, clock=clock)
    page = await open_page(app)
    await page.submit("go")
    await page.until(lambda e: e["method"] == "calls")
    await app.stop()
    other = Farside({"other": agent}, store=store, clock=clock)
    await other.engine()

    assert "not served any more" in caplog.text
    await other.stop()
