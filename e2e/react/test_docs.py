"""The code of docs/react.md, and of what else tells of the npm package, as it stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import Server
from e2e.react.conftest import APP
from e2e.readme.test_page import ROOT, run

NAMES = ("docs/react.md", "client-js/README.md", "docs/webmcp.md", "docs/workers.md")
TEXTS = {name: (ROOT / name).read_text() for name in NAMES}
BLOCKS = [
    block for text in TEXTS.values() for block in re.findall(r"^```(tsx?)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
]
OPTIONS = ("--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with each block as a module, and the project's installed packages."""
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    for at, (language, code) in enumerate(BLOCKS):
        (tmp_path / f"block-{at}.{language}").write_text(code)
    return tmp_path


def test_the_code_has_no_type_errors(project: Path) -> None:
    assert [language for language, _ in BLOCKS] == ["tsx", "tsx", "tsx", "ts", "tsx", "ts", "ts"]
    run(project, "tsc", *OPTIONS, "--jsx", "react-jsx", "--skipLibCheck", *(f.name for f in project.glob("block-*")))


def test_the_page_gets_its_answer(project: Path, start_server: Callable[..., Server], page: Page) -> None:
    script = '<script type="module" src="/block-0.tsx"></script>'
    (project / "index.html").write_text(f'<!doctype html><link rel="icon" href="data:,"><body>{script}')
    run(project, "vite", "build", "--logLevel", "error")
    page.set_viewport_size({"width": 640, "height": 480})
    page.goto(start_server(APP, env={"PAGES": str(project / "dist")}).url)
    page.get_by_label("Message").fill("Hi")
    page.get_by_role("button", name="Send").click()
    answer = "Hello! You said “Hi”, in a window of 640 by 480 pixels."
    expect(page.get_by_role("listitem")).to_have_text(["Hi", answer])
    page.reload()
    expect(page.get_by_role("listitem")).to_have_text(["Hi", answer])


@pytest.mark.parametrize("name", TEXTS)
def test_the_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", TEXTS[name])
    assert links
    assert [link for link in links if not ((ROOT / name).parent / link).exists()] == []
