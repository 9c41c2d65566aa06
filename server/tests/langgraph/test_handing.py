"""A tool hands the conversation to another graph while a browser's call is open beside it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId
from langchain_core.tools import tool as langchain_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, interrupt

from farside.langgraph import HeadlessToolMiddleware, LangGraphRuntime, ToolNode, tool
from server.tests.langgraph.scripted import (
    Streaming,
    Whole,
    answering,
    call,
    calling,
    check_history,
    drive,
    hand_built,
    human,
    messages_of,
    of,
    start,
)

WHERE = tool(name="where")


@langchain_tool
def hand_over(state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Give the conversation to the writer."""
    answer = ToolMessage("handed over", tool_call_id=tool_call_id)
    return Command(goto="writer", update={"messages": [*state["messages"], answer]}, graph=Command.PARENT)


@langchain_tool
def add() -> str:
    """Add."""
    return "added"


def reader(messages: list[BaseMessage]) -> AIMessage:
    return calling(call("where", "a"), call("hand_over", "b"), call("add", "c"))


def agent_with(model: Any, tools: list[Any]) -> Any:
    return create_agent(model, tools, middleware=[HeadlessToolMiddleware()])


def nodes_with(model: Any, tools: list[Any]) -> Any:
    async def think(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return hand_built(think, ToolNode(tools)).compile()


def agent(model: Any) -> Any:
    return agent_with(model, [WHERE, hand_over, add])


def graph_of_nodes(model: Any) -> Any:
    return nodes_with(model, [WHERE, hand_over, add])


def whole(inner: Any, writer: Any, saver: Any) -> Any:
    graph: Any = StateGraph(MessagesState)
    graph.add_node("reader", inner, destinations=("writer",))
    graph.add_node("writer", writer)
    graph.add_edge(START, "reader")
    return graph.compile(checkpointer=saver)


def tool_answers(messages: list[AnyMessage]) -> dict[str, str]:
    return {message.tool_call_id: str(message.content) for message in messages if isinstance(message, ToolMessage)}


@pytest.mark.parametrize("inner", [agent, graph_of_nodes])
async def test_the_call_is_withdrawn_and_the_history_valid(inner: Any, saver: Any) -> None:
    writing = Whole(script=lambda messages: AIMessage("written"))

    async def writer(state: MessagesState) -> Any:
        return {"messages": [await writing.ainvoke(state["messages"])]}

    graph = whole(inner(Whole(script=reader)), writer, saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    result = await graph.ainvoke({"messages": [HumanMessage("go")]}, config)

    assert result["messages"][-1].content == "written"
    check_history(result["messages"])  # the writer's model has refused any other already
    answers = tool_answers(result["messages"])
    assert answers["b"] == "handed over"
    assert answers["a"].startswith("Error (cancelled)")
    state = await graph.aget_state(config)
    assert (state.next, state.interrupts) == ((), ())
    # The thread goes on.
    again = await graph.ainvoke({"messages": [HumanMessage("again")]}, config)
    assert again["messages"][-1].content == "written"


@pytest.mark.parametrize("inner", [agent, graph_of_nodes])
async def test_clients_are_told(inner: Any, saver: Any) -> None:
    writing = Streaming(script=lambda messages: AIMessage("written"))

    async def writer(state: MessagesState) -> Any:
        return {"messages": [await writing.ainvoke(state["messages"])]}

    runtime = LangGraphRuntime(whole(inner(Streaming(script=reader)), writer, saver))
    emits, opened = await drive(runtime, start())
    assert opened == []
    told = {
        data["tool_call_id"]: (data["event"], data.get("code"))
        for data in of(emits, "tools")
        if data["event"] != "tool-started"
    }
    assert told["a"] == ("tool-error", "cancelled")
    assert told["b"] == ("tool-finished", None)


async def test_a_command_whose_update_has_no_messages_is_left_alone(saver: Any) -> None:
    @langchain_tool
    def leave(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Leave without a word."""
        return Command(goto="writer", update={"topic": tool_call_id}, graph=Command.PARENT)

    class Topic(MessagesState):
        topic: str

    graph: Any = StateGraph(Topic)
    model = Whole(script=lambda messages: calling(call("where", "a"), call("leave", "b")))
    inner = create_agent(model, [WHERE, leave], middleware=[HeadlessToolMiddleware()])
    graph.add_node("reader", inner, destinations=("writer",))
    graph.add_node("writer", lambda state: {"messages": [AIMessage(f"about {state['topic']}")]})
    graph.add_edge(START, "reader")
    compiled = graph.compile(checkpointer=saver)
    result = await compiled.ainvoke({"messages": [HumanMessage("go")]}, {"configurable": {"thread_id": "t"}})
    assert [message.content for message in result["messages"]] == ["go", "about b"]


@langchain_tool
def hand_over_dicts(state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Give the conversation to the writer, with a message as LangChain takes it too."""
    answer = {"role": "tool", "content": "handed over", "tool_call_id": tool_call_id}
    return Command(goto="writer", update={"messages": [*state["messages"], answer]}, graph=Command.PARENT)


@langchain_tool
def hand_over_list(state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Give the conversation to the writer, with a list as result."""
    answer = ToolMessage("handed over", tool_call_id=tool_call_id)
    return [Command(goto="writer", update={"messages": [*state["messages"], answer]}, graph=Command.PARENT)]


@langchain_tool
def hand_over_if_told(state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Give the conversation to the writer if a human says so."""
    answer = ToolMessage(interrupt("Shall I?"), tool_call_id=tool_call_id)
    return Command(goto="writer", update={"messages": [*state["messages"], answer]}, graph=Command.PARENT)


def written(messages: list[Any]) -> Any:
    return Whole(script=lambda messages: AIMessage("written")).invoke(messages)


@pytest.mark.parametrize("way", [hand_over_dicts, hand_over_list], ids=["dicts", "list"])
@pytest.mark.parametrize("inner", [agent_with, nodes_with])
async def test_messages_are_completed_whatever_their_form(inner: Any, way: Any, saver: Any) -> None:
    model = Whole(script=lambda messages: calling(call("where", "a"), call(way.name, "b")))
    graph = whole(inner(model, [WHERE, way]), lambda state: {"messages": [written(state["messages"])]}, saver)
    result = await graph.ainvoke({"messages": [HumanMessage("go")]}, {"configurable": {"thread_id": "t"}})
    assert result["messages"][-1].content == "written"
    assert set(tool_answers(result["messages"])) == {"a", "b"}


async def test_what_has_ended_beside_a_hand_over_is_told(saver: Any) -> None:
    """A ``ToolNode`` knows it, also what a page has answered before the hand-over."""
    model = Whole(script=lambda _: calling(call("where", "a"), call("hand_over_if_told", "b"), call("add", "c")))
    inner = nodes_with(model, [WHERE, hand_over_if_told, add])
    runtime = LangGraphRuntime(whole(inner, lambda state: {"messages": [written(state["messages"])]}, saver))
    for turn in range(2):  # the ids of the second turn are those of the first
        leg = start(human("go", f"human-{turn}"), run_id=f"run-{turn}")
        _, opened = await drive(runtime, leg)
        given = {"tool": f"north {turn}", "input": f"handed over {turn}"}
        await drive(runtime, answering(leg, *((new, given[new.kind]) for new in opened)))
        messages = await messages_of(runtime)
        told = {each["tool_call_id"]: each["content"] for each in messages if each["type"] == "tool"}
        assert told == {"a": f"north {turn}", "b": f"handed over {turn}", "c": "added"}
        assert messages[-1]["content"] == "written"
