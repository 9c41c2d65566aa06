"""Tools that the provider executes itself, in the same message as a headless tool."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from server.tests.langgraph.scripted import Whole, call
from server.tests.langgraph.table.beside import ASK, bound, told

SEARCHED: list[Any] = [
    {"type": "text", "text": "I look it up."},
    {"type": "server_tool_call", "name": "web_search", "id": "srv_1", "args": {"query": "Bern"}},
    {"type": "server_tool_result", "tool_call_id": "srv_1", "status": "success", "output": {"hits": 3}},
]


def script(messages: list[BaseMessage]) -> AIMessage:
    if any(isinstance(message, ToolMessage) for message in messages):
        return AIMessage("done")
    return AIMessage(SEARCHED, tool_calls=[call("ask", "ask"), call("ask", "second")])


async def test_tools_that_the_provider_executes(take: Any) -> None:
    """The page is asked for the headless calls alone; the provider's blocks stay in the history, in their place."""
    model = Whole(script=script)
    turn = await take(create_agent(model, [ASK, {"type": "web_search", "name": "web_search"}]))

    assert bound(model) == ["ask", "web_search"]
    assert turn.asked == ["ask", "ask"]
    assert told(model) == {"ask": "here", "second": "here"}
    said = next(message for message in model.seen[-1] if isinstance(message, AIMessage))
    assert said.content == SEARCHED


async def test_the_client_sees_them_as_the_providers(take: Any) -> None:
    """As content blocks of the message, and not as tools that run."""
    turn = await take(create_agent(Whole(script=script), [ASK, {"type": "web_search", "name": "web_search"}]))

    blocks = [data["content"] for data in turn.events("messages") if data["event"] == "content-block-finish"]
    kinds = [block["type"] for block in blocks]
    assert kinds == ["text", "server_tool_call", "server_tool_result", "tool_call", "tool_call", "text"]
    assert blocks[1]["args"] == {"query": "Bern"}
    assert blocks[2]["output"] == {"hits": 3}
    started = [data["tool_call_id"] for data in turn.events("tools") if data["event"] == "tool-started"]
    assert sorted(started) == ["ask", "second"]
