"""Two processes on one store: each thread is driven by one of them, and taken over when that one is gone."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from farside import Farside, FarsideError
from farside.processes import forget, is_gone, new_process_id
from farside.stores.memory import MemoryStore
from farside.stores.sqlite import SqliteStore
from farside.testing import FakeBrowser, LinkClosed, ManualClock, MemoryLink, ServerProcess, SocketLink
from server.tests.agents import echo, pair


@pytest.fixture(params=["memory", "sqlite"])
def same_store(request, tmp_path):
    """Gives each process its own store object on the same store."""
    memory = MemoryStore()
    return lambda: memory if request.param == "memory" else SqliteStore(tmp_path / "farside.db")


async def settle(page, number, value):
    interrupt_id = page.calls("opened")[number]["interrupt_id"]
    result = {"status": "success", "value": value}
    await page.command("call.settle", **page.held(interrupt_id), result=result)


async def test_a_thread_is_driven_by_one_process_at_a_time(make_app, open_page, same_store):
    one, two = [make_app(echo, store=same_store()) for _ in range(2)]
    page = await open_page(one)
    with pytest.raises(FarsideError) as refused:
        await open_page(two)
    other = await open_page(two, thread_id="thread-2")

    assert refused.value.code == "unavailable"
    assert refused.value.retryable
    assert await page.ask("hi") == "You said hi."
    assert await other.ask("ho") == "You said ho."


async def test_a_thread_that_nobody_uses_any_more_is_free(make_app, open_page, same_store):
    one, two = [make_app(echo, store=same_store()) for _ in range(2)]
    page = await open_page(one)
    await page.ask("hi")
    await page.close()
    other = await open_page(two)

    assert await other.ask("ho") == "You said ho."
    assert [message["content"] for message in other.values["messages"]] == ["hi", "You said hi."]


async def test_a_process_that_stops_leaves_its_runs_to_the_others(make_app, open_page, clock, same_store):
    one, two = [make_app(pair, store=same_store()) for _ in range(2)]
    page = await open_page(one)
    run_id = await page.submit("pay")
    await page.until(lambda e: len(page.calls("opened")) == 2)
    await (await two.engine()).seq("thread-9")
    await one.stop()
    await clock.somebody_waits(5_000)
    clock.advance(5_000)

    other = await open_page(two, tools={"pay": lambda n: n})
    await other.ended(run_id)
    assert other.texts() == ["1 2"]


async def test_a_process_that_sleeps_too_long_loses_its_threads_and_does_nothing_more_to_them(same_store, open_page):
    """No batch is resumed twice: what the sleeper still wants to store is refused, and its clients are sent away."""
    clocks = ManualClock(), ManualClock()
    resumed: list[str] = []

    def agent(name):
        async def payer(turn, value):
            await pair(turn, value)
            resumed.append(name)

        return payer

    sleeper = Farside({"assistant": agent("sleeper")}, store=same_store(), clock=clocks[0])
    heir = Farside({"assistant": agent("heir")}, store=same_store(), clock=clocks[1])
    link = await MemoryLink(sleeper, "thread-1").open()
    async with FakeBrowser(link, agent="assistant") as page:
        run_id = await page.submit("pay")
        await page.until(lambda e: len(page.calls("opened")) == 2)
        await settle(page, 0, "one")
        await heir.engine()
        clocks[1].advance(15_000)
        heard = await open_page(heir, tools={"pay": lambda n: n})
        await heard.ended(run_id)

        with pytest.raises((FarsideError, LinkClosed), match=r"unavailable|^$"):
            await settle(page, 1, "two")
    await sleeper.stop()
    await heir.stop()

    assert link.closed_with == 1012
    assert resumed == ["heir"]
    assert heard.texts() == ["one 2"]


@pytest.mark.parametrize("agent", ["function", "graph"])
async def test_killed_with_another_process_beside_it_the_run_goes_on_there(tmp_path, agent):
    """kill -9, on one SQLite file: the other process notices, takes over, and resumes once."""
    environment = {"MORTAL_FOLDER": str(tmp_path)}
    one = await ServerProcess.start("server.tests.mortal:app", environment=environment)
    two = await ServerProcess.start("server.tests.mortal:app", environment=environment)
    try:
        async with (
            SocketLink.open(f"ws://{one.address}", "thread-1") as link,
            FakeBrowser(link, agent=agent) as page,
        ):
            await page.submit("go", run_id="run-1")
            await page.until(lambda e: len(page.calls("opened")) == 2)
            await settle(page, 0, "first")
            await one.kill()
        async with SocketLink.open(f"ws://{two.address}", "thread-1") as link:
            tools = {"locate": lambda n: f"again {n}"}
            async with FakeBrowser(link, agent=agent, tools=tools) as page:
                await page.ended("run-1")
    finally:
        await one.stop()
        await two.stop()

    assert page.texts()[-1].strip() == "5 first again 2"
    assert (tmp_path / "charges").read_text() == "5\n"


def test_a_process_is_gone_when_it_has_ended_or_its_engine_was_stopped():
    living = new_process_id()
    assert not is_gone(living)
    forget(living)
    assert is_gone(living)
    place = living.rpartition("/")[0].rpartition("/")[0]
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(f"{place}/{ended.pid}/1")
    assert not is_gone(f"{place}/{os.getppid()}/1")
    assert not is_gone(f"elsewhere/{ended.pid}/1")
    assert not is_gone("named by somebody else")


async def test_many_ask_for_a_new_thread_at_once_and_leave(make_app, open_page):
    app = make_app(echo)

    async def visit(number):
        link = await MemoryLink(app, f"thread-{number % 3}").open()
        async with FakeBrowser(link, agent="assistant") as page:
            return await page.ask(str(number))

    assert await asyncio.gather(*(visit(n) for n in range(30))) == [f"You said {n}." for n in range(30)]
