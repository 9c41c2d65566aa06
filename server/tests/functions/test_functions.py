"""Plain function agents: calls, steps, texts, positions."""

from __future__ import annotations

import asyncio

import pytest

from farside import FarsideError, ToolError, tool
from server.tests.agents import locate, pay


async def test_wrong_arguments_never_reach_the_page(make_app, open_page):
    """L10, F22."""

    async def agent(turn, value):
        try:
            await turn.call(locate, high="very")
        except ToolError as error:
            await turn.say(error.code)

    page = await open_page(make_app(agent), tools={"locate": lambda high: {"lat": 1}})

    assert await page.ask("hi") == "invalid_args"
    assert page.executions == []


async def test_steps_give_their_result_sync_and_async(make_app, open_page):
    async def fetch(n):
        return {"n": n}

    async def agent(turn, value):
        one = await turn.step(fetch, 1)
        two = await turn.step(sorted, [3, 1, 2])
        await turn.say(f"{one} {two}")

    page = await open_page(make_app(agent))

    assert await page.ask("hi") == "{'n': 1} [1, 2, 3]"


async def test_a_text_can_come_in_pieces(make_app, open_page):
    async def pieces():
        for piece in ("one ", "two ", "three"):
            yield piece

    async def agent(turn, value):
        await turn.say(pieces())

    page = await open_page(make_app(agent))

    assert await page.ask("hi") == "one two three"
    deltas = [e["params"]["data"]["delta"] for e in page.events if "delta" in e["params"]["data"]]
    assert [delta["text"] for delta in deltas] == ["one ", "two ", "three"]


async def test_a_step_result_that_cannot_be_stored_fails_the_run(make_app, open_page, caplog):
    async def agent(turn, value):
        await turn.step(object)

    page = await open_page(make_app(agent))

    assert (await page.ended(await page.submit("hi")))["code"] == "agent_failed"
    assert "invalid_value" in caplog.text


async def test_calls_nobody_awaits_any_more_are_cancelled_with_the_run(make_app, open_page):
    async def agent(turn, value):
        forgotten = asyncio.ensure_future(turn.call(pay))
        await turn.say("done")
        await asyncio.wait([forgotten], timeout=0)
        forgotten.cancel()

    page = await open_page(make_app(agent))
    run_id = await page.submit("hi")

    assert (await page.ended(run_id))["event"] == "completed"
    assert [call["result"]["error"]["code"] for call in page.calls("cancelled")] in ([], ["cancelled"])


async def test_a_turn_used_outside_its_function_says_so(make_app, open_page):
    turns = []

    async def agent(turn, value):
        turns.append(turn)

    page = await open_page(make_app(agent))
    await page.ended(await page.submit("hi"))
    with pytest.raises(RuntimeError, match="outside the agent function"):
        turns[0].call(pay)


async def test_the_error_of_a_tool_carries_code_and_details(make_app, open_page):
    caught = []

    async def agent(turn, value):
        try:
            await turn.call(tool(name="open_file"))
        except ToolError as error:
            caught.append(error)
        await turn.say("ok")

    def dismissed():
        raise ToolError("dismissed", "closed the picker")

    page = await open_page(make_app(agent), tools={"open_file": dismissed})
    await page.ask("hi")

    assert (caught[0].code, caught[0].message) == ("dismissed", "open_file: closed the picker")
    assert isinstance(caught[0], FarsideError)
