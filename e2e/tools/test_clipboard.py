"""The clipboard: after a click, without one, denied."""

from __future__ import annotations

from urllib.parse import quote

from e2e.browser.conftest import OpenTab
from e2e.conftest import set_permission
from e2e.tools.conftest import clicked, code_of, executed, is_active, outcome_of, value_of

TEXT = 'Grüße from the far side 🌘\n\u2028 \\ "quoted"'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="6" height="2"><rect width="3" height="2" fill="#c81e3c"/></svg>'
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
    image = value_of(tab, "read_clipboard_image")
    assert image["mime_type"] == "image/png"
    assert (image["data"]["size"], image["data"]["left"]) == ([6, 2], ["#c81e3c"])

    # The same picture by its address.
    assert outcome_of(tab, "write_clipboard_image", image=f"data:image/svg+xml,{quote(SVG)}") == COPIED
    assert value_of(tab, "read_clipboard_image")["data"] == image["data"]
    for bad in ("https://example.org/picture.png", "data:image/png;base64,AAAA", "<svg"):
        assert code_of(tab, "write_clipboard_image", image=bad) == "invalid_args"

    assert outcome_of(tab, "write_clipboard_text", text="no picture") == COPIED
    assert code_of(tab, "read_clipboard_image") == "failed"


def test_the_clipboard_says_why_it_refuses(open_tab: OpenTab) -> None:
    tab = open_tab()
    for permission in ("clipboard-read", "clipboard-write"):
        set_permission(tab.page, permission, "prompt")
    for name, args in CALLS.items():
        assert is_active(tab) is False
        assert executed(tab, name, **args)["code"] == "needs_gesture"
    # After a click the browser asks; headless, it takes the question back at once.
    for name, args in CALLS.items():
        tab.page.mouse.click(100, 100)
        assert code_of(tab, name, **args) == "dismissed"
    # A click does not help where it is denied.
    for permission in ("clipboard-read", "clipboard-write"):
        tab.deny(permission)
    for name, args in CALLS.items():
        tab.page.mouse.click(100, 100)
        assert is_active(tab) is True
        assert code_of(tab, name, **args) == "permission_denied"
    tab.run("Document.prototype.hasFocus = () => false")
    for permission in ("clipboard-read", "clipboard-write"):
        set_permission(tab.page, permission, "prompt")
    assert code_of(tab, "read_clipboard_text") == "needs_gesture"


CALLS = {
    "read_clipboard_text": {},
    "read_clipboard_image": {},
    "write_clipboard_text": {"text": "unheard"},
    "write_clipboard_image": {"image": SVG},
}
