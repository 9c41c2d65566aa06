"""A client that does not read is let go; its thread goes on unharmed."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from farside.asgi import outbox
from farside.testing import FakeBrowser, SocketLink, serve
from farside.wire.codec import JSON


async def test_a_client_that_does_not_read(make_app, monkeypatch):
    monkeypatch.setattr(outbox, "QUEUE_BYTES", 3_000_000)
    ready = asyncio.Event()

    async def agent(turn, value):
        await ready.wait()
        for _ in range(100):
            await turn.say("x" * 200_000)
            await turn.step(str.upper, "x")

    async with (
        serve(make_app(agent)) as address,
        SocketLink.open(f"ws://{address}", "thread-1") as link,
        FakeBrowser(link, agent="assistant") as page,
        connect(f"ws://{address}/threads/thread-1/stream/events", proxy=None, compression=None, max_size=None) as deaf,
    ):
        await deaf.send(
            JSON.encode({"id": 1, "method": "subscription.subscribe", "params": {"channels": ["messages"]}})
        )
        await deaf.recv()
        run_id = await page.submit("talk")
        ready.set()
        ended = await page.ended(run_id)
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                await deaf.recv()

    assert ended["event"] == "completed"
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1013
