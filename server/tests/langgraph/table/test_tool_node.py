"""Our ``ToolNode`` with each kind of input, beside a pause. (Without one: ../test_tool_node.py compares it with
LangGraph's.)
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command, Send
from typing_extensions import TypedDict

from farside.langgraph import LangGraphRuntime, ToolNode, tool
from server.tests.langgraph.scripted import Streaming, answering, call, calling, drive, hand_built, human, start
from server.tests.langgraph.table.beside import ASK, beside, told

Messages = Annotated[list[AnyMessage], add_messages]


class DictState(TypedDict):
    messages: Messages
    notes: Annotated[list[str], operator.add]


@dataclass
class ObjectState:
    messages: Messages = field(default_factory=list)
    notes: Annotated[list[str], operator.add] = field(default_factory=list)


class Counting:
    """Server tools that return a value and a ``Command``; they count how often they ran."""

    def __init__(self) -> None:
        self.times = 0

        @tool
        def count() -> str:
            """Count."""
            self.times += 1
            return "counted"

        @tool
        def note(runtime: ToolRuntime[None, Any]) -> Command[Any]:
            """Note it."""
            self.times += 1
            said = ToolMessage("noted", tool_call_id=runtime.tool_call_id)
            return Command(update={"messages": [said], "notes": ["note"]})

        self.tools = [count, note]


MADE = [call("ask", "ask"), call("count", "c"), call("note", "n"), call("ask", "second")]


def graph(kind: str, counting: Counting) -> Any:
    """A model and a node with tools that is given what the kind says."""
    model = beside(*MADE[1:])
    node = ToolNode([ASK, *counting.tools])

    async def think(state: Any) -> dict[str, Any]:
        messages = state.messages if isinstance(state, ObjectState) else state["messages"]
        return {"messages": [await model.ainvoke(messages)]}

    async def listed(state: Any) -> Any:
        outputs = await node.ainvoke(state["messages"])
        return {"messages": [message for output in outputs for message in as_messages(output)]}

    async def called(state: Any) -> Any:
        return await node.ainvoke(state["messages"][-1].tool_calls)

    builder: Any = StateGraph(ObjectState if kind == "object" else DictState)
    builder.add_node("model", think)
    builder.add_node("tools", {"messages": listed, "calls": called}.get(kind, node))
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    if kind == "call with its context":

        def each(state: Any) -> Any:
            made = state["messages"][-1].tool_calls
            context = {"__type": "tool_call_with_context", "state": state}
            return [Send("tools", {**context, "tool_call": one}) for one in made] or END

        builder.add_conditional_edges("model", each, ["tools", END])
    else:

        def leads(state: Any) -> str:
            messages: list[Any] = state.messages if isinstance(state, ObjectState) else state["messages"]
            return "tools" if messages[-1].tool_calls else END

        builder.add_conditional_edges("model", leads, ["tools", END])
    return builder.compile(), model


def as_messages(output: Any) -> list[Any]:
    return output if isinstance(output, list) else [output]


@pytest.mark.parametrize("kind", ["dict", "object", "calls", "call with its context"])
async def test_inputs_of_a_tool_node(saver: Any, kind: str) -> None:
    """Both pauses show at once and are answered one by one; each server tool runs once, its update counts once."""
    counting = Counting()
    compiled, model = graph(kind, counting)
    runtime = LangGraphRuntime(compiled, checkpointer=saver)
    leg = start()
    _, opened = await drive(runtime, leg)
    by_id = {new.tool_call_id: new for new in opened}
    assert set(by_id) == {"ask", "second"}
    _, still_open = await drive(runtime, answering(leg, (by_id["second"], "for second")))
    assert still_open == [by_id["ask"]]
    await drive(runtime, answering(leg, (by_id["ask"], "for ask")))

    assert told(model) == {"ask": "for ask", "c": "counted", "n": "noted", "second": "for second"}
    assert counting.times == 2
    assert await notes(runtime) == ["note"]


async def test_a_message_list_as_input(saver: Any) -> None:
    """A list of messages goes in, a list of messages comes out; commands of tools then update lists, as LangGraph's."""

    @tool
    def note(runtime: ToolRuntime[None, Any]) -> Command[Any]:
        """Note it."""
        return Command(update=[ToolMessage("noted", tool_call_id=runtime.tool_call_id)])

    counting = Counting()
    node = ToolNode([ASK, counting.tools[0], note])
    model = beside(*MADE[1:])
    outputs: list[Any] = []

    async def think(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    async def listed(state: MessagesState) -> Any:
        outputs.extend(await node.ainvoke(state["messages"]))
        return {"messages": [m for each in outputs for m in getattr(each, "update", each)]}

    runtime = LangGraphRuntime(hand_built(think, listed).compile(), checkpointer=saver)
    leg = start(human())
    _, opened = await drive(runtime, leg)
    assert {new.tool_call_id for new in opened} == {"ask", "second"}
    await drive(runtime, answering(leg, *((new, f"for {new.tool_call_id}") for new in opened)))

    assert told(model) == {"ask": "for ask", "c": "counted", "n": "noted", "second": "for second"}
    assert [type(output).__name__ for output in outputs] == ["list", "list", "Command", "list"]
    assert counting.times == 1


async def notes(runtime: LangGraphRuntime) -> Any:
    async def no_events() -> list[Any]:
        return []

    return (await runtime.state("thread", no_events)).values["notes"]


@tool
def report(city: str) -> Command[Any]:
    """Have the parent graph report on a city."""
    return Command(graph=Command.PARENT, goto=[Send("reporter", {"city": city})])


async def test_sends_to_the_parent_are_merged(take: Any) -> None:
    """Of several tools of a message that send to the parent graph each one's sends arrive, after a browser call."""
    reported: list[str] = []

    def script(messages: list[Any]) -> Any:
        if len(messages) == 1:
            return calling(call("ask", "ask"))
        return calling(call("report", "one", city="Bern"), call("report", "two", city="Basel"))

    model = Streaming(script=script)

    async def think(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    def reporter(state: Any) -> Any:
        reported.append(state["city"])
        return {}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("agent", hand_built(think, ToolNode([ASK, report])).compile())
    builder.add_node("reporter", reporter)
    builder.add_edge(START, "agent")
    turn = await take(builder.compile())

    assert turn.ended["event"] == "completed"
    assert turn.asked == ["ask"]
    assert sorted(reported) == ["Basel", "Bern"]
