"""What reaches the client while a turn with a headless tool runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolRuntime

from farside.langgraph import tool
from server.tests.langgraph.scripted import Streaming, call, calling
from server.tests.langgraph.table.beside import ASK, beside, here


def talkative(messages: list[BaseMessage]) -> AIMessage:
    """Talk, call ``ask`` and ``work``, and talk again."""
    if messages[-1].type == "human":
        return AIMessage("let me see", tool_calls=[call("ask", "ask"), call("work", "w")])
    return AIMessage("there it is")


@tool
async def work(runtime: ToolRuntime) -> str:
    """Work."""
    runtime.stream_writer({"done": 50})
    runtime.emit_output_delta("half")
    return "all"


@tool("work")
def work_in_a_thread(runtime: ToolRuntime) -> str:
    """Work."""
    get_stream_writer()({"done": 50})
    runtime.emit_output_delta("half")
    return "all"


async def test_the_text_of_the_model(take: Any) -> None:
    """Word by word, before and after the pause."""
    turn = await take(create_agent(Streaming(script=talkative), [ASK, work]))

    deltas = [data["delta"] for data in turn.events("messages") if data["event"] == "content-block-delta"]
    words = [delta["text"] for delta in deltas if delta["type"] == "text-delta"]
    assert words == ["let ", "me ", "see ", "there ", "it ", "is "]
    assert [text.strip() for text in turn.page.texts()] == ["let me see", "there it is"]


async def test_text_is_there_before_the_turn_ends(make_app: Any, open_page: Any) -> None:
    """The page has what the model said while its call is still open."""
    page = await open_page(make_app(create_agent(Streaming(script=talkative), [ASK, work])))
    await page.submit("go")
    await page.until(lambda event: event["method"] == "calls")

    assert [text.strip() for text in page.texts()] == ["let me see"]


@pytest.mark.parametrize("server_tool", [work, work_in_a_thread], ids=["async", "sync"])
async def test_what_a_tool_writes(take: Any, server_tool: Any) -> None:
    """``stream_writer`` values reach the client on the channel ``custom``, once, although the run pauses."""
    turn = await take(create_agent(Streaming(script=talkative), [ASK, server_tool]))

    assert turn.events("custom") == [{"payload": {"done": 50}}]


@pytest.mark.parametrize("server_tool", [work, work_in_a_thread], ids=["async", "sync"])
async def test_the_progress_of_a_tool(take: Any, server_tool: Any) -> None:
    """``emit_output_delta`` reaches the client on the channel ``tools``, between start and end of its call."""
    turn = await take(create_agent(Streaming(script=talkative), [ASK, server_tool]))

    of_work = [data for data in turn.events("tools") if data["tool_call_id"] == "w"]
    assert [data["event"] for data in of_work] == ["tool-started", "tool-output-delta", "tool-finished"]
    assert of_work[1]["delta"] == "half"
    of_ask = [data["event"] for data in turn.events("tools") if data["tool_call_id"] == "ask"]
    assert of_ask == ["tool-started", "tool-finished"], "the pause is no end of it"


async def test_the_progress_of_a_page(make_app: Any, open_page: Any, finish: Any) -> None:
    """``call.progress`` of the page that executes reaches the other pages."""
    app = make_app(create_agent(Streaming(script=talkative), [ASK, work]))
    seen = asyncio.Event()

    async def body() -> str:
        [opened] = page.calls("opened")
        await page.command("call.progress", **page.held(opened["interrupt_id"]), value={"percent": 50})
        await seen.wait()
        return "here"

    page = await open_page(app, tools={"ask": body})
    other = await open_page(app)
    run_id = await page.submit("go")
    await other.until(lambda event: bool(other.calls("progress")))
    seen.set()
    await finish(page, run_id)

    assert [data["value"] for data in other.calls("progress")] == [{"percent": 50}]


async def test_what_a_node_of_the_graph_writes(take: Any) -> None:
    """Also from a graph within the graph."""

    def node(state: MessagesState) -> dict[str, Any]:
        get_stream_writer()({"from": "a node"})
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("before", node)
    builder.add_node("agent", create_agent(Streaming(script=talkative), [ASK, work]))
    builder.add_edge(START, "before")
    builder.add_edge("before", "agent")
    turn = await take(builder.compile())

    assert turn.events("custom") == [{"payload": {"from": "a node"}}, {"payload": {"done": 50}}]


async def test_the_state_for_who_asks_for_it(make_app: Any, open_page: Any, finish: Any) -> None:
    """The channel ``values``: the state after each step; the pause does not repeat it."""
    page = await open_page(make_app(create_agent(beside(), [ASK])), tools={"ask": here})
    await page.command("subscription.subscribe", channels=["values"])
    turn = await finish(page, await page.submit("go"))

    lengths = [len(data["messages"]) for data in turn.events("values")]
    assert lengths == sorted(lengths)
    assert lengths[-1] == 4


async def test_tools_of_a_message_are_told_of_once(take: Any) -> None:
    """Start and end of each call, whichever tool it is, although resuming begins the open ones again."""
    model = Streaming(
        script=lambda messages: (
            calling(call("ask", "one"), call("work", "w"), call("ask", "two"))
            if messages[-1].type == "human"
            else AIMessage("done")
        )
    )
    turn = await take(create_agent(model, [ASK, work]))

    told = [(data["event"], data["tool_call_id"]) for data in turn.events("tools")]
    for call_id in ("one", "w", "two"):
        assert [event for event, of in told if of == call_id and event != "tool-output-delta"] == [
            "tool-started",
            "tool-finished",
        ]
