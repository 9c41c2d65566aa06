"""What every end-to-end test stands on: real server processes, a real Chromium, and pages whose errors fail the test.

Everything is synchronous Playwright, which changes the browser that it drives: nearly every call gives the page user
activation, as a click would, and its start flags switch off throttling and the back/forward cache. A test of clicks
avoids such calls; a test of life cycles takes ``start_chromium``, which gives a browser without those flags.
"""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    WebError,
    expect,
    sync_playwright,
)

from e2e import forked

ROOT = Path(__file__).parents[1]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SLOW_FEATURES = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
"""The address bar's popups are pages, which every window loads beside ours; nobody sees them here."""
PLAYWRIGHT_WITHOUT = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *(
        "HttpsFirstBalancedModeAutoEnable",
        "LensOverlay",
        "MediaRouter",
        "PaintHolding",
        "ThirdPartyStoragePartitioning",
    ),
    *("AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
    "PreconnectToSearch",
)
"""What Playwright switches off (its chromiumSwitches.ts): of several ``--disable-features`` the last one counts."""
PORTS = range(20_000, 32_000)
"""Below those that Linux gives out by itself, so that a server finds its port free when it is started again."""
PATIENCE = 30
"""Seconds until something that does not happen counts as stuck: a process gets ready, a page shows something."""

expect.set_options(timeout=PATIENCE * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, so that no worker is busy with it alone in the end."""
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests have to show when they pass, too, whichever process they come from."""
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        for name, text in report.user_properties:
            if name == "table" and report.nodeid.startswith("e2e/"):
                terminalreporter.write_line(f"\n{text}")


class Log:
    """What a process writes, and the line that says that it is ready."""

    def __init__(self, process: subprocess.Popen[str] | BaseProcess, stream: IO[str] | None, ready: str) -> None:
        self._process = process
        self._lines: list[str] = []
        self._ready = re.compile(ready)
        self._found: re.Match[str] | None = None
        self._told = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def wait_until_ready(self) -> re.Match[str]:
        """The match of the line; fails the test if the process ends or says nothing for too long."""
        self._told.wait(PATIENCE)
        if self._found is None:
            pytest.fail(f"{self._process} is not ready:\n{self.text}")
        return self._found

    def close(self) -> None:
        """The process has ended: read what is left."""
        self._reader.join(PATIENCE)

    def _read(self, stream: IO[str] | None) -> None:
        assert stream is not None
        with stream:
            for line in stream:
                self._lines.append(line)
                if self._found is None and (found := self._ready.search(line)):
                    self._found = found
                    self._told.set()
        self._told.set()


class Server:
    """A process that does what ``farside serve`` does. It can be killed and started again: port and folder stay."""

    def __init__(self, app: str, folder: Path, env: dict[str, str]) -> None:
        self.port = next(free_ports)
        self.url = f"http://127.0.0.1:{self.port}"
        self._app = app
        self._folder = folder
        self._env = {"PYTHONPATH": str(ROOT), **env}
        self._logs: list[Log] = []
        self._process: BaseProcess | None = None

    @property
    def log(self) -> str:
        return "".join(log.text for log in self._logs)

    def start(self) -> None:
        """Start; returns when it takes connections."""
        self._folder.mkdir(exist_ok=True)
        self._process, output = forked.serve(self._app, self.port, folder=self._folder, env=self._env)
        self._logs.append(Log(self._process, output, "Uvicorn running on"))
        self._logs[-1].wait_until_ready()
        socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE).close()

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._end(BaseProcess.terminate)

    def kill(self) -> None:
        """End it on the spot."""
        self._end(BaseProcess.kill)

    def _end(self, how: Callable[[BaseProcess], None]) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        how(process)
        process.join(PATIENCE)
        self._logs[-1].close()


def _free_ports() -> Iterator[int]:
    """Free ports; never one twice, and no two workers of a run get the same."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    mine = PORTS[worker % 16 :: 16]
    return filter(_is_free, random.sample(mine, len(mine)))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


free_ports = _free_ports()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """``start_server("module:app", env={...})`` starts a server for this test alone, in an empty folder."""
    servers: list[Server] = []

    def start(app: str, *, env: dict[str, str] | None = None) -> Server:
        server = Server(app, tmp_path / f"server-{len(servers)}", env or {})
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.stop()
        _show_log(server, 0)


@pytest.fixture(scope="module")
def shared_servers() -> Iterator[dict[str, Server]]:
    servers: dict[str, Server] = {}
    yield servers
    for server in servers.values():
        server.stop()


@pytest.fixture
def serve(
    shared_servers: dict[str, Server], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], str]]:
    """``serve("module:app")`` returns the address of a server of the app; the tests of a module share it."""
    used: list[tuple[Server, int]] = []

    def serve(app: str) -> str:
        if app not in shared_servers:
            shared_servers[app] = Server(app, tmp_path_factory.mktemp("servers") / "server", {})
            shared_servers[app].start()
        server = shared_servers[app]
        used.append((server, len(server.log)))
        return server.url

    yield serve
    for server, logged in used:
        _show_log(server, logged)


def _show_log(server: Server, start: int) -> None:
    """Print what a server has logged; pytest shows it when the test fails."""
    print(f"--- log of the server at {server.url} ---\n{server.log[start:]}")


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    # For a module, not for the session: while it is open no asyncio test can run.
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    without = ",".join([*PLAYWRIGHT_WITHOUT, *SLOW_FEATURES])
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, f"--disable-features={without}"])
    yield browser
    browser.close()


@pytest.fixture
def page_errors() -> Iterator[list[str]]:
    """The errors of all pages: uncaught ones, and what the console shows as an error.

    A test that expects some takes them out; what is left fails it.
    """
    errors: list[str] = []
    yield errors
    assert errors == []


def expect_lost_connections(page_errors: list[str]) -> None:
    """While a server ends and there is none the console tells of connections that it did not take; of nothing else."""
    lost = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET")
    page_errors[:] = [error for error in page_errors if not any(reason in error for reason in lost)]


@pytest.fixture
def new_context(browser: Browser, page_errors: list[str]) -> Iterator[Callable[..., BrowserContext]]:
    """``new_context(**playwright_options)`` opens a browser without history, cookies or storage."""
    with ExitStack() as contexts:

        def new_context(**options: Any) -> BrowserContext:
            context = browser.new_context(**options)
            contexts.callback(context.close)
            watch(context, page_errors)
            return context

        yield new_context


@pytest.fixture
def page(new_context: Callable[..., BrowserContext]) -> Page:
    """A page of a browser without history."""
    return new_context().new_page()


class Chromium:
    """A Chromium process with a profile on disk and none of Playwright's flags."""

    def __init__(self, playwright: Playwright, profile: Path, flags: tuple[str, ...]) -> None:
        own = (f"--disable-features={','.join(SLOW_FEATURES)}", f"--user-data-dir={profile}")
        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS, *flags, *own, "--remote-debugging-port=0", "about:blank"],
            stderr=subprocess.PIPE,
            text=True,
        )
        self._log = Log(self._process, self._process.stderr, r"DevTools listening on (ws://\S+)")
        self._browser = playwright.chromium.connect_over_cdp(self._log.wait_until_ready()[1], no_defaults=True)
        self.context = self._browser.contexts[0]

    def kill_pages(self) -> None:
        """End the processes of all its pages on the spot; the pages are dead for good, and the browser lives on."""
        session = self._browser.new_browser_cdp_session()
        with ExitStack() as deaths:
            for page in self.context.pages:
                deaths.enter_context(page.expect_event("crash"))
            for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
                if process["type"] == "renderer":
                    os.kill(process["id"], signal.SIGKILL)
        session.detach()

    def kill(self) -> None:
        """End it on the spot, as a power cut would."""
        self._process.kill()
        self._process.wait(PATIENCE)
        self._log.close()
        self._browser.close()

    def close(self) -> None:
        """End it, if it still runs."""
        if self._process.poll() is None:
            self._browser.new_browser_cdp_session().send("Browser.close")
            self._process.wait(PATIENCE)
            self._log.close()
            self._browser.close()


@pytest.fixture
def start_chromium(playwright: Playwright, page_errors: list[str]) -> Iterator[Callable[..., Chromium]]:
    """``start_chromium(profile, *flags)`` starts a browser that can be killed; the folder ``profile`` survives it."""
    with ExitStack() as browsers:

        def start(profile: Path, *flags: str) -> Chromium:
            chromium = Chromium(playwright, profile, flags)
            browsers.callback(chromium.close)
            watch(chromium.context, page_errors)
            return chromium

        yield start


def set_permission(page: Page, name: str, setting: Literal["granted", "denied", "prompt"]) -> None:
    """Set a permission of the page's origin, and leave the others as they are (``grant_permissions`` denies them)."""
    # Never detached: the setting lasts as long as the session that made it.
    session = page.context.new_cdp_session(page)
    target = session.send("Target.getTargetInfo")["targetInfo"]
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
    permission = {"permission": {"name": name}, "setting": setting, "origin": origin}
    session.send("Browser.setPermission", {**permission, "browserContextId": target["browserContextId"]})


def watch(context: BrowserContext, errors: list[str]) -> None:
    """Collect the errors of all pages of a browser, as :func:`page_errors` has them."""

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"console: {message.text} ({message.location['url']})")

    def on_error(error: WebError) -> None:
        errors.append(f"uncaught: {error.error}")

    context.on("console", on_console)
    context.on("weberror", on_error)
