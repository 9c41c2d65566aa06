"""The example assistant in a page, as a user sees it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

APP = "examples.assistant.app:app"


class Assistant:
    """The page, and what a user does with it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.input = page.get_by_label("Message", exact=True)
        self.send = page.get_by_role("button", name="Send")
        self.stop = page.get_by_role("button", name="Stop")
        self.connection = page.locator("#connection")
        self.messages = page.get_by_role("log").locator(".message")
        self.cards = page.get_by_role("article")

    def open(self, url: str) -> None:
        """Open the page and wait for its connection."""
        self.page.goto(url)
        expect(self.connection).to_have_text("Connected")
        expect(self.page).to_have_url(re.compile(r"\?thread=\w+"))

    def reload(self) -> None:
        """Reload the page and wait until the conversation is there again."""
        count = self.messages.count()
        self.page.reload()
        expect(self.messages).to_have_count(count)

    def say(self, text: str) -> None:
        self.input.fill(text)
        self.input.press("Enter")

    def ask(self, text: str) -> Locator:
        """Say something and wait until it is answered; returns the answer."""
        questions = self.page.locator(".message.human")
        count = questions.count()
        self.say(text)
        expect(questions).to_have_count(count + 1)
        return self.answer()

    def answer(self) -> Locator:
        """The assistant's last message, when it has finished."""
        expect(self.messages.last).to_have_class("message ai")
        expect(self.stop).to_be_hidden()
        return self.messages.last

    def card(self, tool: str) -> Locator:
        """The newest call of a tool."""
        return self.page.locator(f".card[data-tool={tool}]").last

    def expect_state(self, tool: str, state: str) -> None:
        expect(self.card(tool)).to_have_attribute("data-state", state)


@pytest.fixture
def assistant(serve: Callable[[str], str], page: Page) -> Assistant:
    """A new conversation."""
    assistant = Assistant(page)
    assistant.open(serve(APP))
    return assistant
