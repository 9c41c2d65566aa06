"""The clipboard: after a click, without one, denied."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote

from e2e.browser.conftest import OpenTab, Tab
from e2e.conftest import set_permission
from e2e.tools.conftest import after_click, clicked, executed, is_active

TEXT = 'Grüße from the far side 🌘\n\u2028 \\ "quoted"'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="6" height="2"><rect width="3" height="2" fill="#c81e3c"/></svg>'
Setting = Literal["denied", "prompt"]
COPIED = {"status": "success", "value": {"copied": True}}


def test_a_text_is_copied_and_read_after_a_click(open_tab: OpenTab) -> None:
    tab = open_tab()
    assert clicked(tab, "write_clipboard_text", text=TEXT) == COPIED
    tab.grant("clipboard-read")
    tab.reload()
    assert clicked(tab, "read_clipboard_text") == {"status": "success", "value": {"text": TEXT}}


def test_an_image_is_copied_and_read_after_a_click(open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.grant("clipboard-read")
    assert clicked(tab, "write_clipboard_image", image=SVG) == COPIED
    image = after_click(tab, "read_clipboard_image")["value"]
    assert image["mime_type"] == "image/png"
    assert (image["data"]["size"], image["data"]["left"]) == ([6, 2], ["#c81e3c"])

    # The same picture by its address.
    assert after_click(tab, "write_clipboard_image", image=f"data:image/svg+xml,{quote(SVG)}") == COPIED
    assert after_click(tab, "read_clipboard_image")["value"] == image
    large = SVG.replace('width="6" height="2"', 'width="4097" height="4096"')
    for bad, why in (
        *(
            (bad, "cannot be drawn")
            for bad in ("https://example.org/picture.png", "data:image/png;base64,AAAA", "<svg")
        ),
        (large, "at most 16777216 pixels (4096 x 4096), got 4097 x 4096"),
    ):
        outcome = after_click(tab, "write_clipboard_image", image=bad)
        assert (outcome.get("code"), why in outcome.get("message", "")) == ("invalid_args", True), outcome

    assert after_click(tab, "write_clipboard_text", text="no picture") == COPIED
    assert after_click(tab, "read_clipboard_image")["code"] == "failed"

    # It is no error of the page's that an image cannot be drawn, however late the browser asks for it.
    tab.run(
        "Image.prototype.decode = () => Promise.reject(new Error('made up'));"
        "navigator.clipboard.write = () => new Promise((_, reject) =>"
        "requestAnimationFrame(() => requestAnimationFrame(reject)))"
    )
    assert "made up" in after_click(tab, "write_clipboard_image", image=SVG)["message"]


def test_the_clipboard_says_why_it_refuses(open_tab: OpenTab) -> None:
    tab = open_tab()
    refusals: dict[Setting, str] = {"denied": "permission_denied", "prompt": "needs_gesture"}
    for setting, code in refusals.items():
        allow_clipboard(tab, setting)
        for name, args in CALLS.items():
            assert is_active(tab) is False
            assert executed(tab, name, **args)["code"] == code
    # After a click the browser asks; headless, it takes the question back at once.
    for name, args in CALLS.items():
        assert after_click(tab, name, **args)["code"] == "dismissed"
    # A click does not help where it is denied, and not where another window is in front.
    allow_clipboard(tab, "denied")
    for name, args in CALLS.items():
        assert after_click(tab, name, **args)["code"] == "permission_denied"
    allow_clipboard(tab, "prompt")
    tab.run("Document.prototype.hasFocus = () => false")
    assert after_click(tab, "read_clipboard_text")["code"] == "needs_gesture"


def allow_clipboard(tab: Tab, setting: Setting) -> None:
    for permission in ("clipboard-read", "clipboard-write"):
        set_permission(tab.page, permission, setting)


CALLS = {
    "read_clipboard_text": {},
    "read_clipboard_image": {},
    "write_clipboard_text": {"text": "unheard"},
    "write_clipboard_image": {"image": SVG},
}
