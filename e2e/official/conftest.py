"""A page with an official hook, as a test sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocket, expect

APP = "e2e.official.app:app"

each_transport = pytest.mark.parametrize("transport", ["websocket", "sse"])
each_mode = pytest.mark.parametrize(("transport", "strict"), [("websocket", False), ("sse", True)])
"""Each transport, one of them in React's StrictMode, in which every component is mounted twice."""
over_websocket = pytest.mark.parametrize("transport", ["websocket"])
over_sse = pytest.mark.parametrize("transport", ["sse"])
"""For what does not depend on the transport: one of them."""

OVER = re.compile("hold: (error|finished)")
"""A call that has failed. The hook shows it as failed until its message comes, and as finished from then on."""

Lines = Sequence[str | re.Pattern[str]]


class Tab:
    """A page with a hook. ``query``: what the page's address tells it; see ``web/src/harness.ts``."""

    def __init__(self, page: Page, url: str, query: dict[str, str]) -> None:
        self.page = page
        self._address = f"{url}?{urlencode(query)}"
        page.on("websocket", _show_frames)

    def open(self) -> Tab:
        self.page.goto(self._address)
        return self._ready()

    def reload(self) -> Tab:
        """Load the page again, on the thread that it has now."""
        self.page.reload()
        return self._ready()

    def say(self, text: str) -> None:
        """Send a message, and do not wait."""
        self.page.evaluate("(text) => void hook.submit(text)", text)

    def checkpoint(self, messages: int) -> str:
        """The newest checkpoint with this many messages."""
        return self.page.evaluate("(messages) => hook.checkpoint(messages)", messages)

    def fork(self, checkpoint_id: str, text: str | None = None) -> None:
        """Go on from a checkpoint, and do not wait: with a message, or by doing again what came next there."""
        self.page.evaluate("([checkpoint, text]) => void hook.fork(checkpoint, text)", [checkpoint_id, text])

    def stop(self) -> None:
        """Stop; returns when the hook has."""
        self.page.evaluate("hook.stop()")

    def respond(self, value: Any) -> None:
        """Answer an interrupt; returns when the hook has."""
        self.page.evaluate("(value) => hook.respond(value)", value)

    def switch(self, thread_id: str | None) -> None:
        """Show another thread, None for a new one."""
        self.page.evaluate("(thread) => hook.open(thread)", thread_id)

    def finish(self, key: str, value: Any) -> None:
        """Let the execution with this key return a value."""
        self.page.evaluate("([key, value]) => hook.finish(key, value)", [key, value])

    def fail(self, key: str, message: str) -> None:
        """Let the execution with this key throw."""
        self.page.evaluate("([key, message]) => hook.fail(key, message)", [key, message])

    def shows(self, **lists: Lines) -> None:
        """Wait until each of these lists of the page has exactly these lines."""
        for name, lines in lists.items():
            expect(self.page.locator(f"#{name} > li")).to_have_text(list(lines))

    def ends_with(self, *messages: str | re.Pattern[str]) -> None:
        """Wait until the hook is idle, shows exactly these messages, and no error."""
        self.shows(messages=messages, status=["idle"], error=[], interrupts=[])

    def browser_executed(self, *executions: str) -> None:
        """Wait until all pages of this browser together have begun exactly these."""
        expected = "".join(f"{each};" for each in executions)
        self.page.wait_for_function("(expected) => localStorage.getItem('executions') === expected", arg=expected)

    @property
    def thread(self) -> str:
        return self.page.locator("#thread > li").inner_text()

    def open_gate(self, name: str) -> None:
        """Let an agent that speaks slowly say the next word."""
        self.page.evaluate("async (name) => void await fetch(`/gates/${name}`, { method: 'POST' })", name)

    def _ready(self) -> Tab:
        self.shows(status=[re.compile("idle|loading")])
        return self


OpenTab = Callable[..., Tab]


@pytest.fixture
def open_tab(serve: Callable[[str], str], new_context: Callable[..., BrowserContext]) -> OpenTab:
    """``open_tab(transport)``: a page of a new browser with React's hook, on a new thread, unless it is told otherwise.

    ``prepare`` is called with the page before it is loaded; ``query`` is for its address.
    """

    def open_tab(
        transport: str = "websocket",
        *,
        page: str = "react",
        strict: bool = False,
        context: BrowserContext | None = None,
        prepare: Callable[[Page], Any] = lambda page: None,
        **query: str,
    ) -> Tab:
        opened = (context or new_context()).new_page()
        prepare(opened)
        modes = {"strict": ""} if strict else {}
        return Tab(opened, f"{serve(APP)}/{page}.html", {"transport": transport, **modes, **query}).open()

    return open_tab


@pytest.fixture(autouse=True)
def unknown_threads_expected(page_errors: list[str]) -> Iterator[None]:
    """The browser logs that a thread is not there yet, for which the hook asks when it is given one."""
    yield
    page_errors[:] = [error for error in page_errors if not re.search(r"\b404\b.*/state\)", error)]


def _show_frames(socket: WebSocket) -> None:
    """Print what a WebSocket carries; pytest shows it when the test fails."""
    print(f"--- {socket.url}")
    socket.on("framesent", lambda frame: print(">", _short(frame)))
    socket.on("framereceived", lambda frame: print("<", _short(frame)))
    socket.on("close", lambda _: print("--- closed"))


def _short(frame: str | bytes) -> str:
    message = json.loads(frame)
    if message.get("method") == "values":
        messages = message["params"]["data"].get("messages", [])
        message["params"]["data"] = [f"{each['type']}: {each.get('content')}"[:80] for each in messages]
    return json.dumps(message)
