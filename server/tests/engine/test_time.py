"""Deadlines and leases: time belongs to the server (L9), an unknown outcome is not run again (L8)."""

from __future__ import annotations

import asyncio

import pytest

from farside import FarsideError, Settings
from server.tests.agents import guide, pair


async def test_a_deadline_settles_the_call_and_aborts_the_body(make_app, open_page, clock):
    begun, aborted = asyncio.Event(), asyncio.Event()

    async def body(high):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            aborted.set()
            raise

    page = await open_page(make_app(guide, settings=Settings(lease_ms=60_000)), tools={"locate": body})
    run_id = await page.submit("Where am I?")
    await begun.wait()
    clock.advance(30_000)
    await aborted.wait()
    await page.ended(run_id)

    assert page.texts() == ["No position: timed_out"]
    with pytest.raises(FarsideError) as refused:
        interrupt_id = page.calls("expired")[0]["interrupt_id"]
        result = {"status": "success", "value": {"lat": 1}}
        await page.command("call.settle", **page.held(interrupt_id), result=result)
    assert refused.value.code == "call_settled"


async def test_the_default_timeout_holds_for_tools_without_one(make_app, open_page, clock):
    from farside import ToolError, tool

    ask = tool(name="ask")

    async def agent(turn, value):
        try:
            await turn.call(ask)
        except ToolError as error:
            await turn.say(error.code)

    page = await open_page(make_app(agent, settings=Settings(default_timeout=5)))
    run_id = await page.submit("hi")
    await page.until(lambda e: e["method"] == "calls")
    clock.advance(5_000)
    await page.ended(run_id)

    assert page.texts() == ["timed_out"]


async def test_a_lease_that_ends_frees_an_idempotent_call(make_app, open_page, clock):
    app = make_app(guide, settings=Settings(lease_ms=10_000))
    gone = await open_page(app)
    run_id = await gone.submit("Where am I?")
    opened = (await gone.until(lambda e: e["method"] == "calls"))["params"]["data"]
    await gone.command("call.claim", **gone.held(opened["interrupt_id"]))
    heir = await open_page(app, tools={"locate": lambda high: {"lat": 9}})
    assert heir.executions == []

    clock.advance(10_000)
    await heir.ended(run_id)

    assert heir.executions == [("locate", {"high": True})]
    assert heir.texts() == ["You are at 9."]


async def test_a_lease_that_ends_settles_any_other_call_as_interrupted(make_app, open_page, clock):
    app = make_app(pair, settings=Settings(lease_ms=10_000))
    gone = await open_page(app)
    run_id = await gone.submit("pay")
    await gone.until(lambda e: len(gone.calls("opened")) == 2)
    for call in gone.calls("opened"):
        await gone.command("call.claim", **gone.held(call["interrupt_id"]))
    heir = await open_page(app, tools={"pay": lambda n: n})

    clock.advance(10_000)

    assert (await heir.ended(run_id))["event"] == "failed"
    assert [call["result"]["error"]["code"] for call in heir.calls("settled")] == ["interrupted", "interrupted"]
    assert heir.executions == []


async def test_claiming_again_and_progress_renew_the_lease(make_app, open_page, clock):
    app = make_app(guide, settings=Settings(lease_ms=10_000))
    page = await open_page(app)
    await page.submit("Where am I?")
    interrupt_id = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]["interrupt_id"]

    await page.command("call.claim", **page.held(interrupt_id))
    clock.advance(9_000)
    await page.command("call.claim", **page.held(interrupt_id))
    clock.advance(9_000)
    await page.command("call.progress", **page.held(interrupt_id), value={"percent": 50})
    clock.advance(9_000)

    rival = await open_page(app)
    with pytest.raises(FarsideError) as refused:
        await rival.command("call.claim", **rival.held(interrupt_id))
    assert refused.value.code == "claim_lost"
    assert page.calls("progress")[0]["value"] == {"percent": 50}


async def test_a_released_call_goes_to_another_page(make_app, open_page):
    app = make_app(guide)
    page = await open_page(app)
    run_id = await page.submit("Where am I?")
    interrupt_id = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]["interrupt_id"]
    await page.command("call.claim", **page.held(interrupt_id))
    other = await open_page(app, tools={"locate": lambda high: {"lat": 4}})

    await page.command("call.release", **page.held(interrupt_id), reason="busy")
    await page.ended(run_id)

    assert other.executions == [("locate", {"high": True})]
    assert page.calls("released")[0]["reason"] == "busy"
