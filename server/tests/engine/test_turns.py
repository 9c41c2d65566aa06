"""The main job over memory and SQLite, with a page in Python."""

from __future__ import annotations

import asyncio

import pytest

from farside import FarsideError, Settings, ToolError
from server.tests.agents import echo, guide, pair


@pytest.mark.parametrize("subprotocol", ["farside.v1.msgpack", "farside.v1.json"])
async def test_a_call_runs_in_the_page_and_the_run_resumes(make_app, open_page, subprotocol):
    page = await open_page(make_app(guide), tools={"locate": lambda high: {"lat": 1.5}}, subprotocol=subprotocol)

    assert await page.ask("Where am I?") == "You are at 1.5."
    assert page.executions == [("locate", {"high": True})]
    assert page.said() == ["Where am I?"]
    assert [call["result"]["value"] for call in page.calls("settled")] == [{"lat": 1.5}]


async def test_bytes_arrive_as_they_were(make_app, open_page):
    seen = []

    async def agent(turn, value):
        seen.extend(await asyncio.gather(turn.call(PHOTO), turn.call(PHOTO)))
        await turn.say("thanks")

    from farside import tool

    PHOTO = tool(name="photo")  # noqa: N806
    picture = bytes(range(256)) * 4096
    page = await open_page(make_app(agent), tools={"photo": lambda: {"image": picture}})

    await page.ask("photo please")

    assert seen == [{"image": picture}] * 2


async def test_what_a_body_throws_reaches_the_agent_with_its_code(make_app, open_page):
    def denied(high):
        raise ToolError("permission_denied", "the user said no")

    page = await open_page(make_app(guide), tools={"locate": denied})

    assert await page.ask("Where am I?") == "No position: permission_denied"


async def test_a_result_that_does_not_fit_is_stored_as_invalid_result(make_app, open_page):
    page = await open_page(make_app(guide), tools={"locate": lambda high: {"lat": "north"}})

    assert await page.ask("Where am I?") == "No position: invalid_result"
    assert page.calls("settled")[0]["result"]["error"]["code"] == "invalid_result"


async def test_two_calls_are_open_before_either_is_answered_and_each_gets_its_own_answer(make_app, open_page):
    """F1, F2: answered in reverse order."""
    first, second = asyncio.Event(), asyncio.Event()

    async def body(n):
        (first if n == 1 else second).set()
        await (second if n == 1 else first).wait()
        return f"paid {n}"

    page = await open_page(make_app(pair), tools={"pay": body})

    assert await page.ask("pay twice") == "paid 1 paid 2"
    assert len(page.calls("opened")) == 2


async def test_a_second_page_sees_the_conversation_and_runs_nothing(make_app, open_page):
    """F10, L7."""
    app = make_app(guide)
    page = await open_page(app, tools={"locate": lambda high: {"lat": 1}})
    await page.ask("Where am I?")

    late = await open_page(app, tools={"locate": lambda high: {"lat": 2}})

    assert [message["content"] for message in late.values["messages"]] == ["Where am I?", "You are at 1."]
    await late.command("subscription.subscribe", channels=["calls", "messages"], since=0)
    assert late.executions == []


async def test_a_page_that_comes_late_takes_up_an_open_call(make_app, open_page):
    app = make_app(guide)
    watcher = await open_page(app)
    run_id = await watcher.submit("Where am I?")
    await watcher.until(lambda e: e["method"] == "calls")

    page = await open_page(app, tools={"locate": lambda high: {"lat": 3}})

    assert (await watcher.ended(run_id))["event"] == "completed"
    assert page.executions == [("locate", {"high": True})]
    assert watcher.texts() == ["You are at 3."]


async def test_two_pages_execute_a_call_once(make_app, open_page):
    """L2."""
    app = make_app(pair)
    pages = [await open_page(app, tools={"pay": lambda n: n}) for _ in range(3)]

    await pages[0].ask("pay twice")

    assert sorted(args["n"] for page in pages for _, args in page.executions) == [1, 2]


async def test_the_first_answer_wins(make_app, open_page):
    """F4, L3."""
    app = make_app(guide)
    page = await open_page(app)
    run_id = await page.submit("Where am I?")
    opened = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]
    answer = {**page.held(opened["interrupt_id"]), "result": {"status": "success", "value": {"lat": 1}}}

    await page.command("call.settle", **answer)
    with pytest.raises(FarsideError) as refused:
        await page.command("call.settle", **answer | {"result": {"status": "success", "value": {"lat": 2}}})
    await page.ended(run_id)

    assert refused.value.code == "call_settled"
    assert page.texts() == ["You are at 1."]


async def test_a_run_started_twice_with_one_id_runs_once(make_app, open_page):
    page = await open_page(make_app(echo))

    assert await page.submit("hi", run_id="r1") == await page.submit("hi", run_id="r1") == "r1"
    await page.ended("r1")

    assert page.texts() == ["You said hi."]


async def test_a_second_run_while_one_executes_is_refused(make_app, open_page):
    going = asyncio.Event()

    async def slow(turn, value):
        await going.wait()

    page = await open_page(make_app(slow, settings=Settings(on_active_run="refuse")))
    first = await page.submit("one")
    with pytest.raises(FarsideError) as refused:
        await page.submit("two")
    going.set()

    assert refused.value.code == "run_active"
    assert (await page.ended(first))["event"] == "completed"


async def test_a_new_message_cancels_an_open_call(make_app, open_page):
    page = await open_page(make_app(guide))
    first = await page.submit("Where am I?")
    await page.until(lambda e: e["method"] == "calls")

    second = await page.submit("Never mind, where am I?")

    assert (await page.ended(first))["code"] == "cancelled"
    assert page.calls("cancelled")[0]["result"]["error"]["code"] == "cancelled"
    await page.until(lambda e: e["method"] == "calls" and e["params"]["data"].get("run_id") == second)


async def test_stop_cancels_the_call_and_aborts_the_body(make_app, open_page):
    """F16."""
    aborted, begun = asyncio.Event(), asyncio.Event()

    async def body(high):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            aborted.set()
            raise

    page = await open_page(make_app(guide), tools={"locate": body})
    run_id = await page.submit("Where am I?")
    await begun.wait()
    await page.stop()
    await aborted.wait()

    assert (await page.ended(run_id))["code"] == "cancelled"
    assert page.texts() == []


async def test_stop_when_nothing_runs_does_nothing(make_app, open_page):
    page = await open_page(make_app(echo))
    await page.stop()
    run_id = await page.submit("hi")
    await page.ended(run_id)
    await page.command("run.cancel", run_id=run_id)
    with pytest.raises(FarsideError) as refused:
        await page.command("run.cancel", run_id="nowhere")

    assert refused.value.code == "no_such_run"
    assert page.texts() == ["You said hi."]


async def test_an_agent_that_raises_fails_its_run_without_its_text_on_the_wire(make_app, open_page, caplog):
    async def broken(turn, value):
        raise RuntimeError("secret-connection-string")

    page = await open_page(make_app(broken))
    ended = await page.ended(await page.submit("hi"))

    assert (ended["event"], ended["code"]) == ("failed", "agent_failed")
    assert "secret" not in str(page.events)
    assert "secret-connection-string" in caplog.text


async def test_an_agent_that_says_what_cannot_travel_fails_clearly_and_the_thread_lives(make_app, open_page, caplog):
    async def broken(turn, value):
        await turn.say("\ud800" if turn.text == "break" else "fine")

    page = await open_page(make_app(broken))

    assert (await page.ended(await page.submit("break")))["event"] == "failed"
    assert await page.ask("go on") == "fine"
