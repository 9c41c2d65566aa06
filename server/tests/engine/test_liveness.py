"""A client that gives no sign of life is given up, and what it held goes on (F12)."""

from __future__ import annotations

import pytest

from farside import Settings, tool
from farside.testing import LinkClosed, MemoryLink
from server.tests.agents import echo

locate = tool(name="locate", timeout=600, idempotent=True)


async def finder(turn, value):
    await turn.call(locate)


async def hear(link, kind):
    """The next message of a type."""
    while (message := await link.receive())["type"] != kind:
        pass
    return message


async def test_a_client_that_answers_pings_stays(make_app, open_page, clock):
    page = await open_page(make_app(echo, settings=Settings(ping_ms=10_000)))
    for _ in range(5):
        await clock.somebody_waits(10_000)
        clock.advance(10_000)
        await page.command("connection.ping")

    assert await page.ask("hi") == "You said hi."


async def test_a_ping_tells_how_many_messages_were_sent(make_app, clock):
    link = await MemoryLink(make_app(echo, settings=Settings(ping_ms=10_000)), "thread-1").open()
    for number in range(3):
        await link.send({"id": number, "method": "connection.ping", "params": {}})
    clock.advance(10_000)
    first = await hear(link, "ping")
    await link.send({"id": 3, "method": "connection.ping", "params": {}})
    clock.advance(10_000)
    second = await hear(link, "ping")
    await link.close()

    assert (first["sent"], second["sent"]) == (3, 5)


async def test_a_silent_client_is_given_up_and_its_call_goes_to_the_next(make_app, open_page, clock):
    app = make_app(finder, settings=Settings(ping_ms=10_000, grace_ms=10_000, lease_ms=600_000))
    silent = await MemoryLink(app, "thread-1").open()
    announce = {"client_id": "silent", "tools": [{"name": "locate"}], "visible": True, "focused": True}
    await silent.send({"id": 1, "method": "client.announce", "params": announce})
    await silent.send({"id": 2, "method": "subscription.subscribe", "params": {"channels": ["calls"]}})
    start = {"assistant_id": "assistant", "input": {"messages": []}, "run_id": "run-1"}
    await silent.send({"id": 3, "method": "run.start", "params": start})
    opened = (await hear(silent, "event"))["params"]["data"]
    claim = {"interrupt_id": opened["interrupt_id"], "claim_id": "claim-1"}
    await silent.send({"id": 4, "method": "call.claim", "params": claim})
    other = await open_page(app, tools={"locate": lambda: 2})

    for _ in range(2):
        await clock.somebody_waits(10_000)
        clock.advance(10_000)
        await other.command("connection.ping")
    with pytest.raises(LinkClosed):
        await hear(silent, "reply")
    assert other.executions == []
    clock.advance(10_000)
    await other.ended("run-1")

    assert silent.closed_with == 4000
    assert other.executions == [("locate", {})]


async def test_a_plain_client_is_not_asked(make_app, clock):
    """It knows no ping; its server's WebSocket pings tell when it is gone."""
    link = await MemoryLink(make_app(echo), "thread-1", None).open()
    await link.send({"id": 1, "method": "state.get", "params": {"namespace": []}})
    clock.advance(600_000)
    await link.send({"id": 2, "method": "state.get", "params": {"namespace": []}})
    heard = [await link.receive() for _ in range(2)]
    await link.close()

    assert [message["id"] for message in heard] == [1, 2]
    assert link.closed_with is None
