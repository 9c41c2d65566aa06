"""kill -9 at the moments that count, in processes as users start them (L1, L4, L5); test_server_crashes has every point
of each kind of agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from farside import FarsideError
from farside.core.transcript import text_of
from farside.testing import FakeBrowser, ServerProcess, SocketLink

ANSWERS = {1: "first", 2: "second"}


@asynccontextmanager
async def served(folder: Path) -> AsyncGenerator[ServerProcess]:
    process = await ServerProcess.start("server.tests.mortal:app", environment={"MORTAL_FOLDER": str(folder)})
    try:
        yield process
    finally:
        await process.stop()


@asynccontextmanager
async def page_on(process: ServerProcess, agent: str, *, able: bool = True) -> AsyncGenerator[FakeBrowser]:
    tools = {"locate": lambda n: ANSWERS[n]} if able else {}
    async with (
        SocketLink.open(f"ws://{process.address}", "thread-1") as link,
        FakeBrowser(link, agent=agent, tools=tools) as page,
    ):
        yield page


@pytest.mark.parametrize("agent", ["function", "graph"])
async def test_killed_when_the_calls_were_announced(tmp_path, agent):
    """What was announced can be answered after a crash; the server tool of the batch ran once (F3)."""
    async with served(tmp_path) as process, page_on(process, agent, able=False) as page:
        await page.submit("go", run_id="run-1")
        await page.until(lambda e: len(page.calls("opened")) == 2)
        announced = {call["interrupt_id"] for call in page.calls("opened")}
        await process.kill()

    async with served(tmp_path) as process, page_on(process, agent) as page:
        await page.command("subscription.subscribe", channels=["lifecycle", "messages", "calls"])
        await page.ended("run-1")

    assert {call["interrupt_id"] for call in page.calls("settled")} == announced
    assert page.texts()[-1].strip() == "5 first second"
    assert (tmp_path / "charges").read_text() == "5\n"


@pytest.mark.parametrize("agent", ["graph"])
async def test_killed_right_after_an_answer_was_acknowledged(tmp_path, agent):
    """The acknowledged answer counts after the crash, and cannot be given again."""
    async with served(tmp_path) as process, page_on(process, agent, able=False) as page:
        await page.submit("go", run_id="run-1")
        await page.until(lambda e: len(page.calls("opened")) == 2)
        first = next(call for call in page.calls("opened") if call["args"] == {"n": 1})
        result = {"status": "success", "value": "acknowledged"}
        await page.command("call.settle", **page.held(first["interrupt_id"]), result=result)
        await process.kill()

    async with served(tmp_path) as process, page_on(process, agent) as page:
        with pytest.raises(FarsideError) as refused:
            await page.command("call.settle", **page.held(first["interrupt_id"]), result=result)
        await page.command("subscription.subscribe", channels=["lifecycle", "messages", "calls"])
        await page.ended("run-1")

    assert refused.value.code == "call_settled"
    assert page.texts()[-1].strip() == "5 acknowledged second"
    assert [args for _, args in page.executions] == [{"n": 2}]
    assert (tmp_path / "charges").read_text() == "5\n"


@pytest.mark.parametrize("agent", ["graph"])
async def test_killed_after_the_last_answer_the_run_resumes_at_the_next_start(tmp_path, agent):
    """L4: nobody has to ask for it."""
    async with served(tmp_path) as process, page_on(process, agent, able=False) as page:
        await page.submit("go", run_id="run-1")
        await page.until(lambda e: len(page.calls("opened")) == 2)
        for call in page.calls("opened"):
            result = {"status": "success", "value": ANSWERS[call["args"]["n"]]}
            await page.command("call.settle", **page.held(call["interrupt_id"]), result=result)
        await process.kill()

    async with served(tmp_path) as process, page_on(process, agent, able=False) as page:
        await page.command("subscription.subscribe", channels=["lifecycle", "messages", "calls"])
        await page.ended("run-1")
        state = await page.command("state.get")

    assert text_of(state["values"]["messages"][-1]).strip() == "5 first second"
    assert (tmp_path / "charges").read_text() == "5\n"


@pytest.mark.parametrize("agent", ["function"])
async def test_no_seq_is_given_twice(tmp_path, agent):
    """Events are shown before they are stored; after a crash a thread goes on behind what anybody can have seen."""
    async with served(tmp_path) as process, page_on(process, agent, able=False) as page:
        await page.submit("go", run_id="run-1")
        await page.until(lambda e: len(page.calls("opened")) == 2)
        await process.kill()
    before = page.seq

    async with served(tmp_path) as process, page_on(process, agent) as after:
        await after.command("subscription.subscribe", channels=["lifecycle", "messages"], since=before)
        await after.ended("run-1")

    new = [e["seq"] for e in after.events if e["seq"] > before]
    assert new
    assert min(new) > before
    assert len({e["event_id"] for e in after.events if e["seq"] > before}) == len(set(new))
