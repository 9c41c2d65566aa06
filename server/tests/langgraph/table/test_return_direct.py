"""``return_direct``: LangChain ends the turn when all tools of a message have it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from farside.langgraph import HeadlessTool, tool
from server.tests.langgraph.scripted import Streaming, call, once
from server.tests.langgraph.table.beside import ANY_ARGS, ASK, beside, told


@tool(return_direct=True)
def report() -> str:
    """Report to the user."""
    return "the report"


@tool(return_direct=True)
def file_report(runtime: ToolRuntime) -> Command[Any]:
    """Report to the user, and note it."""
    return Command(update={"messages": [ToolMessage("filed", tool_call_id=runtime.tool_call_id)]})


def direct() -> HeadlessTool:
    """A headless tool whose result is the user's."""
    return tool(name="show", args_schema=ANY_ARGS, return_direct=True)


async def test_alone(take: Any) -> None:
    """The model is not called again, although the agent has a headless tool."""
    model = Streaming(script=once(call("report", "r")))
    turn = await take(create_agent(model, [ASK, report]))

    assert turn.ended["event"] == "completed"
    assert [message.type for message in turn.messages] == ["human", "ai", "tool"]
    assert len(model.seen) == 1


async def test_a_headless_tool_alone(take: Any) -> None:
    model = Streaming(script=once(call("show", "s")))
    turn = await take(create_agent(model, [direct()]), bodies={"show": lambda: "shown"})

    assert turn.results["s"].content == "shown"
    assert len(model.seen) == 1


async def test_all_of_a_message(take: Any) -> None:
    """The turn ends when the page has answered."""
    model = Streaming(script=once(call("show", "s"), call("report", "r"), call("show", "t")))
    turn = await take(create_agent(model, [direct(), report]), bodies={"show": lambda: "shown"})

    assert {call_id: message.content for call_id, message in turn.results.items()} == {
        "s": "shown",
        "r": "the report",
        "t": "shown",
    }
    assert turn.ended["event"] == "completed"
    assert len(model.seen) == 1


async def test_some_of_a_message(take: Any) -> None:
    """Beside a tool without it the model is called, and told all results."""
    model = beside(call("report", "r"))
    turn = await take(create_agent(model, [ASK, report]))

    assert told(model) == {"ask": "here", "r": "the report"}
    assert turn.messages[-1].type == "ai"
    assert len(model.seen) == 2


@pytest.mark.parametrize("others", [["show"], ["ask"]])
async def test_with_a_command(take: Any, others: list[str]) -> None:
    """A tool that returns a ``Command`` counts as one that returns a value."""
    model = Streaming(script=once(call("file_report", "f"), *(call(name, name) for name in others)))
    turn = await take(create_agent(model, [direct(), ASK, file_report]), bodies={"show": lambda: "shown"})

    assert turn.results["f"].content == "filed"
    assert len(model.seen) == (1 if others == ["show"] else 2)


async def test_a_failure_in_the_page_is_returned_too(take: Any) -> None:
    """As LangChain returns an error message of a server tool."""

    def broken() -> None:
        raise RuntimeError("no canvas")

    model = Streaming(script=once(call("show", "s")))
    turn = await take(create_agent(model, [direct()]), bodies={"show": broken})

    assert turn.results["s"].content == "Error (failed): no canvas"
    assert len(model.seen) == 1
