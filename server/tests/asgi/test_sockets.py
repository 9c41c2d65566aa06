"""The app over real sockets: served, mounted, with our subprotocols and without."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from farside.testing import FakeBrowser, SocketLink, serve
from server.tests.agents import guide


@pytest.mark.parametrize("subprotocol", ["farside.v1.msgpack", "farside.v1.json"])
async def test_a_turn_over_a_real_socket(make_app, subprotocol):
    async with (
        serve(make_app(guide)) as address,
        SocketLink.open(f"ws://{address}", "thread-1", subprotocol) as link,
        FakeBrowser(link, agent="assistant", tools={"locate": lambda high: {"lat": 1.5}}) as page,
    ):
        assert await page.ask("Where am I?") == "You are at 1.5."


@pytest.mark.parametrize("outer", ["starlette", "fastapi", "fastapi without lifespan"])
async def test_mounted_under_a_path(make_app, outer):
    inner = make_app(guide)
    if outer == "starlette":
        app = Starlette(routes=[Mount("/deep/path", inner)], lifespan=inner.lifespan)
    else:
        app = FastAPI(lifespan=inner.lifespan if outer == "fastapi" else None)
        app.mount("/deep/path", inner)
    async with (
        serve(app) as address,
        SocketLink.open(f"ws://{address}/deep/path", "thread-1") as link,
        FakeBrowser(link, agent="assistant", tools={"locate": lambda high: {"lat": 2}}) as page,
    ):
        assert await page.ask("Where am I?") == "You are at 2."


async def test_ok_and_state_over_http(make_app):
    async with serve(make_app(guide)) as address, httpx.AsyncClient(base_url=f"http://{address}") as http:
        assert (await http.get("/ok")).json() == {"ok": True}
        unknown = await http.get("/threads/thread-1/state")
        assert (unknown.status_code, unknown.json()["error"]) == (404, "not_found")

        async with (
            SocketLink.open(f"ws://{address}", "thread-1") as link,
            FakeBrowser(link, agent="assistant", tools={"locate": lambda high: {"lat": 3}}) as page,
        ):
            await page.ask("Where am I?")
        state = (await http.get("/threads/thread-1/state")).json()

    assert [message["content"] for message in state["values"]["messages"]] == ["Where am I?", "You are at 3."]
    assert state["next"] == []
    assert "tasks" not in state


async def test_a_run_is_stopped_over_http(make_app):
    """As the official hooks stop it; twice does nothing."""
    async with (
        serve(make_app(guide)) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
        SocketLink.open(f"ws://{address}", "thread-1") as link,
        FakeBrowser(link, agent="assistant") as page,
    ):
        run_id = await page.submit("Where am I?")
        await page.until(lambda event: event["method"] == "calls")
        for _ in range(2):
            stopped = await http.post(f"/threads/thread-1/runs/{run_id}/cancel?wait=0&action=interrupt")
            assert (stopped.status_code, stopped.content) == (204, b"")
        assert (await page.ended(run_id))["code"] == "cancelled"
        unknown = await http.post("/threads/thread-1/runs/no-run/cancel")
        assert (unknown.status_code, unknown.json()["error"]) == (404, "no_such_run")


@pytest.mark.parametrize(
    ("allowed", "told"),
    [([], None), (["https://app.example"], "https://app.example"), (["*"], "*"), (["https://b.example"], None)],
)
async def test_pages_of_other_origins_are_let_in_by_name(make_app, allowed, told):
    page = {"Origin": "https://app.example"}
    asking = {**page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    app = make_app(guide, allowed_origins=allowed)
    async with serve(app) as address, httpx.AsyncClient(base_url=f"http://{address}") as http:
        preflight = await http.options("/threads/thread-1/runs/one/cancel", headers=asking)
        answered = await http.get("/ok", headers=page)
    assert preflight.is_success == (told is not None)
    for reply in (answered, preflight)[: 2 if told else 1]:
        assert reply.headers.get("access-control-allow-origin") == told


@pytest.mark.parametrize("path", ["/runs/stream", "/threads/thread-1/runs/wait", "/assistants/search", "/nothing"])
async def test_what_is_not_served_says_so(make_app, path):
    async with serve(make_app(guide)) as address, httpx.AsyncClient(base_url=f"http://{address}") as http:
        unknown = await http.post(path, json={})
    assert unknown.status_code == 404
    assert unknown.json()["error"] == "not_found"
    assert f"got POST {path}" in unknown.json()["message"]


async def test_a_bad_thread_id_is_refused_with_a_reason(make_app):
    async with serve(make_app(guide)) as address, httpx.AsyncClient(base_url=f"http://{address}") as http:
        for asked in (http.get("/threads/a%20b/state"), http.post("/threads/a%20b/runs/one/cancel")):
            refused = await asked
            assert (refused.status_code, refused.json()["error"]) == (400, "invalid_argument")
            assert "thread id" in refused.json()["message"]
    async with (
        serve(make_app(guide)) as address,
        connect(f"ws://{address}/threads/a%20b/stream/events", proxy=None) as socket,
    ):
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
    assert "thread id" in closed.value.rcvd.reason


async def test_the_server_takes_the_first_subprotocol_it_knows(make_app):
    async with serve(make_app(guide)) as address:
        url = f"ws://{address}/threads/t/stream/events"
        for offered, taken in [
            (["farside.v9", "farside.v1.json", "farside.v1.msgpack"], "farside.v1.json"),
            (["other"], None),
            (None, None),
        ]:
            async with connect(url, subprotocols=offered, proxy=None) as socket:
                assert socket.subprotocol == taken


async def test_the_server_stops_while_pages_are_connected(make_app):
    app = make_app(guide)
    async with serve(app) as address:
        socket = await connect(f"ws://{address}/threads/t/stream/events", proxy=None)
    with pytest.raises(ConnectionClosed):
        await socket.recv()
