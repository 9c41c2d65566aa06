"""Pages that were built for other schemas than the server has: who is told, and who is offered a call."""

from __future__ import annotations

import pytest

from farside import Farside, tool
from farside.app import DEVELOPMENT
from server.tests.agents import guide, locate

OLD = "0" * 16
NEW = locate.fingerprint


class Page:
    """What a page with this fingerprint for ``locate`` does."""

    def __init__(self, browser, fingerprint):
        self.browser = browser
        self.tools = [{"name": "locate"} if fingerprint is None else {"name": "locate", "fingerprint": fingerprint}]

    async def announce(self, **presence):
        return await self.browser.command(
            "client.announce", client_id=self.browser.client_id, tools=self.tools, **presence
        )


@pytest.fixture
def open_built(open_page):
    async def open_one(app, fingerprint):
        page = Page(await open_page(app, tools={"locate": lambda high: {"lat": 1}}), fingerprint)
        return page, (await page.announce(focused=True)).get("mismatches")

    return open_one


MISMATCH = {"name": "locate", "fingerprint": OLD, "expected": NEW}


@pytest.mark.parametrize("policy", ["strict", "warn"])
async def test_the_announcement_is_answered_with_what_does_not_match(make_app, open_built, policy):
    app = make_app(guide, tools=[locate], schema_mismatch=policy)
    assert (await open_built(app, NEW))[1] is None
    assert (await open_built(app, None))[1] is None
    old, mismatches = await open_built(app, OLD)
    assert mismatches == [MISMATCH]
    assert "mismatches" not in await old.announce(visible=False), "it was told"
    assert [error["error"] for error in old.browser.errors] == (["schema_mismatch"] if policy == "strict" else [])


@pytest.mark.parametrize("known", [True, False], ids=["known", "learned when it is called"])
@pytest.mark.parametrize(("policy", "runs"), [("strict", [0, 1]), ("warn", [1, 0])])
async def test_strict_keeps_the_call_from_an_old_page(make_app, open_built, policy, runs, known):
    """The old page has asked and has the focus: it would be the first."""
    app = make_app(guide, tools=[locate] if known else [], schema_mismatch=policy)
    new, _ = await open_built(app, NEW)
    old, _ = await open_built(app, OLD)

    assert await old.browser.ask("Where am I?") == "You are at 1."
    assert [len(page.browser.executions) for page in (old, new)] == runs
    told = [error["details"]["mismatches"] for error in old.browser.errors]
    assert told == [[MISMATCH]] * ((2 if known else 1) if policy == "strict" else 0)
    assert new.browser.errors == []


async def test_a_call_waits_for_a_page_that_is_up_to_date(make_app, open_built):
    app = make_app(guide, tools=[locate], schema_mismatch="strict")
    old, _ = await open_built(app, OLD)
    run_id = await old.browser.submit("Where am I?")
    opened = await old.browser.until(lambda event: event["params"]["data"].get("event") == "opened")
    assert opened["params"]["data"]["state"] == "open"
    new, _ = await open_built(app, NEW)
    await old.browser.ended(run_id)
    assert [len(page.browser.executions) for page in (old, new)] == [0, 1]


async def test_any_agent_of_the_app_may_be_meant_by_what_is_announced(make_app, open_built):
    other = tool(name="locate")

    async def second(turn, value):
        await turn.call(other)

    app = make_app({"assistant": guide, "second": second}, schema_mismatch="strict")
    engine = await app.engine()
    engine.runtimes["assistant"]._declare(locate)
    engine.runtimes["second"]._declare(other)
    for fingerprint in (NEW, other.fingerprint):
        assert (await open_built(app, fingerprint))[1] is None
    assert (await open_built(app, OLD))[1] == [MISMATCH]


@pytest.mark.parametrize(
    ("policy", "development", "is_strict"),
    [(None, "1", True), (None, None, False), ("warn", "1", False), ("strict", None, True)],
)
async def test_strict_is_the_default_while_one_writes_the_app(monkeypatch, policy, development, is_strict):
    monkeypatch.delenv(DEVELOPMENT, raising=False)
    if development:
        monkeypatch.setenv(DEVELOPMENT, development)
    app = Farside({"a": guide}, store="memory", schema_mismatch=policy)
    assert (await app.engine()).declared.is_strict is is_strict
    await app.stop()
