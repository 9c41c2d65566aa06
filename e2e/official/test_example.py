"""The example with LangChain's React hook, as a user sees it."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

APP = "examples.langchain-react.server:app"
BERLIN = {"latitude": 52.5, "longitude": 13.4}


def ask(page: Page) -> None:
    page.get_by_role("button", name="Where am I?").click()


def test_the_browser_tells_where_it_is(serve: Callable[[str], str], new_context: Callable[..., BrowserContext]) -> None:
    page = new_context(geolocation=BERLIN, permissions=["geolocation"]).new_page()
    page.goto(serve(APP))
    ask(page)
    said = ["human Where am I?", "ai Let me see.", re.compile("^tool .*52.5"), re.compile("^ai Found: .*52.5.*13.4")]
    expect(page.locator("p:has(b)")).to_have_text(said)
    expect(page.get_by_role("button")).to_have_text("Where am I?")
    page.reload()
    expect(page.locator("p:has(b)")).to_have_text(said)
    ask(page)
    expect(page.locator("p:has(b)")).to_have_text([*said, *said])


def test_a_denied_permission(serve: Callable[[str], str], page: Page) -> None:
    page.goto(serve(APP))
    ask(page)
    expect(page.locator("p:has(b)").last).to_have_text(re.compile("^ai Found: Error .*denied", re.IGNORECASE))
