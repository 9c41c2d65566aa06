"""The page itself: what it says, what it never does, and who can use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgpack
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from e2e.demo.conftest import APP, Assistant
from examples.assistant.scripted_model import SENTENCES


def test_it_says_who_answers_and_offers_what_is_understood(assistant: Assistant) -> None:
    page = assistant.page
    expect(page.get_by_text("Scripted model")).to_be_visible()
    expect(page.get_by_text("A small script plays the language model")).to_be_visible()
    buttons = page.get_by_label("Suggestions").get_by_role("button")
    expect(buttons).to_have_text(list(SENTENCES))
    page.get_by_role("button", name="Draw a chart of 3, 5, 2").click()
    expect(assistant.answer()).to_contain_text("bar chart of 3, 5 and 2")
    page.get_by_role("button", name="Help").click()
    expect(assistant.messages).to_have_count(5)
    expect(assistant.answer().get_by_role("listitem")).to_have_text(list(SENTENCES))


def test_text_stays_text(assistant: Assistant) -> None:
    evil = "<img src=x onerror=alert(1)> **bold** [link](javascript:alert(1))"
    answer = assistant.ask(f"remember that it is {evil}")
    for place in (assistant.messages.first, assistant.card("remember"), answer):
        expect(place).to_contain_text("<img src=x onerror=alert(1)>")
        expect(place).to_contain_text("[link](javascript:alert(1))")
    expect(assistant.messages.locator("img, a")).to_have_count(0)


def test_nothing_comes_from_elsewhere(serve: Callable[[str], str], page: Page) -> None:
    url = serve(APP)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assistant = Assistant(page)
    assistant.open(url)
    assistant.ask("draw a chart of 1, 2")
    assert asked
    assert all(address.startswith((f"{url}/", f"blob:{url}/")) for address in asked)


def test_it_is_written_with_the_keyboard(assistant: Assistant) -> None:
    expect(assistant.input).to_be_focused()
    expect(assistant.send).to_be_disabled()
    assistant.input.press_sequentially("copy one")
    assistant.input.press("Shift+Enter")
    assistant.input.press_sequentially("two")
    expect(assistant.messages).to_have_count(0)
    expect(assistant.send).to_be_enabled()
    assistant.input.press("Enter")
    assistant.answer()
    expect(assistant.input).to_be_focused()
    expect(assistant.card("copy_text").get_by_role("blockquote")).to_have_text("one\ntwo")


def test_answers_are_announced_when_they_are_complete(assistant: Assistant) -> None:
    assistant.ask("draw a chart of 1, 2")
    expect(assistant.page.get_by_role("status")).to_have_text("Here is a bar chart of 1 and 2, 960 by 480 pixels.")


def test_it_fits_a_phone(serve: Callable[[str], str], new_context: Callable[..., BrowserContext]) -> None:
    page = new_context(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True).new_page()
    assistant = Assistant(page)
    assistant.open(serve(APP))
    expect(page.get_by_role("heading", name="What can your browser do")).to_be_in_viewport(ratio=1)
    overflow = "document.scrollingElement.scrollWidth - innerWidth"
    assert page.evaluate(overflow) == 0
    assistant.ask(f"draw a chart of 1, 2 and remember that the {'very' * 20}longword is {'b' * 200}")
    assistant.ask("what do you remember?")
    assert page.evaluate(overflow) == 0
    assert (
        page.evaluate(
            "(() => { const s = document.getElementById('scroller'); return s.scrollWidth - s.clientWidth })()"
        )
        == 0
    )
    for button in page.get_by_role("banner").get_by_role("button").all():
        expect(button).to_be_in_viewport()


def test_the_end_of_the_conversation_stays_in_view(assistant: Assistant) -> None:
    for _ in range(2):
        assistant.ask("draw a chart of 1, 2")
        expect(assistant.messages.last).to_be_in_viewport(ratio=1)


def test_a_message_that_the_server_refuses_comes_back(serve: Callable[[str], str], page: Page) -> None:
    def refuse(command: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"type": "error", "id": command["id"], "error": "internal", "message": "trace id 1234"}]

    answer_first_run(page, refuse)
    assistant = Assistant(page)
    assistant.open(serve(APP))
    assistant.say("hello")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The server failed")
    expect(alert).to_contain_text("trace id 1234")
    expect(assistant.input).to_have_value("hello")
    expect(assistant.messages).to_have_count(0)
    assistant.input.press("Enter")
    expect(assistant.answer()).to_contain_text("Hello!")
    expect(alert).to_be_empty()


def test_a_run_that_fails_can_be_tried_again(serve: Callable[[str], str], page: Page) -> None:
    def fail(command: dict[str, Any]) -> list[dict[str, Any]]:
        run_id = command["params"]["run_id"]
        data = {"event": "failed", "run_id": run_id, "code": "agent_failed", "error": "trace id 1234"}
        return [
            {"type": "success", "id": command["id"], "result": {"run_id": run_id}, "meta": {"applied_through_seq": 0}},
            {
                "type": "event",
                "event_id": "failure",
                "seq": 1,
                "method": "lifecycle",
                "params": {"namespace": [], "timestamp": 0, "data": data},
            },
        ]

    answer_first_run(page, fail)
    assistant = Assistant(page)
    assistant.open(serve(APP))
    assistant.say("hello")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The assistant failed")
    expect(alert).to_contain_text("trace id 1234")
    alert.get_by_role("button", name="Try again").click()
    expect(assistant.answer()).to_contain_text("Hello!")
    expect(alert).to_be_empty()


def answer_first_run(page: Page, answer: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> None:
    """Answer the page's first run in place of the server."""
    answered: list[int] = []

    def between(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def from_page(frame: str | bytes) -> None:
            assert isinstance(frame, bytes)
            command = msgpack.unpackb(frame)
            if command["method"] != "run.start" or answered:
                server.send(frame)
                return
            answered.append(command["id"])
            for message in answer(command):
                route.send(msgpack.packb(message) or b"")

        route.on_message(from_page)

    page.route_web_socket("**/stream/events", between)
