"""The README's page and its server, as a reader would build and start them."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from e2e.conftest import Server
from e2e.readme.blocks import ROOT, block, python_block

ADDRESS = "http://127.0.0.1:8000"
"""Where the README's server listens."""

HTML = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.ts"></script>'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """``farside serve server:app`` where the README's ``server.py`` is; only the model's package is replaced."""
    yield from serve_readme(tmp_path / "server", python_block("langgraph"))


def serve_readme(folder: Path, code: str) -> Iterator[Server]:
    """A server of the code, in a folder of its own, until the iterator is closed."""
    folder.mkdir()
    (folder / "server.py").write_text(code)
    path = os.pathsep.join(map(str, (ROOT, Path(__file__).parent / "provider")))
    server = Server("server:app", folder, {"PYTHONPATH": path})
    server.start()
    yield server
    server.stop()
    print(server.log)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the project's installed packages."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


def test_the_page_gets_its_answer(server: Server, project: Path, new_context: Callable[..., BrowserContext]) -> None:
    code = block("ts")
    assert code.count(ADDRESS) == 1
    (project / "page.ts").write_text(code.replace(ADDRESS, server.url))
    (project / "index.html").write_text(HTML)
    run(project, "vite", "build", "--logLevel", "warn")

    context = new_context(geolocation={"latitude": 48.2082, "longitude": 16.3738}, permissions=["geolocation"])
    page = context.new_page()
    page.add_init_script("window.shown = []; console.log = (snapshot) => shown.push(snapshot);")
    with static_files(project / "dist") as url:
        page.goto(url)
        page.wait_for_function("['idle', 'failed'].includes(shown.at(-1)?.status) && shown.at(-1).messages.length > 1")
    shown = page.evaluate("shown.map(({ status, messages, toolCalls }) => ({ status, messages, toolCalls }))")
    last = shown[-1]
    assert last["status"] == "idle"
    assert last["messages"][0]["text"] == "Where am I?"
    assert last["messages"][-1]["text"].strip() == 'You are here: {"latitude": 48.2082, "longitude": 16.3738}'
    (call,) = last["toolCalls"]
    assert (call["name"], call["state"]) == ("get_location", "answered")
    assert call["result"] == {"latitude": 48.2082, "longitude": 16.3738}
    assert len({message["text"] for each in shown for message in each["messages"]}) > 3, "the answer did not stream"


def test_the_pages_have_no_type_errors(project: Path) -> None:
    (project / "page.ts").write_text(block("ts"))
    (project / "clicks.ts").write_text(block("ts", (ROOT / "docs/clicks.md").read_text()))
    run(project, "tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "page.ts", "clicks.ts")


def run(folder: Path, command: str, *arguments: str) -> None:
    """Run an installed command of npm; its output is the failure."""
    path = ROOT / "node_modules/.bin" / command
    outcome = subprocess.run([path, *arguments], cwd=folder, text=True, capture_output=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@contextmanager
def static_files(folder: Path) -> Iterator[str]:
    """Serve a folder from an origin of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))) as files:
        thread = threading.Thread(target=files.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{files.server_port}"
        files.shutdown()
        thread.join()
