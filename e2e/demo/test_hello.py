"""The smallest example, as its readers start it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_the_page_answers_with_what_its_tool_measured(serve: Callable[[str], str], page: Page) -> None:
    page.set_viewport_size({"width": 700, "height": 500})
    page.goto(serve("examples.hello.app:app"))
    page.get_by_label("Message").fill("Good morning")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("listitem")).to_have_text(
        ["Good morning", "Hello! You said “Good morning”, in a window of 700 by 500 pixels."]
    )


def test_each_message_is_answered(serve: Callable[[str], str], page: Page) -> None:
    page.goto(serve("examples.hello.app:app"))
    for turn in (1, 2):
        page.get_by_label("Message").fill(f"Message {turn}")
        page.get_by_label("Message").press("Enter")
        expect(page.get_by_role("listitem")).to_have_count(2 * turn)
