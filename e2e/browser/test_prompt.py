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
    """A click of the mouse on one of the dialog's buttons, as soon as it takes one."""
    looks = f"{DIALOG}.querySelector('[part={button}]').disabled ? requestAnimationFrame(look) : resolve()"
    tab.run(f"new Promise((resolve) => {{ const look = () => {looks}; look(); }})")
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
def test_f27_the_prompt_asks_for_a_click_and_the_tool_works_within_it(open_tab: OpenTab, agent: str) -> None:
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


QUESTIONS = """
import("/client/prompt/index.js").then(async ({ createPrompt }) => {
  const heard = [];
  const describe = ({ name, args }) => `${name}: ${args.text.length}`;
  const prompt = createPrompt({ describe });
  const ask = (threadId, args, controller = new AbortController()) => {
    const call = { name: threadId, args, toolCallId: "call_0", threadId };
    const [proceed, dismiss] = ["proceed", "dismiss"].map((answer) => () => heard.push(`${threadId}: ${answer}`));
    const { signal } = controller;
    prompt({ ...call, phase: "waiting", reason: "consent", proceed, dismiss, signal });
    return { call, controller };
  };
  const dialog = () => document.querySelector("farside-prompt").shadowRoot.querySelector("dialog");
  const title = () => (dialog().open ? dialog().querySelector("h2").textContent : null);
  const isOff = () => [...dialog().querySelectorAll("button")].map(({ disabled }) => disabled);
  const seen = [];
  const see = () => seen.push(title());

  const one = ask("one", { text: "1" });
  const two = ask("two", {});
  const three = ask("three", { text: "333" });
  see();
  prompt({ ...one.call, phase: "progress", result: 1 });
  see();
  prompt({ ...one.call, phase: "cancelled" });
  see();
  const offAtFirst = isOff();
  two.controller.abort();
  see();
  document.body.replaceChildren();
  three.controller.abort();
  ask("four", { text: "" });
  see();
  dialog().dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  see();
  return { seen, offAtFirst, heard };
})
"""


@one_agent
def test_the_prompt_asks_one_question_after_the_other(open_tab: OpenTab, agent: str, page_errors: list[str]) -> None:
    """Threads may have calls of one id, calls end elsewhere, a page's own words may fail, and its body be replaced."""
    found = open_tab(agent).run(QUESTIONS)
    assert found["seen"] == ["one: 1", "one: 1", "Two", "three: 3", "four: 0", None]
    assert found["offAtFirst"] == [True, True]
    assert found["heard"] == ["four: dismiss"]
    assert [error for error in page_errors if "TypeError" not in error] == []
    page_errors.clear()
