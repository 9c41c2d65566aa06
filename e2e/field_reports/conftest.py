"""What the field reports need beside what the browser tests have."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest

from e2e.browser.conftest import Tab, planned
from e2e.browser.conftest import open_tab as open_browser_tab  # noqa: F401 (a fixture)
from e2e.browser.conftest import open_wired_tab as open_wired_tab
from e2e.conftest import PATIENCE
from farside.testing import Faults, Proxy

APP = "e2e.field_reports.app:app"
WATCHFUL = "e2e.field_reports.app:watchful"
IMPATIENT = "e2e.field_reports.app:impatient"


@pytest.fixture
def open_tab(open_browser_tab: Callable[..., Tab]) -> Callable[..., Tab]:  # noqa: F811
    """As in the browser tests, with the app of the field reports."""
    return partial(open_browser_tab, app=APP)


class Happened(Counter[str]):
    """The faults of a proxy, and when the first frame was swallowed."""

    def __init__(self) -> None:
        super().__init__()
        self.swallowed = threading.Event()

    def __setitem__(self, kind: str, count: int) -> None:
        super().__setitem__(kind, count)
        if kind == "swallow":
            self.swallowed.set()


class Network:
    """What is between a page and a server, at ``address``."""

    def __init__(self, proxy: Proxy, address: str) -> None:
        self._proxy = proxy
        self.address = address

    @contextmanager
    def falls_silent(self) -> Iterator[None]:
        """The connections that do something in here are silent from then on: nothing passes, and nobody is told."""
        happened = self._proxy.happened = Happened()
        self._proxy.faults = Faults(swallow=1)
        yield
        assert happened.swallowed.wait(PATIENCE)
        self._proxy.faults = Faults()


def reload_amid_two_tools(tab: Tab) -> list[dict[str, Any]]:
    """The page is reloaded while it executes a tool that may run once and one that may run again: both answers."""
    tab.call(planned("hold", name="once"), planned("hold_again", name="again"))
    tab.until_begun("hold")
    tab.until_begun("hold_again")
    tab.reload()
    tab.until_begun("hold_again")
    tab.release("again", "done")
    return tab.answer()


@pytest.fixture
def open_network() -> Iterator[Callable[[str], Network]]:
    """``open_network(url)``: a network before the server at that url."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    with ExitStack() as networks:

        def end() -> None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(PATIENCE)
            loop.close()

        def open_network(url: str) -> Network:
            proxy = Proxy(urlsplit(url).netloc, Faults())
            opened = proxy.open()
            address = asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(PATIENCE)
            networks.callback(
                lambda: asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(PATIENCE)
            )
            return Network(proxy, address)

        networks.callback(end)
        yield open_network
