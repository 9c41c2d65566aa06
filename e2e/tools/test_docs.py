"""docs/tools.md: its table is that of the tools, and its code runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from e2e.browser.conftest import OpenTab
from e2e.conftest import Server
from e2e.readme.blocks import ROOT, block
from e2e.readme.test_page import ADDRESS, HTML, project, run, serve_readme, static_files
from e2e.tools.agent import DECLARED

__all__ = ["project"]

PAGE = (ROOT / "docs/tools.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.+) \| (.+) \| (.+) \| (?:real|faked) \|$", PAGE, re.MULTILINE)
FACTS = """
import("/client/tools/index.js").then((ready) => Object.entries(ready).map(([name, make]) => {
  const { tool, options } = make();
  return [tool.name, name, tool.permissions ?? [], options.activation ?? "none", tool.fingerprint];
}))
"""


def test_the_table_is_that_of_the_tools(open_tab: OpenTab) -> None:
    """Both halves have the same tools, of the same schemas, and the page tells the truth about them."""
    facts = open_tab().run(FACTS)
    assert {name: fingerprint for name, *_, fingerprint in facts} == {
        name: tool.fingerprint for name, tool in DECLARED.items()
    }
    activations = {"needed": "required", "used up": "consumed"}
    told = [
        (name, export, "none" if permission == "none" else permission.strip("`"), activations.get(click, "none"), again)
        for name, export, permission, click, again in ROWS
    ]
    assert sorted(told) == sorted(
        (name, export, ", ".join(permissions) or "none", activation, "yes" if DECLARED[name].idempotent else "no")
        for name, export, permissions, activation, _ in facts
    )
    assert all(re.sub(r"_(.)", lambda found: found[1].upper(), name) == export for name, export, *_ in facts)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """``farside serve server:app`` with the page's Python code."""
    yield from serve_readme(tmp_path / "server", block("python", PAGE))


def test_the_code_of_the_page(server: Server, project: Path, new_context: Callable[..., BrowserContext]) -> None:
    code = block("ts", PAGE)
    (project / "page.ts").write_text(code)
    run(project, "tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "page.ts")
    assert code.count(ADDRESS) == 1
    (project / "page.ts").write_text(code.replace(ADDRESS, server.url))
    (project / "index.html").write_text(HTML)
    run(project, "vite", "build", "--logLevel", "warn")
    built = "".join(file.read_text() for file in project.glob("dist/assets/*.js"))
    assert ("get_location" in built, "read_clipboard_image" in built) == (True, False)

    context = new_context(geolocation={"latitude": 48.2082, "longitude": 16.3738}, permissions=["geolocation"])
    page = context.new_page()
    page.add_init_script("window.shown = []; console.log = (snapshot) => shown.push(snapshot);")
    with static_files(project / "dist") as url:
        page.goto(url)
        page.wait_for_function("['idle', 'failed'].includes(shown.at(-1)?.status) && shown.at(-1).messages.length > 1")
    assert "You are here:" in (text := page.evaluate("shown.at(-1).messages.at(-1).text"))
    assert '"latitude": 48.2082, "longitude": 16.3738' in text
