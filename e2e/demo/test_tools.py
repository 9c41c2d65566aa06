"""The assistant's tools, each against the real browser API."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, expect

from e2e.conftest import set_permission
from e2e.demo.conftest import APP, Assistant


def test_where_am_i(assistant: Assistant) -> None:
    assistant.page.context.set_geolocation({"latitude": 52.52, "longitude": 13.405, "accuracy": 20})
    set_permission(assistant.page, "geolocation", "granted")
    expect(assistant.ask("Where am I?")).to_contain_text("52.5200° N, 13.4050° E, give or take 20 metres")
    assistant.expect_state("get_location", "answered")
    expect(assistant.card("get_location").get_by_role("definition")).to_have_text(
        ["52.52000° N", "13.40500° E", "± 20 m"]
    )


def test_a_denied_location_is_explained(assistant: Assistant) -> None:
    set_permission(assistant.page, "geolocation", "denied")
    expect(assistant.ask("Where am I?")).to_contain_text("permission was denied")
    assistant.expect_state("get_location", "failed")
    expect(assistant.card("get_location")).to_contain_text("Permission denied")
    expect(assistant.card("get_location").get_by_role("code")).to_have_text("permission_denied")


def test_copy_and_paste(assistant: Assistant) -> None:
    page = assistant.page
    set_permission(page, "clipboard-read", "granted")
    expect(assistant.ask("copy “Grüße from the far side 🌘”")).to_contain_text("on your clipboard")
    assert page.evaluate("navigator.clipboard.readText()") == "Grüße from the far side 🌘"
    page.evaluate("navigator.clipboard.writeText('two\\nlines')")
    expect(assistant.ask("paste")).to_contain_text("two lines")
    expect(assistant.card("paste_text").get_by_role("blockquote")).to_have_text("two\nlines")


def test_copy_and_paste_in_one_message_come_one_after_the_other(assistant: Assistant) -> None:
    set_permission(assistant.page, "clipboard-read", "granted")
    expect(assistant.ask("copy a word and paste it")).to_contain_text("On your clipboard is “a word”")
    expect(assistant.cards).to_have_count(2)


def test_a_denied_clipboard_is_explained(assistant: Assistant) -> None:
    set_permission(assistant.page, "clipboard-read", "denied")
    expect(assistant.ask("paste")).to_contain_text("permission was denied")
    assistant.expect_state("paste_text", "failed")


def test_copying_waits_for_a_click_where_the_browser_wants_one(assistant: Assistant) -> None:
    page = assistant.page
    # Any other call of Playwright would be such a click to the browser; this reload ends the one that opened the page.
    page.goto(page.url)
    session = page.context.new_cdp_session(page)
    assert run(session, "navigator.userActivation.isActive") is False
    run(
        session,
        """new Promise((resolve) => {
            const look = () => document.querySelector('[data-state=waiting] .content button') && resolve();
            new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true });
            document.getElementById('text').value = 'copy clicked';
            document.getElementById('composer').requestSubmit();
        })""",
    )
    assert run(session, "navigator.userActivation.isActive") is False
    x, y = run(
        session,
        """(() => {
            const button = document.querySelector('[data-state=waiting] button');
            const { x, y, width, height } = button.getBoundingClientRect();
            return [x + width / 2, y + height / 2];
        })()""",
    )
    page.mouse.click(x, y)
    expect(assistant.answer()).to_contain_text("I put “clicked” on your clipboard")
    set_permission(page, "clipboard-read", "granted")
    assert page.evaluate("navigator.clipboard.readText()") == "clicked"


def run(session: CDPSession, expression: str) -> Any:
    """Evaluate in the page without giving it user activation."""
    params = {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": False}
    return session.send("Runtime.evaluate", params)["result"].get("value")


def test_remember_and_recall_after_a_reload(assistant: Assistant) -> None:
    expect(assistant.ask("What is the motto?")).to_contain_text("I know nothing about motto")
    expect(assistant.ask("Remember that the motto is small steps")).to_contain_text("motto is small steps")
    assistant.ask("Remember that my cat is black")
    assistant.reload()
    expect(assistant.ask("What is the MOTTO?")).to_contain_text("motto is small steps")
    assistant.ask("Remember that the motto is big steps")
    expect(assistant.ask("What do you remember?").get_by_role("listitem")).to_have_text(
        ["cat is black", "motto is big steps"]
    )
    rows = assistant.card("recall").get_by_role("row")
    expect(rows).to_have_text(["WhatRemembered", "catblack", "mottobig steps"])


def test_a_chart_is_a_picture(serve: Callable[[str], str], new_context: Callable[..., BrowserContext]) -> None:
    # The page's policy would keep the test from reading the picture's bytes.
    assistant = Assistant(new_context(bypass_csp=True).new_page())
    assistant.open(serve(APP))
    expect(assistant.ask("Draw a chart of 3, -5, 2 titled Ups and downs")).to_contain_text("bar chart of 3, -5 and 2")
    picture = assistant.card("draw_chart").get_by_role("img", name="Bar chart “Ups and downs” of 3, -5, 2")
    expect(picture).to_be_visible()
    png = bytes(picture.evaluate("async (image) => [...new Uint8Array(await (await fetch(image.src)).arrayBuffer())]"))
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24]) == (960, 480)
    pixels = picture.evaluate(
        """async (image) => {
            await image.decode();
            const { naturalWidth: width, naturalHeight: height } = image;
            const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
            context.drawImage(image, 0, 0);
            const { data } = context.getImageData(0, 0, width, height);
            const counts = {};
            for (let at = 0; at < data.length; at += 4) {
                const color = data.slice(at, at + 3).join();
                counts[color] = (counts[color] ?? 0) + 1;
            }
            return counts;
        }"""
    )
    assert sum(pixels.values()) == 960 * 480
    assert pixels["255,255,255"] > 200_000, "paper"
    assert pixels["91,91,214"] > 10_000, "bars"


def test_arguments_that_do_not_fit_are_explained(assistant: Assistant) -> None:
    expect(assistant.ask(f"draw a chart of 1, {10**20}")).to_contain_text("I could not draw the chart")
    assistant.expect_state("draw_chart", "failed")
