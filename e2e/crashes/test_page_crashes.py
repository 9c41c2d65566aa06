"""The crash matrix, the page's half: the page is reloaded, its process is killed, or the whole browser is, before and
after all that it does about a call. It comes again, or another one comes, and takes the turn to its end.

All turns of a test are at their points at once, so that one death ends all their pages. Each has an origin of its own:
a page that stops in the middle of a transaction stops all pages with the same database. What a page does about a call
does not depend on the agent, so each point has one of the two agents for one tool, and the other for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.browser.conftest import Tab, planned
from e2e.conftest import PATIENCE, Chromium
from e2e.crashes.matrix import AGENTS, POINTS, TOOLS, Turn, Way

FLAGS = (
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    # Pages that share a process stop together.
    "--renderer-process-limit=100",
)
SOME_POINTS = (
    *("during asked", "after asked", "after claim", "claim replied", "before started"),
    *("during started", "after started", "body finished", "after result", "settle replied"),
)


class Stage:
    """The app of a turn, and the turn's pages."""

    def __init__(self, turn: Turn, http: httpx.Client, url: str) -> None:
        self.turn = turn
        self._http = http
        self._url = httpx.URL(url)

    def open(self, chromium: Chromium, **query: str) -> Tab:
        """A new page."""
        url = str(self._url.copy_with(host=f"{self.turn.thread}.localhost"))
        options = {"agent": self.turn.agent, "thread": self.turn.thread, "encoding": "json", **query}
        return Tab(chromium.context.new_page(), url, **options).open()

    def wait_for(self, what: str) -> None:
        """Wait until the pages have told something; keep all that they have told."""
        self.turn.record = self._get(f"records/{self.turn.thread}", has=what)

    def read_history(self) -> None:
        state = self._get(f"farside/threads/{self.turn.thread}/state")
        self.turn.kinds = [message["type"] for message in state["values"]["messages"]]

    def _get(self, path: str, **params: str) -> Any:
        return self._http.get(self._url.join(path), params=params).raise_for_status().json()


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=PATIENCE) as http:
        yield http


@pytest.mark.parametrize(
    ("way", "points"),
    [("reload", POINTS), ("kill the page", POINTS), ("kill the browser", SOME_POINTS)],
    ids=["reload", "kill_page", "kill_browser"],
)
@pytest.mark.timeout(120)
def test_the_page_ends_at_every_point(
    serve: Callable[[str], str],
    http: httpx.Client,
    start_chromium: Callable[..., Chromium],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    way: Way,
    points: tuple[str, ...],
) -> None:
    """L2, L3, L4, L6, L8: what was noted is the answer, what was not begun runs, what may have been does not."""
    url = serve("e2e.crashes.app:app")
    chromium = start_chromium(tmp_path / "profile", *FLAGS)
    stages = [
        Stage(Turn(AGENTS[(place + number) % 2], way, point, tool), http, url)
        for place, point in enumerate(points)
        for number, tool in enumerate(TOOLS)
    ]

    tabs = [stage.open(chromium, point=stage.turn.point, way=way) for stage in stages]
    for stage, tab in zip(stages, tabs, strict=True):
        tab.call(planned(stage.turn.tool, name="the one"))
    for stage in stages:
        stage.wait_for("stopped")
    if way == "kill the page":
        chromium.kill_pages()
        tabs = [stage.open(chromium) for stage in stages]
    elif way == "kill the browser":
        chromium.kill()
        chromium = start_chromium(tmp_path / "profile", *FLAGS)
        tabs = [stage.open(chromium) for stage in stages]

    for stage, tab in zip(stages, tabs, strict=True):
        stage.wait_for("found")
        stage.turn.told, stage.turn.view = tab.answer(), tab.view
        stage.read_history()
        stage.wait_for("found")
    table = [f"{way}: what the next page found, runs before + after, what the agent was told"]
    for again, once in zip(stages[::2], stages[1::2], strict=True):
        table.append(f"  {once.turn.point:14}  {again.turn}  {once.turn}")
    record_property("table", "\n".join(table))
    complaints = {f"{turn.tool}, {turn.point}": turn.complaint() for turn in [stage.turn for stage in stages]}
    assert {name: complaint for name, complaint in complaints.items() if complaint} == {}
    for stage in stages:
        if stage.turn.forgets:
            stage.wait_for("after forget")
