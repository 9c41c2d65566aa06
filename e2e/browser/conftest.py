"""The harness page as a test sees it, and a hand on its WebSockets.

A :class:`Tab` drives the page by raw CDP: unlike Playwright's own calls that gives it no user activation, so a body
that needs a click fails here as it would for a user.
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Page, WebSocketRoute

from e2e.conftest import Server, expect_lost_connections, set_permission
from farside.wire.codec import JSON, MESSAGEPACK, Frame

APP = "e2e.browser.app:app"
HASTY = "e2e.browser.app:hasty"

each_agent = pytest.mark.parametrize("agent", ["function", "graph"])
one_agent = pytest.mark.parametrize("agent", ["graph"])
"""For what only the page and the engine have a part in."""
each_kind = pytest.mark.parametrize("agent", ["function", "graph", "pydantic_ai"])
each_encoding = pytest.mark.parametrize("encoding", ["msgpack", "json"])

Message = dict[str, Any]
View = dict[str, Any]
"""What the page's ``harness.view()`` shows."""


def planned(name: str, /, **args: Any) -> Message:
    """A call of a plan."""
    return {"name": name, "args": args}


def new_thread() -> str:
    return f"thread-{uuid.uuid4().hex}"


class Tab:
    """A page with the harness, on one thread. ``query``: what else the page's address tells it."""

    def __init__(
        self, page: Page, url: str, *, agent: str, thread: str, encoding: str | None = None, **query: str
    ) -> None:
        self.page = page
        self.thread = thread
        self.sent: list[Message] = []
        """The commands that the page has sent, over all its connections."""
        self.frames: set[type] = set()
        """``str`` for text frames, ``bytes`` for binary ones, as they were sent."""
        self._url = url
        self._query = {"agent": agent, "thread": thread, **query}
        if encoding is not None:
            self._query["encoding"] = encoding
        # The frames come by the session that runs expressions: what was sent before one is known after it.
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.on("Network.webSocketFrameSent", self._saw)
        self._session.send("Network.enable")

    def open(self, **query: str) -> Tab:
        """Load the page and wait until it is connected. ``query``: for this time alone."""
        self.page.goto(f"{self._url}/?{urlencode({**self._query, **query})}")
        self.until("connection === 'open'")
        return self

    def reload(self) -> Tab:
        """Reload the page and wait until it is connected."""
        self.page.reload()
        self.until("connection === 'open'")
        return self

    def duplicate(self) -> Tab:
        """A tab that this one has opened: like one that the browser duplicates, it begins with a copy of the
        sessionStorage. It is blank until it is told to ``open`` the same page."""
        with self.page.context.expect_page() as opened:
            self._session.send("Runtime.evaluate", {"expression": "void open('about:blank')", "userGesture": True})
        return Tab(opened.value, self._url, **self._query)

    def grant(self, permission: str) -> None:
        set_permission(self.page, permission, "granted")

    def deny(self, permission: str) -> None:
        set_permission(self.page, permission, "denied")

    def run(self, expression: str) -> Any:
        """The value of an expression, awaited."""
        params = {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": False}
        outcome = self._session.send("Runtime.evaluate", params)
        if "exceptionDetails" in outcome:
            pytest.fail(outcome["exceptionDetails"]["exception"]["description"])
        return outcome["result"].get("value")

    def until(self, condition: str) -> View:
        """The view, as soon as a condition on its fields holds (without ``await`` it may hold already)."""
        fields = "{ connection, status, messages, calls, log, texts, states }"
        return self.run(f"harness.until(({fields}) => {condition})")

    @property
    def view(self) -> View:
        return self.run("harness.view()")

    def submit(self, plan: Message) -> None:
        """Send a message and do not wait."""
        self.run(f"void harness.thread.submit({json.dumps(json.dumps(plan))})")

    def call(self, *calls: Message) -> None:
        """Have the agent call tools, and do not wait."""
        self.submit({"calls": calls})

    def submit_and_wait(self, plan: Message) -> None:
        """Send a message; returns when the server has accepted it."""
        self.run(f"harness.thread.submit({json.dumps(json.dumps(plan))})")

    def ask(self, *calls: Message) -> list[Message]:
        """Have the agent call tools; what it was told of their ends."""
        self.call(*calls)
        return self.answer()

    def answer(self) -> list[Message]:
        """What the agent was told of its calls, when the run has ended."""
        view = self.until("['idle', 'failed'].includes(status)")
        assert (view["status"], view["error"]) == ("idle", None), view
        last = view["messages"][-1]
        assert (last["role"], last["streaming"]) == ("ai", False), view
        return json.loads(last["text"])

    def until_begun(self, tool: str, count: int = 1) -> View:
        """Wait until bodies of a tool run."""
        return self.until(f"log.filter((e) => e.tool === '{tool}' && e.body === 'begun').length === {count}")

    def open_gate(self) -> None:
        """Let the agent say the next piece of the plan whose gate is the thread's id."""
        assert self.page.request.post(f"{self._url}/gates/{self.thread}").ok

    def release(self, name: str, value: Any) -> None:
        """Let a body of ``hold`` return a value."""
        self.run(f"harness.release({json.dumps(name)}, {json.dumps(value)})")

    def bodies(self) -> list[Message]:
        """What happened to the bodies on this page."""
        return [entry for entry in self.view["log"] if "body" in entry]

    def commands(self, method: str) -> list[Message]:
        """The params of the commands of one method that were sent."""
        return [command["params"] for command in self.sent if command["method"] == method]

    def _saw(self, event: dict[str, Any]) -> None:
        data = event["response"]
        frame: Frame = data["payloadData"] if data["opcode"] == 1 else base64.b64decode(data["payloadData"])
        self.frames.add(type(frame))
        self.sent.append(decode(frame))


class Wire:
    """Stands between a page and the server: passes everything on, unless it is told otherwise.

    ``sent`` are the commands that the page sent; ``connections`` counts its WebSockets.
    """

    def __init__(self, page: Page) -> None:
        self.sent: list[Message] = []
        self.connections = 0
        self._before: dict[str, Callable[[], None]] = {}
        self._after: dict[str, Callable[[], None]] = {}
        self._page_side: WebSocketRoute | None = None
        self._server_side: WebSocketRoute | None = None
        page.route_web_socket("**/stream/events", self._connect)

    def lose_command(self, method: str, then: Callable[[], None]) -> None:
        """Keep the next command of this method from the server, and do something."""
        self._before[method] = then

    def lose_reply(self, method: str, then: Callable[[], None]) -> None:
        """Keep everything that follows the next command of this method from the page; when the reply to it comes, do
        something."""
        self._after[method] = then

    def cut(self) -> None:
        """Close the connection, on both sides."""
        assert self._page_side is not None
        assert self._server_side is not None
        self._page_side.close()
        self._server_side.close()

    def commands(self, method: str) -> list[Message]:
        return [command["params"] for command in self.sent if command["method"] == method]

    def _connect(self, route: WebSocketRoute) -> None:
        self.connections += 1
        server = route.connect_to_server()
        self._page_side, self._server_side = route, server
        awaited: list[tuple[int, Callable[[], None]]] = []

        def from_page(frame: Frame) -> None:
            command = decode(frame)
            self.sent.append(command)
            if (then := self._before.pop(command["method"], None)) is not None:
                then()
                return
            if (then := self._after.pop(command["method"], None)) is not None:
                awaited.append((command["id"], then))
            server.send(frame)

        def from_server(frame: Frame) -> None:
            if not awaited:
                route.send(frame)
                return
            message = decode(frame)
            command_id, then = awaited[0]
            if message["type"] != "event" and message["id"] == command_id:
                then()

        route.on_message(from_page)
        server.on_message(from_server)


OpenTab = Callable[..., Tab]


def decode(frame: Frame) -> Message:
    return JSON.decode(frame) if isinstance(frame, str) else MESSAGEPACK.decode(frame)


@pytest.fixture
def open_tab(serve: Callable[[str], str], new_context: Callable[..., BrowserContext]) -> Callable[..., Tab]:
    """``open_tab(agent)``: a page of a new browser, on a new thread, with the client's own choice of encoding, unless
    it is told otherwise. ``prepare`` is called with the page before it is loaded; ``query`` is for its address."""

    def open_tab(
        agent: str,
        *,
        encoding: str | None = None,
        thread: str | None = None,
        context: BrowserContext | None = None,
        app: str = APP,
        prepare: Callable[[Page], Any] = lambda page: None,
        **query: str,
    ) -> Tab:
        page = (context or new_context()).new_page()
        prepare(page)
        return Tab(page, serve(app), agent=agent, thread=thread or new_thread(), encoding=encoding, **query).open()

    return open_tab


@pytest.fixture
def open_wired_tab(open_tab: Callable[..., Tab]) -> Callable[..., tuple[Tab, Wire]]:
    """Like ``open_tab``, with a hand on the connection."""

    def open_wired_tab(agent: str, **options: Any) -> tuple[Tab, Wire]:
        wires: list[Wire] = []
        tab = open_tab(agent, **options, prepare=lambda page: wires.append(Wire(page)))
        return tab, wires[0]

    return open_wired_tab


@pytest.fixture
def server(serve: Callable[[str], str], shared_servers: dict[str, Server]) -> Server:
    """The server that the tabs of this module use, to be killed with :func:`outage`."""
    serve(APP)
    return shared_servers[APP]


@contextmanager
def outage(server: Server) -> Iterator[None]:
    """Kill the server; start it again afterwards."""
    server.kill()
    with restarted(server):
        yield


@contextmanager
def restarted(server: Server) -> Iterator[None]:
    """The server is killed in here; start it again afterwards."""
    try:
        yield
    finally:
        server.kill()
        server.start()


@pytest.fixture
def refusals_expected(page_errors: list[str]) -> Iterator[None]:
    """The browser logs each attempt to connect to a server that is down: no error of the page."""
    yield
    expect_lost_connections(page_errors)
