"""The command line's words, and ``farside dev``; that ``farside serve`` serves is shown by every end-to-end test."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from farside import Farside
from farside.app import DEVELOPMENT
from farside.cli import commands, main, reload
from farside.testing import serve
from server.tests.agents import guide


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required"),
        (["serve"], "module:app"),
        (["serve", "module"], "expected module:app, got 'module'"),
        (["serve", "m:app", "--workers", "4"], "expected --workers 1, got 4"),
        (["serve", "m:app", "--port", "x"], "invalid int value"),
        (["dev", ":app"], "expected module:app, got ':app'"),
        (["dev", "m:app", "--workers", "1"], "unrecognized arguments"),
    ],
)
def test_bad_words_are_explained(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_serving_uses_our_settings(monkeypatch):
    asked = {}
    monkeypatch.setattr(commands.uvicorn, "run", lambda app, **options: asked.update(app=app, **options))

    assert main(["serve", "m:app", "--host", "0.0.0.0", "--port", "1"]) == 0  # noqa: S104
    assert (asked["app"], asked["host"], asked["port"]) == ("m:app", "0.0.0.0", 1)  # noqa: S104
    assert (asked["ws"], asked["ws_per_message_deflate"], asked["loop"]) == ("websockets-sansio", False, "uvloop")


@pytest.mark.parametrize(("command", "variable"), [("dev", "1"), ("serve", None)])
def test_the_app_is_told_whether_it_is_being_written(command, variable, monkeypatch):
    told = []
    monkeypatch.setenv(DEVELOPMENT, "1" if command == "serve" else "0")
    monkeypatch.setattr(commands.uvicorn, "run", lambda app, **options: told.append(os.environ.get(DEVELOPMENT)))
    monkeypatch.setattr(reload, "run", lambda app, **options: told.append(os.environ.get(DEVELOPMENT)))

    assert main([command, "m:app"]) == 0
    assert told == [variable]


LOCAL = ["http://localhost:5173", "https://localhost", "http://127.0.0.1:8000", "http://[::1]:5173"]
OTHERS = [
    *("https://app.example", "http://localhost.example", "http://127.0.0.1.example:80", "http://localhost:80.example"),
    *("http://xlocalhost", "http://127x0.0.1", "http://192.168.0.2:5173", "ftp://localhost", "null"),
]


@pytest.mark.parametrize("development", [True, False])
async def test_pages_of_localhost_may_ask_in_development_only(development, monkeypatch):
    monkeypatch.setenv(DEVELOPMENT, "1" if development else "0")
    app = Farside({"assistant": guide}, store="memory", allowed_origins=["https://named.example"])
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,farside-client"}
    let_in = []
    async with serve(app) as address, httpx.AsyncClient(base_url=f"http://{address}") as http:
        for origin in ["https://named.example", *LOCAL, *OTHERS]:
            preflight = await http.options("/threads/t/commands", headers={"Origin": origin, **asking})
            answered = await http.get("/ok", headers={"Origin": origin})
            told = {reply.headers.get("access-control-allow-origin") for reply in (preflight, answered)}
            assert told == ({origin} if preflight.is_success else {None})
            let_in += [origin] if preflight.is_success else []
    assert let_in == ["https://named.example", *(LOCAL if development else [])]


APP = """
from farside import Farside
from words import GREETING

async def assistant(turn, value): ...

print("the app says", GREETING, flush=True)
app = Farside({"assistant": assistant}, store="memory")
"""


class Developed:
    """``farside dev server:app``, as who writes the app sees it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def says(self, pattern: str) -> str:
        """Wait for a line; returns what the pattern's group matched."""
        assert self._process.stdout is not None
        lines = []
        async for line in self._process.stdout:
            lines.append(line.decode())
            if found := re.search(pattern, lines[-1]):
                return found[1]
        raise AssertionError(f"it ended before it said {pattern}:\n{''.join(lines)}")

    async def end(self) -> int:
        """SIGTERM; returns the exit code."""
        self._process.terminate()
        await self._process.communicate()
        return await self._process.wait()


@asynccontextmanager
async def developed(folder: Path) -> AsyncGenerator[Developed]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "farside.cli", "dev", "server:app", "--port", "0"),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Developed(process)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.communicate()


async def test_dev_starts_anew_with_what_was_written(tmp_path):
    """Also while a stream is open, and after files that did not work."""
    page = {"Origin": "http://localhost:5173"}
    (tmp_path / "server.py").write_text(APP)
    words = tmp_path / "words.py"
    words.write_text("GREETING = 'hello'")
    async with developed(tmp_path) as dev, httpx.AsyncClient(timeout=30) as http:
        url = await dev.says(r"running on (http://\S+)")
        assert await dev.says("the app says (.*)") == "hello"
        await dev.says("startup (complete)")
        watching = http.stream("POST", f"{url}/threads/t/stream/events", json={"channels": ["lifecycle"]}, headers=page)
        async with watching as stream:
            assert stream.headers["access-control-allow-origin"] == "http://localhost:5173"
            words.write_text("GREETING =")
            assert await dev.says("detected changes in '(.*)'") == "words.py"
            await dev.says("(SyntaxError)")
        words.write_text("GREETING = 'bye'")
        assert await dev.says("the app says (.*)") == "bye"
        await dev.says("startup (complete)")
        answered = await http.get(f"{url}/ok", headers=page)
        assert (answered.json(), answered.headers["access-control-allow-origin"]) == ({"ok": True}, page["Origin"])
        assert await dev.end() == 0


def test_only_what_one_writes_is_watched(tmp_path):
    for place in ("server.py", "agents/one.py", "page/main.ts"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
    for place in (".git", "node_modules", "venv/lib"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "foreign.py").touch()
    (tmp_path / "venv/pyvenv.cfg").touch()
    (tmp_path / "nowhere.py").symlink_to("gone.py")
    assert sorted(reload.sources(tmp_path)) == [tmp_path / "agents/one.py", tmp_path / "server.py"]
