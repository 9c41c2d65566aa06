"""Conversations outlive pages, browsers and servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from e2e.conftest import Chromium, Server, expect_lost_connections, set_permission
from e2e.demo.conftest import APP, Assistant

HELD = """
const { getCurrentPosition } = Geolocation.prototype;
Geolocation.prototype.getCurrentPosition = function (...args) {
    globalThis.locate = () => getCurrentPosition.apply(this, args);
};
"""
"""Makes the tool wait for ``locate()``, as it waits while the browser's question for permission is open."""


def test_two_tools_are_called_in_one_message(assistant: Assistant) -> None:
    assistant.page.context.set_geolocation({"latitude": -33.8568, "longitude": 151.2153, "accuracy": 1500})
    set_permission(assistant.page, "geolocation", "granted")
    answer = assistant.ask("where am I and draw a chart of 1,2,3")
    expect(answer).to_contain_text("33.8568° S, 151.2153° E")
    expect(answer).to_contain_text("bar chart of 1, 2 and 3")
    expect(assistant.messages).to_have_count(3)
    cards = assistant.messages.nth(1).get_by_role("article")
    expect(cards).to_have_count(2)
    expect(cards.first).to_have_attribute("data-tool", "get_location")
    for tool in ("get_location", "draw_chart"):
        assistant.expect_state(tool, "answered")


def test_a_reload_shows_the_conversation_and_runs_nothing_again(assistant: Assistant) -> None:
    assistant.ask("draw a chart of 1, 2")
    before = assistant.messages.all_inner_texts()
    assistant.page.add_init_script("HTMLCanvasElement.prototype.getContext = () => { throw new Error('drawn again') }")
    assistant.page.reload()
    expect(assistant.card("draw_chart").get_by_role("img")).to_be_visible()
    assert assistant.messages.all_inner_texts() == before


def test_another_browser_shows_the_conversation_and_goes_on(
    assistant: Assistant, new_context: Callable[..., BrowserContext]
) -> None:
    assistant.ask("draw a chart of 3, 5, 2")
    address = assistant.page.url
    assistant.page.context.close()

    other = Assistant(new_context().new_page())
    other.open(address)
    expect(other.messages.first).to_have_text("Youdraw a chart of 3, 5, 2")
    picture = other.card("draw_chart").get_by_role("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 960
    expect(other.ask("remember that the motto is small steps")).to_contain_text("motto is small steps")
    expect(other.messages).to_have_count(6)


def test_a_killed_browser_comes_back_to_the_conversation(
    serve: Callable[[str], str], start_chromium: Callable[..., Chromium], tmp_path: Path
) -> None:
    browser = start_chromium(tmp_path / "profile")
    assistant = Assistant(browser.context.new_page())
    assistant.open(serve(APP))
    assistant.ask("Remember that the motto is small steps")
    address = assistant.page.url
    browser.kill()

    assistant = Assistant(start_chromium(tmp_path / "profile").context.new_page())
    assistant.open(address)
    expect(assistant.messages).to_have_count(3)
    assistant.expect_state("remember", "answered")
    expect(assistant.ask("What is the motto?")).to_contain_text("motto is small steps")


def test_a_server_that_was_killed_goes_on(
    start_server: Callable[..., Server], page: Page, page_errors: list[str]
) -> None:
    server = start_server(APP)
    assistant = Assistant(page)
    assistant.open(server.url)
    assistant.ask("draw a chart of 3, 5, 2")
    server.kill()
    expect(assistant.connection).to_have_text("Reconnecting")
    server.start()
    expect(assistant.connection).to_have_text("Connected")
    expect(assistant.ask("What is the motto?")).to_contain_text("I know nothing about motto")
    expect(assistant.messages).to_have_count(6)
    expect_lost_connections(page_errors)


def test_a_tool_that_runs_while_the_server_dies_is_answered(
    start_server: Callable[..., Server], page: Page, page_errors: list[str]
) -> None:
    server = start_server(APP)
    page.add_init_script(HELD)
    page.context.set_geolocation({"latitude": 52.52, "longitude": 13.405, "accuracy": 20})
    assistant = Assistant(page)
    assistant.open(server.url)
    set_permission(page, "geolocation", "granted")
    assistant.say("where am I and draw a chart of 1, 2")
    assistant.expect_state("draw_chart", "answered")
    assistant.expect_state("get_location", "running")
    server.kill()
    expect(assistant.connection).to_have_text("Reconnecting")
    page.evaluate("locate()")
    server.start()
    answer = assistant.answer()
    expect(answer).to_contain_text("52.5200° N, 13.4050° E")
    expect(answer).to_contain_text("bar chart of 1 and 2")
    expect(assistant.messages).to_have_count(3)
    expect_lost_connections(page_errors)


def test_stop_ends_an_answer_that_is_being_written(assistant: Assistant) -> None:
    assistant.say("help")
    expect(assistant.messages.last).to_have_class("message ai streaming")
    assistant.stop.click()
    expect(assistant.stop).to_be_hidden()
    expect(assistant.messages.last).to_have_class("message ai")
    expect(assistant.ask("hello")).to_contain_text("Hello!")


def test_stop_calls_a_running_tool_off(serve: Callable[[str], str], page: Page) -> None:
    page.add_init_script(HELD)
    assistant = Assistant(page)
    assistant.open(serve(APP))
    assistant.say("where am I and draw a chart of 1, 2")
    assistant.expect_state("draw_chart", "answered")
    assistant.expect_state("get_location", "running")
    assistant.stop.click()
    assistant.expect_state("get_location", "cancelled")
    expect(assistant.stop).to_be_hidden()
    assistant.page.reload()
    assistant.expect_state("get_location", "cancelled")
    expect(assistant.card("draw_chart").get_by_role("img")).to_be_visible()
    # A history with a call that nobody answered would be refused.
    expect(assistant.ask("hello")).to_contain_text("Hello!")


def test_a_new_message_calls_a_running_tool_off(serve: Callable[[str], str], page: Page) -> None:
    page.add_init_script(HELD)
    assistant = Assistant(page)
    assistant.open(serve(APP))
    assistant.say("where am I?")
    assistant.expect_state("get_location", "running")
    expect(assistant.ask("draw a chart of 1, 2")).to_contain_text("bar chart of 1 and 2")
    assistant.expect_state("get_location", "cancelled")


def test_conversations_are_apart_and_the_way_back_leads_to_the_last_one(assistant: Assistant) -> None:
    assistant.ask("draw a chart of 1, 2")
    first = assistant.page.url
    assistant.page.get_by_role("button", name="New conversation").click()
    expect(assistant.messages).to_have_count(0)
    expect(assistant.page.get_by_role("heading", name="What can your browser do")).to_be_visible()
    assert assistant.page.url != first
    expect(assistant.connection).to_have_text("Connected")
    assistant.ask("hello")
    expect(assistant.messages).to_have_count(2)
    assistant.page.go_back()
    expect(assistant.page).to_have_url(first)
    expect(assistant.messages).to_have_count(3)
    expect(assistant.card("draw_chart").get_by_role("img")).to_be_visible()
    expect(assistant.ask("hello")).to_contain_text("Hello!")
    assistant.page.go_forward()
    expect(assistant.messages).to_have_count(2)


def test_an_address_that_names_no_thread_opens_a_new_one(serve: Callable[[str], str], page: Page) -> None:
    assistant = Assistant(page)
    assistant.open(f"{serve(APP)}/?thread=a%2Fb")
    expect(assistant.ask("hello")).to_contain_text("Hello!")
