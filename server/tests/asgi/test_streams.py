"""Commands over HTTP, events over Server-Sent Events: what the official clients use where there is no WebSocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Router

from farside import Limits, Settings
from farside.asgi import outbox
from farside.testing import serve
from server.tests.agents import echo, guide

WATCHER = {"channels": ["lifecycle", "input"]}
CONTENT = {"channels": ["values", "lifecycle", "input", "messages", "tools"], "namespaces": [[]], "depth": 1}


class Web:
    """A page of the official clients: its requests and its streams."""

    def __init__(self, http: httpx.AsyncClient, path: str = "/threads/thread-1", name: str | None = None) -> None:
        self._http, self._path = http, path
        self._headers = {} if name is None else {"Farside-Client": name}

    async def command(self, method: str, **params: Any) -> dict[str, Any]:
        message = {"id": 7, "method": method, "params": params}
        reply = await self._http.post(f"{self._path}/commands", json=message, headers=self._headers)
        assert reply.status_code == 200
        assert reply.json()["id"] == 7
        return reply.json()

    async def submit(self, text: str) -> str:
        chat = {"messages": [{"type": "human", "content": text, "id": text}]}
        return (await self.command("run.start", assistant_id="assistant", input=chat))["result"]["run_id"]

    @asynccontextmanager
    async def events(self, **filter_: Any) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
        url = f"{self._path}/stream/events"
        async with self._http.stream("POST", url, json=filter_, headers=self._headers) as response:
            assert response.status_code == 200
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            lines = response.aiter_lines()
            yield (json.loads(line.removeprefix("data: ")) async for line in lines if line.startswith("data: "))


@asynccontextmanager
async def moments_passing(clock: Any) -> AsyncGenerator[None]:
    """Whoever waits to see whether a page asks for more has waited long enough."""

    async def pass_by() -> None:
        while True:
            await clock.somebody_waits(150)
            clock.advance(150)

    passing = asyncio.create_task(pass_by())
    yield
    passing.cancel()


@pytest.fixture
async def open_web(make_app: Any) -> AsyncGenerator[Any]:
    """Serves an agent; gives the app, and a client of its HTTP routes."""
    async with AsyncExitStack() as opened:

        async def open_one(agent: Any, **options: Any) -> tuple[Any, httpx.AsyncClient]:
            app = make_app(agent, **options)
            address = await opened.enter_async_context(serve(app))
            http = httpx.AsyncClient(base_url=f"http://{address}", timeout=10)
            return app, await opened.enter_async_context(http)

        yield open_one


async def until(events: AsyncIterator[dict[str, Any]], method: str, **data: Any) -> dict[str, Any]:
    """The next event of this method with these data."""
    async for event in events:
        if event["method"] == method and data.items() <= event["params"]["data"].items():
            return event
    raise AssertionError(f"the stream ended before {method} {data}")


async def test_a_call_is_offered_on_the_stream_that_watches_and_answered_by_a_command(open_web: Any) -> None:
    _, http = await open_web(guide)
    web = Web(http)
    run_id = await web.submit("Where am I?")
    async with web.events(**CONTENT) as content, web.events(**WATCHER) as watched:
        asked = (await until(watched, "input.requested"))["params"]["data"]
        call = asked["payload"]["tool_call"]
        assert (call["name"], asked["payload"]["type"]) == ("locate", "tool")
        answer = {"interrupt_id": asked["interrupt_id"], "response": {call["id"]: {"lat": 1.5}}, "namespace": []}
        assert (await web.command("input.respond", responses=[answer]))["result"] == {}
        seen = [event async for event in _until_the_end(content)]

    assert "input.requested" not in [event["method"] for event in seen]
    assert [event["seq"] for event in seen] == sorted(event["seq"] for event in seen)
    assert len({event["event_id"] for event in seen}) == len(seen)
    assert seen[-1]["params"]["data"]["run_id"] == run_id
    state = (await web.command("state.get", namespace=[]))["result"]["values"]
    assert state["messages"][-1]["content"] == "You are at 1.5."


async def test_mounted_under_a_path(make_app: Any) -> None:
    """Within two others: the streams, the commands, the list of conversations; and pages of other origins."""
    inner = make_app(guide, allowed_origins=["https://app.example"])
    outer = Starlette(routes=[Mount("/deep", Router([Mount("/path", inner)]))], lifespan=inner.lifespan)
    page = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    async with (
        serve(outer) as address,
        httpx.AsyncClient(base_url=f"http://{address}/deep/path", timeout=10) as http,
    ):
        web = Web(http)
        async with web.events(**CONTENT) as content, web.events(**WATCHER) as watched:
            await web.submit("Where am I?")
            asked = (await until(watched, "input.requested"))["params"]["data"]
            answer = {"interrupt_id": asked["interrupt_id"], "response": {"lat": 2}, "namespace": []}
            assert (await web.command("input.respond", **answer))["result"] == {}
            assert [event async for event in _until_the_end(content)]
        (thread,) = (await http.post("/threads/search", json={})).json()
        assert thread["values"]["messages"][-1]["content"] == "You are at 2."
        assert (await http.options("/threads/thread-1/commands", headers=page)).is_success
        assert "got POST /deep/path/nothing" in (await http.post("/nothing")).json()["message"]


async def _until_the_end(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    async for event in events:
        yield event
        if event["params"]["data"].get("event") in ("completed", "interrupted"):
            return


async def test_a_page_that_says_who_it_is_has_its_calls(open_web: Any, clock: Any) -> None:
    """Of two that watch, the one that asked; a stream that it opens anew is still it, and is not told twice."""
    _, http = await open_web(guide)
    one, two = Web(http, name="one"), Web(http, name="two")
    async with AsyncExitStack() as streams:
        seen_by_one = await streams.enter_async_context(one.events(**WATCHER))
        seen_by_two = await streams.enter_async_context(two.events(**WATCHER))
        await one.submit("Where am I?")
        asked = (await until(seen_by_one, "input.requested"))["params"]["data"]
        async with one.events(**WATCHER) as again:
            answer = {"interrupt_id": asked["interrupt_id"], "response": {"lat": 1}, "namespace": []}
            await one.command("input.respond", **answer)
            async with moments_passing(clock):
                for events in (again, seen_by_two):
                    methods = [event["method"] async for event in _until_the_end(events)]
                    assert "input.requested" not in methods


async def test_a_page_that_says_who_it_is_keeps_its_call_when_its_stream_is_opened_anew(
    open_web: Any, clock: Any
) -> None:
    _, http = await open_web(guide)
    web = Web(http, name="one")
    await web.submit("Where am I?")
    async with web.events(**WATCHER) as events:
        asked = (await until(events, "input.requested"))["params"]["data"]
    await clock.somebody_waits(3_000)
    async with web.events(**WATCHER) as events:
        clock.advance(10_000)
        await web.command("state.get", namespace=[])
        await web.command("input.respond", interrupt_id=asked["interrupt_id"], response={"lat": 1})
        await clock.somebody_waits(150)
        clock.advance(150)
        methods = [event["method"] async for event in _until_the_end(events)]
    assert "input.requested" not in methods


async def test_a_page_that_asks_before_it_watches_is_the_next_one_that_watches(open_web: Any) -> None:
    """Also where another page watches already, or begins to later. Requests do not say whose they are."""
    ready = asyncio.Event()

    async def slow(turn: Any, value: Any) -> None:
        await ready.wait()
        await guide(turn, value)

    _, http = await open_web(slow)
    web = Web(http)
    async with web.events(**WATCHER):
        await web.submit("Where am I?")
        async with web.events(**WATCHER) as watched, web.events(**WATCHER):
            ready.set()
            await until(watched, "input.requested")


async def test_without_a_stream_that_watches_a_call_is_for_any_that_hears_of_input(open_web: Any, clock: Any) -> None:
    """LangGraph's JavaScript client without a hook."""
    _, http = await open_web(guide)
    web = Web(http)
    await web.submit("Where am I?")
    async with web.events(channels=["lifecycle", "input", "values"]) as events:
        await clock.somebody_waits(150)
        clock.advance(150)
        asked = (await until(events, "input.requested"))["params"]["data"]
        async with web.events(**WATCHER) as watched:
            await web.command("input.respond", interrupt_id=asked["interrupt_id"], response={"lat": 1})
            await until(events, "lifecycle", event="completed")
            await web.submit("And now?")
            await until(watched, "input.requested")


async def test_a_client_that_goes_away_is_noticed_at_once(open_web: Any) -> None:
    app, http = await open_web(echo)
    engine = await app.engine()
    gone = asyncio.Event()
    listen = engine.listen

    def notice(thread_id: str, listener: Any) -> Any:
        unlisten = listen(thread_id, listener)

        def stop() -> None:
            unlisten()
            gone.set()

        return stop

    engine.listen = notice
    async with Web(http).events(**WATCHER):
        assert not gone.is_set()
    await asyncio.wait_for(gone.wait(), 5)


async def test_a_silent_stream_is_kept_open_by_comments(open_web: Any, clock: Any) -> None:
    _, http = await open_web(echo, settings=Settings(ping_ms=5_000))
    async with http.stream("POST", "/threads/thread-1/stream/events", json=WATCHER) as response:
        lines = response.aiter_lines()
        await clock.somebody_waits(5_000)
        clock.advance(5_000)
        assert await anext(lines) == ": still here"


async def test_a_client_that_does_not_read_is_let_go_and_its_thread_unharmed(
    open_web: Any, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "QUEUE_BYTES", 3_000_000)
    ready = asyncio.Event()

    async def agent(turn: Any, value: Any) -> None:
        await ready.wait()
        for _ in range(100):
            await turn.say("x" * 200_000)
            await turn.step(str.upper, "x")

    _, http = await open_web(agent)
    web = Web(http)
    async with web.events(channels=["lifecycle", "values"]) as watched, web.events(channels=["messages"]) as deaf:
        await web.submit("talk")
        ready.set()
        async with moments_passing(clock):
            await until(watched, "lifecycle", event="completed")
        read = [event async for event in deaf]
    assert len(read) < 200


async def test_a_stopping_server_ends_its_streams(open_web: Any) -> None:
    app, http = await open_web(echo)
    async with Web(http).events(**WATCHER) as events:
        await app.stop()
        assert [event async for event in events] == []


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("stream/events", '{"channels": "all"}', 400, "invalid_argument"),
        ("stream/events", "[]", 400, "invalid_argument"),
        ("stream/events", "{", 400, "malformed_frame"),
        ("stream/events", b"\xff", 400, "malformed_frame"),
        ("stream/events", " " * 2_000, 400, "too_large"),
        ("commands", "{", 400, "malformed_frame"),
        ("commands", " " * 2_000, 400, "too_large"),
        ("commands", '{"id": 1}', 200, "invalid_argument"),
        ("commands", '{"id": 1, "method": "dance", "params": {}}', 200, "unknown_command"),
        ("commands", '{"id": 1, "method": "call.claim", "params": {}}', 200, "not_supported"),
        (
            "commands",
            '{"id": 1, "method": "subscription.subscribe", "params": {"channels": ["values"]}}',
            200,
            "not_supported",
        ),
        ("commands", '{"id": 1, "method": "run.cancel", "params": {"run_id": "x"}}', 200, "no_such_run"),
    ],
)
async def test_what_is_no_request_is_refused_with_a_reason(
    open_web: Any, path: str, body: Any, status: int, code: str
) -> None:
    _, http = await open_web(echo, limits=Limits(frame_bytes=1_000))
    refused = await http.post(f"/threads/thread-1/{path}", content=body)
    assert (refused.status_code, refused.json()["error"]) == (status, code)
    assert refused.json()["message"]


async def test_a_refused_stream_leaves_nothing_behind(open_web: Any) -> None:
    app, http = await open_web(echo)
    refused = await http.post("/threads/thread-1/stream/events", json={"channels": "all"})
    assert refused.status_code == 400
    assert (await app.engine()).bus.listeners("thread-1") == ()


async def test_no_more_is_read_of_a_body_than_a_frame_may_have(open_web: Any) -> None:
    _, http = await open_web(echo, limits=Limits(frame_bytes=1_000))
    reader, writer = await asyncio.open_connection(http.base_url.host, http.base_url.port)
    head = "POST /threads/thread-1/commands HTTP/1.1\r\nHost: farside\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.write(f"{head}7d0\r\n{'x' * 2_000}\r\n".encode())  # more is to come, which nobody waits for
    assert (await reader.readline()).startswith(b"HTTP/1.1 400")
    writer.close()
    await writer.wait_closed()


async def test_a_name_that_is_none_is_refused(open_web: Any) -> None:
    _, http = await open_web(echo)
    for path in ("commands", "stream/events"):
        refused = await http.post(f"/threads/thread-1/{path}", json=WATCHER, headers={"Farside-Client": "a b"})
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_argument")
