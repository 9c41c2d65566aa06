"""A page that has all ready-made tools, in the harness of the browser tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from e2e.browser.conftest import Message, Tab, planned
from e2e.browser.conftest import open_tab as open_browser_tab  # noqa: F401 (a fixture)

APP = "e2e.tools.app:app"


@pytest.fixture
def open_tab(open_browser_tab: Callable[..., Tab]) -> Callable[..., Tab]:  # noqa: F811
    """``open_tab()``: as in the browser tests, with all ready-made tools and the agent that calls them."""
    return partial(open_browser_tab, "function", app=APP)


def outcome_of(tab: Tab, name: str, /, **args: Any) -> Message:
    """What the agent is told of one call."""
    (outcome,) = tab.ask(planned(name, **args))
    return outcome


def value_of(tab: Tab, name: str, /, **args: Any) -> Any:
    """What a call that succeeds returns."""
    outcome = outcome_of(tab, name, **args)
    assert outcome["status"] == "success", outcome
    return outcome["value"]


def code_of(tab: Tab, name: str, /, **args: Any) -> str:
    """What a call fails with."""
    outcome = outcome_of(tab, name, **args)
    assert outcome["status"] == "error", outcome
    return outcome["code"]


def is_active(tab: Tab) -> bool:
    """Whether the user has just clicked, as the browser sees it."""
    return tab.run("navigator.userActivation.isActive")


def clicked(tab: Tab, name: str, /, **args: Any) -> Message:
    """What the agent is told of a call that waits for a click: it is seen to wait before the mouse clicks."""
    assert is_active(tab) is False
    waited = len(tab.commands("call.claim"))
    tab.call(planned(name, **args))
    tab.until("log.at(-1)?.phase === 'waiting'")
    assert is_active(tab) is False
    assert len(tab.commands("call.settle")) == waited
    tab.page.mouse.click(100, 100)
    (outcome,) = tab.answer()
    return outcome


def after_click(tab: Tab, name: str, /, **args: Any) -> Message:
    """What the agent is told of a call right after a click; should the click be too old, there is another."""
    ended = "log.filter(({ phase }) => phase === 'success' || phase === 'error').length"
    before = tab.run(f"(({{ log }}) => {ended})(harness.view())")
    tab.page.mouse.click(100, 100)
    tab.call(planned(name, **args))
    view = tab.until(f"{ended} > {before} || log.at(-1)?.phase === 'waiting'")
    if view["log"][-1]["phase"] == "waiting":
        tab.page.mouse.click(100, 100)
    (outcome,) = tab.answer()
    return outcome


def executed(tab: Tab, name: str, /, **args: Any) -> Message:
    """What comes of a tool's body without a client around it, as another hook calls it: the value, or the code."""
    tool = f"harness.tools.find(({{ tool }}) => tool.name === {json.dumps(name)})"
    ends = "(value) => ({ value }), ({ code, message }) => ({ code, message })"
    return tab.run(f"{tool}.execute({json.dumps(args)}).then({ends})")
