"""The React page as a test sees it: driven as the page of the browser tests is, by raw CDP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, WebSocket

from e2e.browser.conftest import Message, Tab, View

APP = "e2e.react.app:app"

each_mode = pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
"""In React's StrictMode every component is mounted twice."""


class ReactTab(Tab):
    """A page with components that use the hooks. ``query``: see ``web/src/harness.ts``."""

    def __init__(self, *args: Any, **query: str) -> None:
        super().__init__(*args, **query)
        self.open_sockets: list[WebSocket] = []
        self.sockets = 0
        """How many there have been."""
        self.page.on("websocket", self._connected)

    def until(self, condition: str) -> View:
        fields = "{ connection, status, isLoading, threadId, messages, calls, log, streams, told, renders, caught }"
        return self.run(f"harness.until(({fields}) => {condition})")

    def submit(self, plan: Message) -> None:
        """Send a message and wait until the components show it."""
        shown = len(self.view.get("messages", []))
        super().submit(plan)
        self.until(f"messages.length > {shown}")

    def set(self, **settings: Any) -> None:
        """Have the page render with other settings."""
        self.run(f"harness.set({json.dumps(settings)})")

    @property
    def announced(self) -> list[list[str]]:
        """The tools that the page has announced, each time, sorted."""
        return [sorted(tool["name"] for tool in each["tools"]) for each in self.commands("client.announce")]

    def _connected(self, socket: WebSocket) -> None:
        self.sockets += 1
        self.open_sockets.append(socket)
        socket.on("close", lambda closed: self.open_sockets.remove(closed))


OpenTab = Callable[..., ReactTab]


@pytest.fixture
def open_tab(serve: Callable[[str], str], new_context: Callable[..., BrowserContext]) -> OpenTab:
    """``open_tab()``: a page of a new browser, on a new thread, unless it is told otherwise."""

    def open_tab(agent: str = "graph", *, strict: bool = False, thread: str = "", **query: str) -> ReactTab:
        modes = {"strict": ""} if strict else {}
        tab = ReactTab(new_context().new_page(), serve(APP), agent=agent, thread=thread, **modes, **query)
        tab.open()
        return tab

    return open_tab
