"""Clicks: the dialog of ``farside/prompt``, and what one click is enough for. None of this may give the page a click
by itself: expressions are run without a user's gesture."""

from __future__ import annotations

from typing import Any

from e2e.browser.conftest import OpenTab, Tab, one_agent, planned
from e2e.conftest import ROOT

AXE = ROOT / "node_modules/axe-core/axe.min.js"
STRICT = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; require-trusted-types-for 'script'"
DIALOG = "document.querySelector('farside-prompt').shadowRoot.querySelector('dialog')"


def ask_for_click(tab: Tab) -> None:
    """Call a tool that needs a click; returns when the dialog asks for it."""
    asked = len([entry for entry in tab.view["log"] if entry.get("phase") == "waiting"])
    tab.call(planned("copy_text_on_click", text="clicked"))
    tab.until(f"log.filter(({{ phase }}) => phase === 'waiting').length > {asked}")
    assert tab.run(f"{DIALOG}.open") is True
    assert tab.run("navigator.userActivation.isActive") is False


def press(tab: Tab, button: str) -> None:
    """A click of the mouse on one of the dialog's buttons."""
    box = tab.run(f"(({{ x, y, width, height }}) => [x + width / 2, y + height / 2])({find(button)})")
    tab.page.mouse.click(*box)


def find(button: str) -> str:
    return f"{DIALOG}.querySelector('[part={button}]').getBoundingClientRect()"


def faults(tab: Tab) -> list[Any]:
    """What axe-core finds wrong with the dialog."""
    tab.run(AXE.read_text())
    found = tab.run("axe.run('farside-prompt')")
    assert len(found["passes"]) > 5
    return [{"id": fault["id"], "nodes": fault["nodes"]} for fault in found["violations"]]


@one_agent
def test_the_prompt_asks_for_a_click(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent, prompt="", policy=STRICT)
    tab.run("document.body.append(Object.assign(document.createElement('input'), { id: 'field' }))")

    ask_for_click(tab)
    assert faults(tab) == []
    assert tab.run(f"{DIALOG}.textContent").startswith("Copy text on click")
    # A click that is meant for something else is none.
    tab.page.mouse.click(5, 5)
    assert tab.bodies() == []
    press(tab, "proceed")
    assert tab.answer() == [{"status": "success", "value": len("clicked")}]
    assert tab.run(f"{DIALOG}.open") is False

    tab.open()
    ask_for_click(tab)
    tab.page.keyboard.press("Escape")
    assert [end["code"] for end in tab.answer()] == ["dismissed"]
    assert tab.run(f"{DIALOG}.open") is False


@one_agent
def test_the_prompt_takes_nothing_from_who_types(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent, prompt="")
    tab.run("document.body.append(Object.assign(document.createElement('input'), { id: 'field' })); field.focus()")
    ask_for_click(tab)
    assert tab.run("document.activeElement.id") == "field"
    tab.page.keyboard.press("Enter")
    assert tab.bodies() == []
    press(tab, "dismiss")
    assert [end["code"] for end in tab.answer()] == ["dismissed"]


@one_agent
def test_one_click_is_enough_for_one_body_that_uses_it_up(open_tab: OpenTab, agent: str) -> None:
    tab = open_tab(agent)
    tab.call(planned("open_window"), planned("open_window"), planned("copy_text_on_click", text="clicked"))
    tab.until("log.filter(({ phase }) => phase === 'waiting').length === 3")
    assert tab.run("navigator.userActivation.isActive") is False
    with tab.page.expect_popup() as first:
        tab.page.mouse.click(100, 100)
    tab.until("log.filter(({ phase }) => phase === 'waiting').length === 4")
    tab.until_begun("copy_text_on_click")
    assert [entry["tool"] for entry in tab.bodies()] == ["copy_text_on_click", "open_window"]
    first.value.close()
    tab.page.bring_to_front()
    with tab.page.expect_popup():
        tab.page.mouse.click(100, 100)
    assert [end["status"] for end in tab.answer()] == ["success"] * 3
    assert [end["value"] for end in tab.answer()] == [True, True, len("clicked")]
