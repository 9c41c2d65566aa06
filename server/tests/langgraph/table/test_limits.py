"""Limits on tool calls that hold across the pauses of a turn, and across turns."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ToolCallLimitMiddleware
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from farside.langgraph import tool
from server.tests.langgraph.scripted import Streaming, call, calling
from server.tests.langgraph.table.beside import ASK, beside, here, told


@tool
def count() -> str:
    """Count."""
    return "counted"


def for_ever(messages: list[BaseMessage]) -> AIMessage:
    """Call ``ask`` and ``count`` until an error comes back."""
    turn: list[BaseMessage] = []
    for message in messages:
        turn = [] if message.type == "human" else [*turn, message]
    if any(isinstance(message, ToolMessage) and message.status == "error" for message in turn):
        return AIMessage("stopped")
    return calling(call("ask", f"ask{len(messages)}"), call("count", f"count{len(messages)}"))


async def test_a_limit_for_one_tool_of_a_thread(take: Any) -> None:
    """What is over the limit gets an error message; the page does not hear of it, its siblings run."""
    limit = ToolCallLimitMiddleware(tool_name="ask", thread_limit=2)
    model = Streaming(script=for_ever)
    turn = await take(create_agent(model, [ASK, count], middleware=[limit]))

    assert turn.asked == ["ask", "ask"]
    assert [m.content for m in turn.results.values() if m.name == "count"] == ["counted"] * 3
    assert "Do not call 'ask' again" in str([m.content for m in turn.results.values() if m.status == "error"])


async def test_a_limit_for_all_tools_of_a_thread(take: Any) -> None:
    limit = ToolCallLimitMiddleware(thread_limit=3)
    turn = await take(create_agent(Streaming(script=for_ever), [ASK, count], middleware=[limit]))

    assert [m.status for m in turn.results.values()].count("success") == 3
    assert turn.asked == ["ask", "ask"]
    assert turn.ended["event"] == "completed"


async def test_a_limit_of_the_thread_outlives_the_turn(take: Any) -> None:
    limit = ToolCallLimitMiddleware(tool_name="ask", thread_limit=2)
    model = Streaming(script=for_ever)
    turn = await take(create_agent(model, [ASK, count], middleware=[limit]))
    assert turn.asked == ["ask", "ask"]
    asked_before = len(model.seen)
    await turn.page.ask("go on")

    assert turn.asked == ["ask", "ask"]
    assert len(model.seen) == asked_before + 2, "the model tried, and was told"


async def test_a_limit_that_ends_the_turn(take: Any) -> None:
    """A message with a call over the limit is not executed at all; LangChain answers its calls itself."""
    limit = ToolCallLimitMiddleware(thread_limit=3, exit_behavior="end")
    turn = await take(create_agent(Streaming(script=for_ever), [ASK, count], middleware=[limit]))

    assert turn.asked == ["ask"]
    assert turn.ended["event"] == "completed"
    assert "call limit reached" in str(turn.messages[-1].content)


async def test_a_limit_that_is_an_error(take: Any) -> None:
    """The run fails, and the history is whole."""
    limit = ToolCallLimitMiddleware(thread_limit=3, exit_behavior="error")
    turn = await take(create_agent(Streaming(script=for_ever), [ASK, count], middleware=[limit]))

    assert (turn.ended["event"], turn.ended["code"]) == ("failed", "agent_failed")
    assert turn.asked == ["ask"]


async def test_a_limit_within_one_message(take: Any) -> None:
    """Of the calls of a message the first ones run."""
    limit = ToolCallLimitMiddleware(tool_name="ask", thread_limit=2)
    model = beside(call("ask", "two"), call("ask", "three"), call("count", "c"))
    turn = await take(create_agent(model, [ASK, count], middleware=[limit]), bodies={"ask": here})

    assert [told(model)[call_id] for call_id in ("ask", "two", "c")] == ["here", "here", "counted"]
    assert "limit exceeded" in told(model)["three"]
    assert turn.asked == ["ask", "ask"]
