"""The README's Python code runs as it stands; only the chat model is replaced."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from e2e.readme.blocks import python_block
from farside import Farside, ToolError
from farside.testing import FakeBrowser, MemoryLink
from server.tests.langgraph.scripted import Streaming, call, calling

VIENNA = {"latitude": 48.2082, "longitude": 16.3738}


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The code makes its database where it is started."""
    monkeypatch.chdir(tmp_path)


@asynccontextmanager
async def page_of(app: Farside, agent: str, get_location: Callable[[], Any]) -> AsyncGenerator[FakeBrowser]:
    link = await MemoryLink(app, "thread-1").open()
    try:
        async with FakeBrowser(link, agent=agent, tools={"get_location": get_location}) as page:
            yield page
    finally:
        await app.stop()


def run_block(mark: str) -> dict[str, Any]:
    """What the code of a block defines."""
    module = {"__name__": "readme"}
    exec(compile(python_block(mark), "README.md", "exec"), module)  # noqa: S102 - it is ours
    return module


def denied() -> None:
    raise ToolError("permission_denied", "the user said no")


def script(messages: list[BaseMessage]) -> AIMessage:
    if messages[-1].type == "human":
        return calling(call("get_location"))
    return AIMessage(f"You are here: {messages[-1].text}")


@pytest.fixture
def langgraph(monkeypatch: pytest.MonkeyPatch) -> Farside:
    asked: list[str] = []

    def init_chat_model(name: str) -> Streaming:
        asked.append(name)
        return Streaming(script=script)

    monkeypatch.setattr("langchain.agents.factory.init_chat_model", init_chat_model)
    app = run_block("langgraph")["app"]
    assert asked == ["openai:gpt-5"]
    return app


async def test_the_graph_answers_with_what_the_page_measured(langgraph: Farside) -> None:
    async with page_of(langgraph, "assistant", lambda: VIENNA) as page:
        answer = await page.ask("Where am I?")
        assert answer.strip() == 'You are here: {"latitude": 48.2082, "longitude": 16.3738}'
        assert page.executions == [("get_location", {})]
    assert Path("farside.db").exists()


async def test_the_graph_hears_of_a_position_that_is_none(langgraph: Farside) -> None:
    async with page_of(langgraph, "assistant", lambda: {"latitude": "north"}) as page:
        assert "You are here: Error (invalid_result)" in await page.ask("Where am I?")


async def test_the_function_answers_with_what_the_page_measured() -> None:
    async with page_of(run_block("function")["app"], "guide", lambda: VIENNA) as page:
        assert await page.ask("Where am I?") == "You are at 48.2082, 16.3738, and it is sunny."
        assert page.executions == [("get_location", {})]
    assert Path("farside.db").exists()


async def test_the_function_says_why_it_does_not_know() -> None:
    async with page_of(run_block("function")["app"], "guide", denied) as page:
        assert await page.ask("Where am I?") == "I could not find out where you are: permission_denied."
