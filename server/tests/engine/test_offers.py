"""One executor: who is offered a call, who comes next, and who keeps it (L2, F11)."""

from __future__ import annotations

import asyncio

import pytest

from farside import FarsideError, Settings, ToolError, tool
from farside.testing import FakeBrowser, LinkClosed, MemoryLink
from server.tests.agents import guide, pair, pay

HERE = {"lat": 1}


def here(high):
    return HERE


def pages_of(*pages):
    return [len(page.executions) for page in pages]


async def test_the_page_that_asked_gets_its_call_whoever_is_in_front(make_app, open_page):
    app = make_app(guide)
    asker = await open_page(app, tools={"locate": here})
    front = await open_page(app, tools={"locate": here})
    await asker.command("client.announce", client_id=asker.client_id, tools=[{"name": "locate"}], visible=False)
    await asker.ask("Where am I?")

    assert pages_of(asker, front) == [1, 0]


async def test_three_pages_share_ten_calls_and_each_runs_in_the_one_that_asked(make_app, open_page):
    app = make_app(pair)
    pages = [await open_page(app, tools={"pay": lambda n: n}) for _ in range(3)]
    for page in [*pages, pages[0], pages[2]]:
        await page.ask("pay")

    assert pages_of(*pages) == [4, 2, 4]


async def test_a_page_without_the_tool_passes_it_to_the_one_that_has_it(make_app, open_page):
    app = make_app(guide)
    able = await open_page(app, tools={"locate": here})
    asker = await open_page(app)

    assert await asker.ask("Where am I?") == "You are at 1."
    assert pages_of(able, asker) == [1, 0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"focused": False}, {"focused": True}),
        ({"visible": False, "focused": False}, {"focused": False}),
        ({"permissions": {"geolocation": "denied"}, "focused": True}, {"focused": False}),
    ],
)
async def test_the_page_that_can_do_it_best_comes_first(make_app, open_page, first, second):
    app = make_app(guide)
    asker = await open_page(app)
    for page, presence in (
        (one := await open_page(app, tools={"locate": here}), first),
        (two := await open_page(app, tools={"locate": here}), second),
    ):
        tools = [{"name": "locate", "permissions": ["geolocation"]}]
        await page.command("client.announce", client_id=page.client_id, tools=tools, **presence)
    await asker.ask("Where am I?")

    assert pages_of(one, two) == [0, 1]


async def test_of_equal_pages_the_one_that_was_active_last_comes_first(make_app, open_page):
    app = make_app(guide)
    asker = await open_page(app)
    one = await open_page(app, tools={"locate": here})
    two = await open_page(app, tools={"locate": here})
    await one.stop()
    await asker.ask("Where am I?")

    assert pages_of(one, two) == [1, 0]


async def test_the_only_page_gets_the_call_even_if_its_browser_denies_the_permission(make_app, open_page):
    """Its error tells the model why; waiting would tell nothing."""
    page = await open_page(make_app(guide), tools={"locate": here})
    tools = [{"name": "locate", "permissions": ["geolocation"]}]
    denied = {"geolocation": "denied"}
    await page.command("client.announce", client_id=page.client_id, tools=tools, permissions=denied)

    assert await page.ask("Where am I?") == "You are at 1."


async def test_a_call_that_nobody_can_take_waits_and_says_so(make_app, open_page):
    app = make_app(guide)
    asker = await open_page(app)
    run_id = await asker.submit("Where am I?")
    opened = (await asker.until(lambda e: e["method"] == "calls"))["params"]["data"]
    waiting = (await asker.command("state.get"))["calls"]
    able = await open_page(app, tools={"locate": here})
    await asker.ended(run_id)

    assert (opened["event"], opened["state"], opened.get("client_id")) == ("opened", "open", None)
    assert [call["state"] for call in waiting] == ["open"]
    assert pages_of(able) == [1]
    assert [call["client_id"] for call in asker.calls("offered")] == [able.client_id]


async def test_a_page_that_declines_is_passed_over_until_it_announces_itself_anew(make_app, open_page):
    app = make_app(guide)
    asker = await open_page(app, client_id="asker")
    other = await open_page(app, client_id="other")
    for page in (asker, other):
        await page.command("client.announce", client_id=page.client_id, tools=[{"name": "locate"}])
    await asker.submit("Where am I?")
    opened = (await asker.until(lambda e: e["method"] == "calls"))["params"]["data"]
    interrupt_id = opened["interrupt_id"]
    await asker.command("call.release", interrupt_id=interrupt_id, reason="busy")
    await other.command("call.release", interrupt_id=interrupt_id)
    [waiting] = (await asker.command("state.get"))["calls"]
    await other.command("client.announce", client_id="other", tools=[{"name": "locate"}])
    [again] = (await asker.command("state.get"))["calls"]

    assert (opened["state"], opened["client_id"]) == ("offered", "asker")
    assert [call["client_id"] for call in asker.calls("offered")] == ["other", "other"]
    assert [call.get("reason") for call in asker.calls("released")] == ["busy", None]
    assert waiting["state"] == "open"
    assert (again["state"], again["client_id"]) == ("offered", "other")


async def test_a_page_that_does_not_claim_in_time_is_passed_over(make_app, open_page, clock):
    """F24: a frozen page."""
    app = make_app(guide, settings=Settings(claim_ms=5_000))
    frozen = await open_page(app)
    await frozen.command("client.announce", client_id=frozen.client_id, tools=[{"name": "locate"}])
    run_id = await frozen.submit("Where am I?")
    await frozen.until(lambda e: e["method"] == "calls")
    other = await open_page(app, tools={"locate": here})
    assert other.executions == []

    clock.advance(5_000)
    await other.ended(run_id)

    assert pages_of(other) == [1]
    assert [call["reason"] for call in other.calls("released")] == ["not claimed in time"]


async def test_nobody_else_may_claim_what_is_offered_to_another(make_app, open_page):
    app = make_app(guide)
    asker = await open_page(app)
    await asker.command("client.announce", client_id=asker.client_id, tools=[{"name": "locate"}])
    other = await open_page(app)
    await asker.submit("Where am I?")
    opened = (await asker.until(lambda e: e["method"] == "calls"))["params"]["data"]
    with pytest.raises(FarsideError) as refused:
        await other.command("call.claim", **other.held(opened["interrupt_id"]))

    assert refused.value.code == "claim_lost"
    assert (await asker.command("call.claim", **asker.held(opened["interrupt_id"])))["args"] == {"high": True}


async def test_an_offer_moves_on_at_once_when_its_page_leaves(make_app, open_page):
    app = make_app(guide)
    asker = await open_page(app)
    await asker.command("client.announce", client_id=asker.client_id, tools=[{"name": "locate"}])
    other = await open_page(app, tools={"locate": here})
    run_id = await asker.submit("Where am I?")
    await asker.until(lambda e: e["method"] == "calls")
    await asker.close()
    await other.ended(run_id)

    assert pages_of(other) == [1]


async def claimed(page):
    """The page claims the call that it is offered; returns what names its claim."""
    opened = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]
    held = page.held(opened["interrupt_id"])
    await page.command("call.claim", **held)
    return held


async def an_asker(app, open_page, tools=("locate",), **options):
    """A page that will claim by hand."""
    page = await open_page(app, **options)
    await page.command("client.announce", client_id=page.client_id, tools=[{"name": name} for name in tools])
    return page


async def test_the_same_client_may_come_back_within_the_grace_period(make_app, open_page, clock):
    """F8: a reload in the middle of a tool."""
    app = make_app(guide, settings=Settings(grace_ms=10_000, lease_ms=60_000))
    before = await an_asker(app, open_page, client_id="page-1")
    run_id = await before.submit("Where am I?")
    held = await claimed(before)
    other = await open_page(app, tools={"locate": here})
    await before.close()
    clock.advance(9_999)

    after = await an_asker(app, open_page, client_id="page-1")
    await after.command("call.claim", **held)
    clock.advance(10_000)
    result = {"status": "success", "value": HERE}
    await after.command("call.settle", **held, result=result)
    await after.ended(run_id)

    assert pages_of(other) == [0]
    assert after.texts() == ["You are at 1."]


@pytest.mark.parametrize("agent", [guide, pair])
async def test_after_the_grace_period_the_tool_decides(make_app, open_page, clock, agent):
    """L8: an idempotent tool runs in the next page, any other one's call is interrupted."""
    app = make_app(agent, settings=Settings(grace_ms=10_000, lease_ms=60_000))
    gone = await an_asker(app, open_page, ["locate", "pay"])
    run_id = await gone.submit("go")
    await gone.until(lambda e: len(gone.calls("opened")) == (1 if agent is guide else 2))
    for call in gone.calls("opened"):
        await gone.command("call.claim", **gone.held(call["interrupt_id"]))
    heir = await open_page(app, tools={"locate": here, "pay": lambda n: n})
    await gone.close()
    clock.advance(9_999)
    assert heir.executions == []
    clock.advance(1)
    await heir.ended(run_id)

    if agent is guide:
        assert heir.texts() == ["You are at 1."]
    else:
        assert heir.executions == []
        assert [call["result"]["error"]["code"] for call in heir.calls("settled")] == ["interrupted"] * 2


async def test_a_reopened_page_answers_under_another_client_id(make_app, open_page):
    """F17: what the page before it has computed leaves with the proof of its claim."""
    app = make_app(pair)
    crashed = await an_asker(app, open_page, ["pay"])
    await crashed.submit("pay")
    await crashed.until(lambda e: len(crashed.calls("opened")) == 2)
    calls = crashed.calls("opened")
    for call in calls:
        await crashed.command("call.claim", **crashed.held(call["interrupt_id"]))
    await crashed.close()

    reopened = await an_asker(app, open_page, [])
    for call in calls:
        result = {"status": "success", "value": call["args"]["n"]}
        with pytest.raises(FarsideError) as refused:
            await reopened.command("call.settle", **reopened.held(call["interrupt_id"]), result=result)
        assert refused.value.code == "claim_lost"
        await reopened.command("call.settle", **crashed.held(call["interrupt_id"]), result=result)
    await reopened.until(lambda e: e["method"] == "lifecycle" and e["params"]["data"]["event"] == "completed")

    assert reopened.texts() == ["1 2"]


async def test_what_may_have_started_is_given_back_and_the_run_goes_on_with_the_error(make_app, open_page):
    async def payer(turn, value):
        try:
            await turn.call(pay, n=1)
        except ToolError as error:
            await turn.say(error.code)

    page = await an_asker(make_app(payer), open_page, ["pay"])
    run_id = await page.submit("pay")
    await page.command("call.release", **await claimed(page), started=True)
    await page.ended(run_id)

    assert [call["result"]["error"]["code"] for call in page.calls("settled")] == ["interrupted"]
    assert page.texts() == ["interrupted"]


async def test_an_idempotent_call_that_may_have_started_is_offered_again(make_app, open_page):
    page = await an_asker(make_app(guide), open_page)
    await page.submit("Where am I?")
    await page.command("call.release", **await claimed(page), started=True)
    await page.until(lambda e: bool(page.calls("offered")))

    assert [call["client_id"] for call in page.calls("offered")] == [page.client_id]


async def test_a_new_connection_of_a_client_supersedes_the_old_one(make_app, open_page):
    """The same page that reconnects; what was late on the old connection undoes nothing (L8)."""
    app = make_app(guide)
    link = await MemoryLink(app, "thread-1").open()
    async with FakeBrowser(link, agent="assistant", client_id="page-1") as old:
        await old.command("client.announce", client_id="page-1", tools=[{"name": "locate"}])
        run_id = await old.submit("Where am I?")
        held = await claimed(old)
        back = await an_asker(app, open_page, client_id="page-1")
        with pytest.raises(LinkClosed):
            await old.command("call.release", **held)

    assert link.closed_with == 4001
    await back.command("call.settle", **held, result={"status": "success", "value": HERE})
    await back.ended(run_id)
    assert back.texts() == ["You are at 1."]


async def test_a_page_that_answers_for_another_supersedes_that_too(make_app, open_page):
    """What a page that is gone has sent, and what arrives late, does not take back what its heir has claimed (L8)."""
    app = make_app(guide)
    link = await MemoryLink(app, "thread-1").open()
    async with FakeBrowser(link, agent="assistant", client_id="gone") as gone:
        await gone.command("client.announce", client_id="gone", tools=[{"name": "locate"}])
        run_id = await gone.submit("Where am I?")
        held = await claimed(gone)
        heir = await open_page(app)
        await heir.command("client.announce", client_id=heir.client_id, replaces=["gone"], tools=[{"name": "locate"}])
        await heir.command("call.claim", **held)
        for late in ("call.claim", "call.release"):
            with pytest.raises(LinkClosed):
                await gone.command(late, **held)

    assert link.closed_with == 4001
    assert [call["client_id"] for call in heir.calls("claimed")] == ["gone", heir.client_id]
    await heir.command("call.settle", **held, result={"status": "success", "value": HERE})
    await heir.ended(run_id)
    assert heir.texts() == ["You are at 1."]


async def test_a_release_that_waits_while_its_client_reconnects_is_not_carried_out(make_app, open_page):
    """The release of a page that was reloaded must not free what it has begun since."""
    app = make_app(guide)
    engine = await app.engine()
    old = await MemoryLink(app, "thread-1").open()
    announce = {"client_id": "page-1", "tools": [{"name": "locate"}], "visible": True, "focused": True}
    await old.send({"id": 1, "method": "client.announce", "params": announce})
    await old.send({"id": 2, "method": "subscription.subscribe", "params": {"channels": ["calls"]}})
    start = {"assistant_id": "assistant", "input": {"messages": []}, "run_id": "run-1"}
    await old.send({"id": 3, "method": "run.start", "params": start})
    watcher = await open_page(app)
    call = (await watcher.until(lambda e: e["method"] == "calls"))["params"]["data"]
    async with engine.threads.locked("thread-1"):
        late = {"id": 4, "method": "call.release", "params": {"interrupt_id": call["interrupt_id"]}}
        releasing = asyncio.create_task(old.send(late))
        back = await MemoryLink(app, "thread-1").open()
        announcing = asyncio.create_task(back.send({"id": 1, "method": "client.announce", "params": announce}))
        await asyncio.sleep(0)
    await releasing
    await announcing
    claim = {"interrupt_id": call["interrupt_id"], "claim_id": "claim-1"}
    await back.send({"id": 2, "method": "call.claim", "params": claim})
    await watcher.until(lambda e: bool(watcher.calls("claimed")))
    await back.close()

    assert watcher.calls("released") == []


async def test_a_client_id_is_for_the_life_of_a_connection(make_app, open_page):
    page = await open_page(make_app(guide))
    with pytest.raises(FarsideError) as refused:
        await page.command("client.announce", client_id="another", tools=[])

    assert refused.value.code == "invalid_argument"


async def test_a_restart_of_the_server_gives_who_holds_a_claim_time_to_come_back(make_app, open_page, clock):
    """The lease ended while nobody could renew it: that is not the page's fault."""
    first = make_app(pair, settings=Settings(lease_ms=30_000))
    page = await an_asker(first, open_page, ["pay"], client_id="page-1")
    await page.submit("pay")
    await page.until(lambda e: len(page.calls("opened")) == 2)
    calls = page.calls("opened")
    for call in calls:
        await page.command("call.claim", **page.held(call["interrupt_id"]))
    await first.stop()
    clock.advance(50_000)

    second = make_app(pair, settings=Settings(lease_ms=30_000))
    back = await an_asker(second, open_page, ["pay"], client_id="page-1")
    for call in calls:
        result = {"status": "success", "value": call["args"]["n"]}
        await back.command("call.settle", **page.held(call["interrupt_id"]), result=result)
    await back.until(lambda e: e["method"] == "lifecycle" and e["params"]["data"]["event"] == "completed")

    assert back.texts() == ["1 2"]


async def test_progress_renews_the_lease_without_storing_each_time(make_app, open_page, clock, store):
    work = tool(name="work", timeout=600)

    async def agent(turn, value):
        await turn.say(await turn.call(work))

    app = make_app(agent, settings=Settings(lease_ms=30_000, ping_ms=600_000))
    page = await an_asker(app, open_page, ["work"])
    run_id = await page.submit("go")
    held = await claimed(page)
    versions = []
    for step in range(6):
        await page.command("call.progress", **held, value=step)
        versions.append((await store.call("thread-1", held["interrupt_id"])).version)
        clock.advance(8_000)
    await page.command("call.settle", **held, result={"status": "success", "value": "done"})
    await page.ended(run_id)

    assert [call["value"] for call in page.calls("progress")] == list(range(6))
    assert versions == [2, 2, 3, 3, 4, 4]
    assert page.texts() == ["done"]
