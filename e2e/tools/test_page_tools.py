"""The human step, and what tools do with the page itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, expect

from e2e.browser.conftest import OpenTab, Tab, planned
from e2e.readme.blocks import block
from e2e.tools.conftest import code_of, executed, outcome_of, value_of
from e2e.tools.media import browser as browser
from e2e.tools.media import open_browser_tab as open_browser_tab
from e2e.tools.media import open_page as open_page

ROOT = Path(__file__).parents[2]
QUESTION: dict[str, Any] = {
    "title": "Where shall it be sent?",
    "message": "The parcel leaves <b>today</b>.\nIt weighs 3 kg.",
    "submit": "Send it",
    "form": {
        "properties": {
            "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 40},
            "mail": {"type": "string", "title": "E-mail", "format": "email", "description": "For the receipt."},
            "country": {"type": "string", "title": "Country", "enum": ["Austria", "Peru"]},
            "count": {"type": "integer", "title": "How many", "minimum": 1, "maximum": 9, "default": 1},
            "day": {"type": "string", "title": "Day", "format": "date"},
            "note": {"type": "string", "title": "Note", "format": "multiline"},
            "gift": {"type": "boolean", "title": "A gift", "description": "It is wrapped."},
        },
        "required": ["name", "country"],
    },
}
FIRST_SEEN = """
const seen = () => {
  const { shadowRoot } = document.querySelector("farside-dialog");
  return shadowRoot.activeElement.localName + (shadowRoot.querySelector("[type=submit]").disabled ? " disabled" : "");
};
globalThis.firstSeen = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    observer.disconnect();
    resolve(seen());
  }).observe(document.body, { childList: true });
});
undefined
"""


def ask(tab: Tab, **args: Any) -> None:
    """Have the agent ask, and wait until the dialog is there."""
    tab.call(planned("ask_user", **{**QUESTION, **args}))
    expect(tab.page.get_by_role("dialog")).to_be_visible()


def tab_to(control: Locator) -> None:
    """Press Tab until a control has the focus; the parts of a date are stops of their own."""
    for _ in range(10):
        control.page.keyboard.press("Tab")
        if control.evaluate("(element) => element.matches(':focus')"):
            return
    pytest.fail(f"{control} cannot be reached by the keyboard")


def test_the_user_is_asked_in_a_dialog_by_the_keyboard_alone(open_page: OpenTab) -> None:
    """The page's policy allows neither inline styles nor markup made of texts; a violation is an error of the page."""
    tab = open_page()
    page = tab.page
    page.locator("[name=name]").focus()
    tab.run(FIRST_SEEN)
    ask(tab)
    assert tab.run("firstSeen") == "dialog disabled"
    dialog = page.get_by_role("dialog", name="Where shall it be sent?")
    expect(dialog).to_have_accessible_description("The parcel leaves <b>today</b>. It weighs 3 kg.")
    expect(dialog.get_by_role("textbox", name="E-mail")).to_have_accessible_description("For the receipt.")
    expect(dialog).to_have_css("border-radius", "12px")

    # A key that was meant for the page does nothing.
    expect(dialog.get_by_role("button", name="Send it")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(dialog).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog, "Name and country are required").to_be_visible()
    expect(dialog.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Ada")
    for name, keys in (("Country", "Peru"), ("How many", "ArrowUp"), ("A gift", "Space"), ("Send it", "Enter")):
        tab_to(dialog.get_by_label(name).or_(dialog.get_by_role("button", name=name)))
        page.keyboard.type(keys) if keys == "Peru" else page.keyboard.press(keys)
    assert tab.answer() == [
        {"status": "success", "value": {"answers": {"name": "Ada", "country": "Peru", "count": 2, "gift": True}}}
    ]
    expect(page.locator("farside-dialog")).to_have_count(0)
    expect(page.locator("[name=name]")).to_be_focused()


def test_a_question_can_be_refused_and_withdrawn(open_page: OpenTab) -> None:
    tab = open_page()
    ask(tab)
    tab.page.keyboard.press("Escape")
    assert tab.answer()[0]["code"] == "dismissed"
    ask(tab, form={"properties": {"when": {"type": "string", "format": "date-time"}}}, submit=None)
    expect(tab.page.get_by_role("button", name="Send")).to_be_visible()
    tab.page.get_by_role("button", name="Cancel").click()
    assert tab.answer()[0]["code"] == "dismissed"
    ask(tab)
    tab.run("void harness.thread.stop()")
    expect(tab.page.locator("farside-dialog")).to_have_count(0)
    # A page that is loaded anew asks again.
    tab.open()
    ask(tab, form={"properties": {"when": {"type": "string", "format": "date-time", "title": "When"}}})
    tab.reload()
    tab.page.get_by_label("When").fill("2030-01-02T03:04")
    tab.page.get_by_role("button", name="Send it").click()
    local = tab.run("new Date('2030-01-02T03:04').toISOString()")
    assert tab.answer() == [{"status": "success", "value": {"answers": {"when": local}}}]
    for form in ({"properties": {}}, {"properties": {"pin": {"type": "string", "format": "password"}}}):
        assert code_of(tab, "ask_user", title="?", form=form) == "invalid_args"


def test_the_dialog_is_accessible(open_page: OpenTab, tmp_path: Path) -> None:
    tab = open_page()
    for scheme in ("light", "dark"):
        tab.run(f"document.documentElement.style.colorScheme = '{scheme}'")
        ask(tab)
        expect(tab.page.get_by_role("button", name="Send it")).to_be_enabled()
        tab.page.screenshot(path=tmp_path / f"dialog-{scheme}.png")
        tab.run((ROOT / "node_modules/axe-core/axe.min.js").read_text() + ";undefined")
        found = tab.run("axe.run(document.querySelector('farside-dialog'), { resultTypes: ['violations'] })")
        assert [(each["id"], each["help"]) for each in found["violations"]] == []
        assert len(found["passes"]) > 10
        tab.page.keyboard.press("Escape")
        tab.answer()


def test_the_selected_text_is_read(open_page: OpenTab) -> None:
    tab = open_page()
    tab.run(
        "globalThis.field = (name) => document.querySelector('#order').elements[name];"
        "field.text = document.querySelector('#public').firstChild; undefined"
    )
    for selecting, text in (
        ("getSelection().removeAllRanges()", ""),
        ("getSelection().selectAllChildren(document.querySelector('#public'))", "The moon has a far side."),
        ("getSelection().selectAllChildren(document.querySelector('#private'))", ""),
        ("getSelection().selectAllChildren(document.querySelector('main'))", "The moon has a far side."),
        ("getSelection().setBaseAndExtent(field.text, 4, field.text, 8)", "moon"),
        (
            "field('name').value = 'Ada Lovelace'; field('name').focus(); field('name').setSelectionRange(4, 12)",
            "Lovelace",
        ),
        ("field('note').value = 'a\\nb'; field('note').select()", "a\nb"),
        ("field('password').value = 'secret'; field('password').select()", ""),
    ):
        tab.run(selecting)
        assert value_of(tab, "get_selection") == {"text": text, "truncated": False}, selecting
    # Who has selected something and then goes to a field, to say something about it, has selected it all the same.
    tab.run("document.activeElement.blur()")
    paragraph = tab.run("document.querySelector('#public').getBoundingClientRect().toJSON()")
    name, mail = (tab.run(f"field('{name}').getBoundingClientRect().toJSON()") for name in ("name", "mail"))
    tab.page.mouse.click(paragraph["x"] + 10, paragraph["y"] + 10, click_count=3)
    for field in (name, mail):
        tab.page.mouse.click(field["x"] + 5, field["y"] + 5)
        assert tab.run("document.activeElement.name") == ("name" if field == name else "mail")
        assert value_of(tab, "get_selection")["text"] == "The moon has a far side."
    # A page that makes its tools anew, as React may at each render, with other options.
    anew = """import("/client/tools/index.js").then(async ({ getSelection }) => {
      let added = 0;
      document.addEventListener = () => { added += 1; };
      const tools = [undefined, "#public", "#private"].map((within) => getSelection({ within }));
      delete document.addEventListener;
      const read = await Promise.all(tools.map((tool) => tool.execute({ max_length: 100 })));
      return [added, ...read.map(({ text }) => text.trim())];
    })"""
    assert tab.run(anew) == [0, "The moon has a far side.", "The moon has a far side.", ""]
    tab.page.mouse.click(10, 10)
    assert value_of(tab, "get_selection")["text"] == ""

    tab.run("document.querySelector('#public').textContent = 'a🌘b'; document.activeElement.blur()")
    tab.run("getSelection().selectAllChildren(document.querySelector('#public'))")
    assert value_of(tab, "get_selection", max_length=2) == {"text": "a\ufffd", "truncated": True}


HIDE_SOME = """
for (const [name, property, value] of [
  ["amount", "opacity", "0"],
  ["day", "visibility", "hidden"],
  ["delivery", "opacity", "0"],
  ["gift", "opacity", "0"],
]) {
  for (const control of document.getElementsByName(name)) {
    control.style[property] = value;
    if (name === "delivery") control.labels[0].style[property] = value;
  }
}
"""


def fields(**values: Any) -> dict[str, Any]:
    return {"fields": [{"label": label.replace("_", " "), "value": value} for label, value in values.items()]}


def test_a_form_is_filled_in_by_its_labels(open_page: OpenTab) -> None:
    tab = open_page()
    wanted = fields(
        **{"name": "Ada", "E-mail": "nobody", "Amount": 3, "DAY": "2030-01-02", "Country": "Austria"},
        **{"Delivery": "Picked up", "A gift": True, "Note": "one\ntwo"},
    )
    result = value_of(tab, "fill_form", **wanted)
    assert result["filled"] == ["Name *", "E-mail:", "Amount", "Day", "Country", "Delivery", "A gift", "Note"]
    assert [each["label"] for each in result["invalid"]] == ["E-mail:"]
    order = tab.run("order()")
    values = {"name": "Ada", "mail": "nobody", "amount": "3", "day": "2030-01-02", "country": "at"}
    assert order["values"].items() >= {**values, "delivery": "pick", "gift": "on", "note": "one\ntwo"}.items()
    names = ("name", "mail", "amount", "day", "country", "delivery", "gift", "note")
    assert order["heard"] == [f"{type} {name}" for name in names for type in ("input", "change")]
    # A framework that puts a property of its own over an element's, to tell its own changes from the user's.
    tab.run("Object.defineProperty(document.querySelector('[name=name]'), 'value', { set: () => {} }); undefined")
    value_of(tab, "fill_form", **fields(Name="Grace"))
    assert (order := tab.run("order()"))["heard"] == ["input name", "change name"]
    assert order["values"]["name"] == "Grace"
    # Once more changes nothing; a checkbox is not toggled.
    value_of(tab, "fill_form", **fields(**{"A gift": True}))
    assert tab.run("order()")["heard"] == []

    for bad, why in (
        (fields(Name="B", Elsewhere="x"), '"Elsewhere": expected one of the fields "Name *", "E-mail:"'),
        (fields(Name="B", Password="x"), '"Password": expected one of the fields'),
        (fields(Name="B", Trap="x"), '"Trap": expected one of the fields'),
        (fields(Name="B", Fixed="x"), '"Fixed": expected one of the fields'),
        (fields(Name="B", Attachment="x"), '"Attachment": expected one of the fields'),
        (fields(Name="B", Twin="x"), '"Twin": expected only one field'),
        (fields(Name="B", Day="tomorrow"), 'expected what fits a field of type date, got "tomorrow"'),
        (fields(Name="B", Country="Peru"), "expected one of …, Austria"),
        (fields(Name="B", Delivery="By pigeon"), "expected one of By post, Picked up"),
        (fields(**{"Name": "B", "A gift": "yes"}), "expected true or false"),
        (fields(Name="B", Note="x" * 21), "expected at most 20 characters, got 21"),
    ):
        outcome = outcome_of(tab, "fill_form", **bad)
        assert (outcome["code"], why in outcome["message"]) == ("invalid_args", True), outcome
    after = tab.run("order()")
    assert (after["values"]["name"], after["heard"]) == ("Grace", []), "all fields, or none"
    # What is there but not seen; a box is seen by its label.
    tab.run(HIDE_SOME)
    outcome = outcome_of(tab, "fill_form", **fields(Amount=4))
    seen = '"Name *", "E-mail:", "Country", "A gift", "Note", "Twin", "Twin"'
    assert outcome["message"] == f'fill_form: "Amount": expected one of the fields {seen}. Nothing was filled in.'

    tab.open(passwords="")
    assert value_of(tab, "fill_form", **fields(Password="x"))["filled"] == ["Password"]


def go(tab: Tab, path: str) -> dict[str, Any]:
    """What the agent is told when it goes to a page that is loaded."""
    before = tab.page.url
    tab.call(planned("navigate", path=path))
    tab.page.wait_for_url(lambda url: url != before, wait_until="load")
    tab.until("connection === 'open'")
    (outcome,) = tab.answer()
    return outcome


def test_the_agent_goes_to_pages_that_are_allowed(open_page: OpenTab) -> None:
    tab = open_page()
    query = urlsplit(tab.page.url).query
    for path, arrived in (
        (f"/orders/42?{query}", f"/orders/42?{query}"),
        (f"/account/private?{query}", f"/account/login?{query}"),
    ):
        assert go(tab, path) == {"status": "success", "value": {"path": arrived, "title": "Orders"}}
        assert tab.run("Object.keys(sessionStorage).filter((key) => key.startsWith('farside:navigate'))") == []
    # Who is there stays there.
    tab.open()
    loads = tab.run("performance.timeOrigin")
    tab.run("history.replaceState(null, '', '/help')")
    assert value_of(tab, "navigate", path="/help") == {"path": "/help", "title": "Orders"}
    assert value_of(tab, "navigate", path="/help#more")["path"] == "/help#more"
    assert tab.run("performance.timeOrigin") == loads

    for path in (
        *("/", "/orders", "/orders/../admin", "/orders/%2e%2e/admin", "/orders/..%2fadmin", "/helpless"),
        *("//evil.example/orders/1", "/\\evil.example/orders/1", "/\t/evil.example/orders/1"),
        *("javascript:alert(1)", "https://evil.example/orders/1", "orders/1"),
    ):
        assert code_of(tab, "navigate", path=path) == "invalid_args", path
    assert tab.run("performance.timeOrigin") == loads


def test_an_app_shows_its_pages_itself(open_page: OpenTab) -> None:
    tab = open_page(router="")
    loads = tab.run("performance.timeOrigin")
    assert value_of(tab, "navigate", path="/orders/7")["path"] == "/orders/7"
    assert tab.run("document.title") == "Showing /orders/7"
    # Calls of the same id, one after another, to other pages and back.
    for path in ("/orders/6", "/orders/5", "/orders/6"):
        assert executed(tab, "navigate", path=path)["value"]["path"] == path
    assert tab.run("performance.timeOrigin") == loads
    # By its own router, and without a query, which may be an order to do something.
    tab.open(go="")
    loads = tab.run("performance.timeOrigin")
    assert value_of(tab, "navigate", path="/orders/8#end")["path"] == "/orders/8#end"
    assert code_of(tab, "navigate", path="/orders/9?delete=1") == "invalid_args"
    assert tab.run("performance.timeOrigin") == loads


def test_the_code_of_the_docs(open_page: OpenTab) -> None:
    tab = open_page(library="")
    code = block("js", (ROOT / "docs/tools.md").read_text())
    address = urlsplit(tab.page.url)._replace(path="/client/tools/index.js", query="").geturl()
    module = f"{code.replace('farside/tools', address)} export {{ tools }};"
    names = "import(url).then(({ tools }) => tools.map(({ tool }) => tool.name))"
    assert tab.run(f"((url) => {names})('data:text/javascript,' + encodeURIComponent({json.dumps(module)}))") == [
        *("open_file", "fill_form", "navigate", "take_screenshot", "ask_user")
    ]
