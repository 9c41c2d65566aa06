"""A turn has an end, also across pauses and restarts (F19)."""

from __future__ import annotations

from farside import Settings, tool
from server.tests.agents import ANY_ARGS

again = tool(name="again", args_schema=ANY_ARGS, timeout=600)


async def restless(turn, value):
    """Calls the same tool again and again."""
    for n in range(1000):
        await turn.call(again, n=n)


async def talkative(turn, value):
    for n in range(1000):
        await turn.say(str(n))


async def test_a_run_that_calls_for_ever_fails_and_says_why(make_app, open_page):
    page = await open_page(make_app(restless, settings=Settings(max_tool_calls=20)), tools={"again": lambda n: n})
    ended = await page.ended(await page.submit("go"))

    assert (ended["event"], ended["code"]) == ("failed", "limit_exceeded")
    assert "at most 20 tool calls" in ended["error"]
    assert len(page.executions) == 20
    assert len(page.calls("opened")) == 20


async def test_a_run_that_talks_for_ever_fails_too(make_app, open_page):
    page = await open_page(make_app(talkative, settings=Settings(max_model_turns=5)))
    ended = await page.ended(await page.submit("go"))

    assert ended["code"] == "limit_exceeded"
    assert page.texts() == ["0", "1", "2", "3", "4"]


async def test_the_count_goes_on_after_a_restart(make_app, open_page):
    settings = Settings(max_tool_calls=5)
    first = make_app(restless, settings=settings)
    page = await open_page(first)
    run_id = await page.submit("go")
    for n in range(3):
        await page.until(lambda e, n=n: len(page.calls("opened")) == n + 1)
        result = {"status": "success", "value": n}
        await page.command("call.settle", **page.held(page.calls("opened")[n]["interrupt_id"]), result=result)
    await page.until(lambda e: len(page.calls("opened")) == 4)
    await first.stop()

    back = await open_page(make_app(restless, settings=settings), tools={"again": lambda n: n})
    ended = await back.ended(run_id)

    assert ended["code"] == "limit_exceeded"
    assert [args["n"] for _, args in back.executions] == [3, 4]


async def test_the_next_message_has_its_own_count(make_app, open_page):
    async def agent(turn, value):
        for n in range(3):
            await turn.call(again, n=n)
        await turn.say("done")

    page = await open_page(make_app(agent, settings=Settings(max_tool_calls=3)), tools={"again": lambda n: n})

    assert [await page.ask("go") for _ in range(3)] == ["done"] * 3


async def test_without_limits_nothing_is_counted_against_a_run(make_app, open_page):
    async def agent(turn, value):
        for n in range(30):
            await turn.say(str(n))

    unlimited = Settings(max_tool_calls=None, max_model_turns=None)
    page = await open_page(make_app(agent, settings=unlimited))

    assert await page.ask("go") == "29"
