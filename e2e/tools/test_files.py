"""Files that the user chooses, and files that the user gets."""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import FilePayload

from e2e.browser.conftest import OpenTab, Tab, planned
from e2e.tools.conftest import code_of, executed, is_active, outcome_of, value_of
from e2e.tools.media import browser as browser
from e2e.tools.media import open_browser_tab as open_browser_tab
from e2e.tools.media import open_page as open_page

GREETING: FilePayload = {"name": "Grüße.txt", "mimeType": "text/plain", "buffer": "Grüße 🌘".encode()}
RECORD_TYPES = """
window.types = [];
const real = URL.createObjectURL;
URL.createObjectURL = (blob) => {
  types.push(blob.type);
  return real(blob);
};
"""
BYTES: FilePayload = {"name": "all.BIN", "mimeType": "", "buffer": bytes(range(256))}


def choose(tab: Tab, files: list[FilePayload], **args: Any) -> dict[str, Any]:
    """What the agent is told when it asks for files and the user, who has not clicked before, chooses these."""
    tab.reload()
    assert is_active(tab) is False
    tab.call(planned("open_file", **args))
    tab.until("log.at(-1)?.phase === 'waiting'")
    with tab.page.expect_file_chooser() as opened:
        tab.page.mouse.click(100, 100)
    opened.value.set_files(files)
    (outcome,) = tab.answer()
    return outcome


def open_page_of_inputs(open_page: OpenTab) -> Tab:
    """A page in a browser without pickers, whose choosers are the test's."""
    tab = open_page(inputs="")
    # For as long as the page lives: what is switched on right before a click may come after it.
    tab.page.on("filechooser", lambda _chooser: None)
    return tab


def test_the_user_chooses_files_after_a_click(open_page: OpenTab) -> None:
    tab = open_page_of_inputs(open_page)
    assert is_active(tab) is False
    assert executed(tab, "open_file", accept=[], multiple=False, read_as="text")["code"] == "needs_gesture"

    outcome = choose(tab, [GREETING], read_as="text")
    assert outcome["value"] == {"files": [{"name": "Grüße.txt", "mime_type": "text/plain", "text": "Grüße 🌘"}]}

    outcome = choose(tab, [GREETING, BYTES], multiple=True, accept=["image/*", ".bin"])
    first, second = outcome["value"]["files"]
    assert (first["name"], first["mime_type"]) == ("Grüße.txt", "text/plain")
    assert first["data"]["sha256"] == sha256(GREETING["buffer"]).hexdigest()
    assert (second["name"], second["mime_type"]) == ("all.BIN", "application/octet-stream")
    assert second["data"]["sha256"] == sha256(BYTES["buffer"]).hexdigest()


def test_files_that_are_too_large_or_of_another_kind_are_refused(open_page: OpenTab) -> None:
    tab = open_page_of_inputs(open_page)
    for files, args, why in [
        ([BYTES], {"read_as": "text"}, "all.BIN is no UTF-8 text"),
        ([{**GREETING, "name": "a.png", "mimeType": "image/png"}], {}, "Expected a file of text/*, .bin, got a.png"),
        ([{**GREETING, "buffer": bytes(1001)}], {}, "Expected at most 1000 bytes, got 1001"),
        ([{**GREETING, "buffer": bytes(501)}] * 2, {"multiple": True}, "Expected at most 1000 bytes, got 1002"),
    ]:
        outcome = choose(tab, files, **args)
        assert (outcome["code"], why in outcome["message"]) == ("failed", True), outcome
    assert code_of(tab, "open_file", accept=["text"]) == "invalid_args"


def test_a_user_who_closes_the_picker_has_dismissed_it(open_page: OpenTab) -> None:
    tab = open_page()
    session = tab.page.context.new_cdp_session(tab.page)
    session.send("Page.setInterceptFileChooserDialog", {"enabled": True, "cancel": True})
    opening = {"accept": ["image/*", "text/csv", ".csv", ".md"], "multiple": True, "read_as": "text"}
    saving = {"name": "a.txt", "mime_type": "text/plain", "text": "hello", "base64": None}
    for query, name, args in (
        ({}, "open_file", opening),
        ({}, "save_file", saving),
        ({"inputs": ""}, "open_file", opening),
    ):
        tab.open(**query)
        assert is_active(tab) is False
        assert executed(tab, name, **args)["code"] == "needs_gesture"
        tab.call(planned(name, **args))
        tab.until("log.at(-1)?.phase === 'waiting'")
        tab.page.mouse.click(100, 100)
        (outcome,) = tab.answer()
        assert outcome["code"] == "dismissed", (query, outcome)
    assert is_active(tab) is False, "the input has used the click up"


def test_a_file_is_downloaded_where_there_is_no_picker(open_page: OpenTab, tmp_path: Path) -> None:
    tab = open_page(inputs="", prepare=lambda page: page.add_init_script(RECORD_TYPES))
    for args, content in (
        ({"text": "a;b\n1;ü\n", "mime_type": "text/html"}, "a;b\n1;ü\n".encode()),
        ({"base64": base64.b64encode(bytes(range(256))).decode()}, bytes(range(256))),
    ):
        assert is_active(tab) is False
        with tab.page.expect_download() as started:
            result = value_of(tab, "save_file", name="my table.csv", **args)
        assert result == {"name": "my table.csv", "size": len(content), "how": "downloaded"}
        assert started.value.suggested_filename == "my table.csv"
        started.value.save_as(tmp_path / "saved")
        assert (tmp_path / "saved").read_bytes() == content
        assert tab.run("types") == ["application/octet-stream"], "what the agent calls HTML is no document of the page"
        tab.reload()
    for args, why in (
        ({"text": "a", "base64": "YQ=="}, "Expected either text or base64."),
        ({}, "Expected either text or base64."),
        ({"base64": "äöü"}, "Expected base64"),
        ({"text": "a" * 1001}, "Expected at most 1000 bytes, got 1001"),
        ({"name": "../a.txt", "text": "a"}, "name:"),
    ):
        outcome = outcome_of(tab, "save_file", **{"name": "a.txt", **args})
        assert (outcome["code"], why in outcome["message"]) == ("invalid_args", True), outcome

    # A frame of another origin, in a browser that has pickers.
    address = urlsplit(tab.page.url)._replace(path="/client/tools/index.js", query="")
    tab.page.goto(address.geturl())
    tab.run(
        f"new Promise((onload) => document.body.append(Object.assign(document.createElement('iframe'), "
        f"{{ onload, src: 'http://localhost:{address.port}{address.path}' }}))).then(() => {{}})"
    )
    save = "execute({ name: 'a.txt', mime_type: 'text/plain', text: 'a', base64: null })"
    with tab.page.expect_download() as started:
        (_, frame) = tab.page.frames
        result = frame.evaluate(f"import('{address.path}').then(({{ saveFile }}) => saveFile().{save})")
    assert result == {"name": "a.txt", "size": 1, "how": "downloaded"}
    assert started.value.suggested_filename == "a.txt"
