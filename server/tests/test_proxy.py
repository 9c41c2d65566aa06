"""The testing kit's bad network does what it says, and nothing else."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.client import connect

from farside.testing import FakeBrowser, Faults, LinkClosed, Proxy, SocketLink, serve
from server.tests.agents import echo, pair


async def test_without_faults_nothing_is_changed(make_app, clock):
    app = make_app(pair)
    async with serve(app) as address, Proxy(address, Faults()).open() as proxied:
        for subprotocol in ("farside.v1.msgpack", "farside.v1.json"):
            async with (
                SocketLink.open(f"ws://{proxied}", subprotocol, subprotocol) as link,
                FakeBrowser(link, agent="assistant", tools={"pay": lambda n: n}) as page,
            ):
                assert await page.ask("pay") == "1 2"


async def ping(link, number):
    await link.send({"id": number, "method": "connection.ping", "params": {}})


async def test_each_fault_happens(make_app):
    async with serve(make_app(echo)) as address:
        proxy = Proxy(address, Faults())
        async with proxy.open() as proxied, SocketLink.open(f"ws://{proxied}", "thread-1") as link:
            proxy.faults = Faults(double=1)
            await ping(link, 1)
            assert [(await link.receive())["id"] for _ in range(4)] == [1, 1, 1, 1]
            proxy.faults = Faults(delay=1, longest_delay=0.01)
            await ping(link, 2)
            assert (await link.receive())["id"] == 2
            proxy.faults = Faults(drop=1)
            await ping(link, 3)
            await proxy.until("drop", 1)
            proxy.faults = Faults()
            await ping(link, 4)
            assert (await link.receive())["id"] == 4
            proxy.faults = Faults(cut=1)
            await ping(link, 5)
            with pytest.raises(LinkClosed):
                await link.receive()

    assert proxy.happened["double"] == 3
    assert (proxy.happened["delay"], proxy.happened["drop"], proxy.happened["cut"]) == (2, 1, 1)


async def test_a_swallowed_connection_is_silent_and_open(make_app):
    async with serve(make_app(echo)) as address:
        proxy = Proxy(address, Faults(swallow=1))
        async with proxy.open() as proxied, connect(f"ws://{proxied}/threads/t/stream/events", proxy=None) as socket:
            await socket.send("{}")
            await proxy.until("swallow", 1)
            proxy.faults = Faults()
            await socket.send("{}")
            await proxy.until("frame", 2)
            assert socket.close_code is None
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(socket.recv(), 0.05)


async def test_the_same_seed_gives_the_same_fates(make_app):
    async def fates(seed):
        async with serve(make_app(echo)) as address:
            proxy = Proxy(address, Faults(drop=0.3), seed)
            async with proxy.open() as proxied, SocketLink.open(f"ws://{proxied}", "thread-1") as link:
                for number in range(20):
                    await ping(link, number)
                proxy.faults = Faults()
                await ping(link, 99)
                heard = []
                while (message := await link.receive())["id"] != 99:
                    heard.append(message["id"])
                return heard

    assert await fates(1) == await fates(1)
