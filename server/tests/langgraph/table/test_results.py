"""What server tools return, each beside a headless tool that is still open."""

from __future__ import annotations

import json
import operator
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command
from pydantic import BaseModel

from farside.langgraph import LangGraphRuntime, tool
from server.tests.langgraph.scripted import Whole, answering, call, calling, drive, start
from server.tests.langgraph.table.beside import ASK, beside, told

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_strings(take: Any) -> None:
    @tool
    def weather() -> str:
        """Tell the weather."""
        return "sunny, 20 °C"

    model = beside(call("weather", "w"))
    await take(create_agent(model, [ASK, weather]))

    assert told(model) == {"ask": "here", "w": "sunny, 20 °C"}


class Weather(BaseModel):
    sky: str
    degrees: int


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({"sky": "clear", "°C": 20}, '{"sky": "clear", "°C": 20}'),
        ([1, "two"], '[1, "two"]'),
        (None, "null"),
        (Weather(sky="clear", degrees=20), "sky='clear' degrees=20"),
    ],
)
async def test_objects(take: Any, value: Any, content: str) -> None:
    """LangChain makes JSON of what JSON can say, and ``str()`` of the rest, pydantic models included."""

    @tool
    def weather() -> Any:
        """Tell the weather."""
        return value

    model = beside(call("weather", "w"))
    await take(create_agent(model, [ASK, weather]))

    assert told(model) == {"ask": "here", "w": content}


async def test_content_blocks(take: Any) -> None:
    """Text, image and file blocks reach the model as they are, also through a checkpoint on disk."""
    blocks = [
        {"type": "text", "text": "a map"},
        {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
        {"type": "file", "base64": "YQ==", "mime_type": "text/plain"},
    ]

    @tool
    def chart() -> Any:
        """Draw a map."""
        return blocks

    model = beside(call("chart", "c"))
    turn = await take(create_agent(model, [ASK, chart]))

    assert told(model) == {"ask": "here", "c": blocks}
    assert turn.results["c"].content == blocks


@pytest.mark.parametrize("kind", ["audio", "video"])
async def test_audio_and_video_become_text(take: Any, kind: str) -> None:
    """LangChain knows no such blocks in what a tool returns; in the messages of a ``Command`` they stay blocks."""
    block = {"type": kind, "base64": "YQ==", "mime_type": f"{kind}/mp4"}

    @tool
    def returned() -> Any:
        """Record it."""
        return [block]

    @tool
    def in_a_command(runtime: ToolRuntime) -> Command[Any]:
        """Record it."""
        return Command(update={"messages": [ToolMessage([block], tool_call_id=runtime.tool_call_id)]})

    model = beside(call("returned", "r"), call("in_a_command", "c"))
    await take(create_agent(model, [ASK, returned, in_a_command]))

    assert told(model) == {"ask": "here", "r": json.dumps([block]), "c": [block]}


async def test_artifacts(saver: Any) -> None:
    """The model is told the content alone; the artifact is in the state, as it was."""

    @tool(response_format="content_and_artifact")
    def chart() -> tuple[str, dict[str, Any]]:
        """Draw a map."""
        return "a map", {"tiles": [b"\x00\x01"], "zoom": 3}

    model = Whole(script=beside(call("chart", "c")).script)
    runtime = LangGraphRuntime(create_agent(model, [ASK, chart]), checkpointer=saver)
    _, opened = await drive(runtime, start())
    await drive(runtime, answering(start(), (opened[0], "here")))

    message = next(m for m in model.seen[-1] if isinstance(m, ToolMessage) and m.tool_call_id == "c")
    assert message.content == "a map"
    assert message.artifact == {"tiles": [b"\x00\x01"], "zoom": 3}


# --- Command ---


async def state_of(runtime: LangGraphRuntime) -> dict[str, Any]:
    async def no_events() -> list[Any]:
        return []

    return (await runtime.state("thread", no_events)).values


class Trip(AgentState):
    visited: Annotated[list[str], operator.add]
    budget: int


@tool
def visit(city: str, runtime: ToolRuntime) -> Command[Any]:
    """Go there."""
    said = ToolMessage(f"visited {city}", tool_call_id=runtime.tool_call_id)
    return Command(update={"visited": [city], "messages": [said]})


@tool
def spend(amount: int, runtime: ToolRuntime) -> Command[Any]:
    """Spend it."""
    said = ToolMessage(f"spent {amount}", tool_call_id=runtime.tool_call_id)
    return Command(update={"budget": 100 - amount, "messages": [said]})


async def test_commands_that_update_the_state(saver: Any) -> None:
    """The reducer of a key sees each update once, however often the batch is resumed."""
    model = beside(call("visit", "one", city="Bern"), call("ask", "second"), call("visit", "two", city="Basel"))
    runtime = LangGraphRuntime(create_agent(model, [ASK, visit, spend], state_schema=Trip), checkpointer=saver)
    leg = start()
    _, opened = await drive(runtime, leg)
    for new in opened:
        await drive(runtime, answering(leg, (new, new.tool_call_id)))

    assert (await state_of(runtime))["visited"] == ["Bern", "Basel"]
    assert told(model) == {"ask": "ask", "one": "visited Bern", "second": "second", "two": "visited Basel"}


async def test_commands_of_tools_that_the_next_call_sees(take: Any) -> None:
    """What a finished sibling wrote is there for the next message's tools."""

    @tool
    def where_to(runtime: ToolRuntime) -> str:
        """Tell where the trip has led."""
        return f"{runtime.state['visited']}, {runtime.state['budget']} left"

    def script(messages: list[BaseMessage]) -> AIMessage:
        if messages[-1].type == "human":
            return calling(call("ask", "ask"), call("visit", "v", city="Bern"), call("spend", "s", amount=30))
        return calling(call("where_to", "w")) if len(messages) == 5 else AIMessage("done")

    model = Whole(script=script)
    turn = await take(create_agent(model, [ASK, visit, spend, where_to], state_schema=Trip))

    assert turn.results["w"].content == "['Bern'], 70 left"


async def test_two_commands_for_one_key_without_a_reducer(take: Any) -> None:
    """LangGraph takes one value for such a key in a step: the run fails, nobody is asked, the history is whole."""
    model = beside(call("spend", "one", amount=1), call("spend", "two", amount=2))
    turn = await take(create_agent(model, [ASK, spend], state_schema=Trip))

    assert (turn.ended["event"], turn.ended["code"]) == ("failed", "agent_failed")
    assert turn.asked == []
    assert [message.status for message in turn.results.values()] == ["error"] * 3
    assert (await turn.page.ask("again")).strip() == "done: again"
