"""Headless tools in graphs within graphs, agents that hand over, and the other ways to write a graph."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolRuntime, create_react_agent
from langgraph.types import Command
from langgraph.warnings import LangGraphDeprecatedSinceV10
from pydantic import BaseModel

from farside.langgraph import ToolNode, tool
from server.tests.langgraph.scripted import Streaming, call, calling, hand_built, once
from server.tests.langgraph.table.beside import ASK, Counted, beside, told, tool_messages

# --- a graph as a node ---


async def test_a_subgraph_as_a_node(take: Any) -> None:
    counted = Counted()
    model = beside(call("count", "c"), call("ask", "second"))
    builder = StateGraph(MessagesState)
    builder.add_node("agent", create_agent(model, [ASK, counted.tool]))
    builder.add_node("sign", lambda state: {"messages": [AIMessage("signed")]})
    builder.add_edge(START, "agent")
    builder.add_edge("agent", "sign")
    turn = await take(builder.compile())

    assert told(model) == {"ask": "here", "c": "counted", "second": "here"}
    assert counted.times == 1
    assert [message.type for message in turn.messages] == ["human", "ai", *["tool"] * 3, "ai", "ai"]


async def test_subgraphs_that_run_at_the_same_time(take: Any) -> None:
    """Two agents as parallel nodes: the calls of both are open together."""
    counted = Counted()
    models = [beside(call("count", f"c{n}"), call("ask", f"second{n}")) for n in range(2)]

    def agent(n: int) -> Any:
        inner = create_agent(models[n], [ASK, counted.tool])

        async def node(state: MessagesState) -> dict[str, Any]:
            result = await inner.ainvoke({"messages": [HumanMessage(f"to {n}")]})
            return {"messages": [AIMessage(f"{n}: {result['messages'][-1].text}")]}

        return node

    builder = StateGraph(MessagesState)
    for n in range(2):
        builder.add_node(f"agent{n}", agent(n))
        builder.add_edge(START, f"agent{n}")
    turn = await take(builder.compile())

    assert [told(model) for model in models] == [
        {"ask": "here", f"c{n}": "counted", f"second{n}": "here"} for n in range(2)
    ]
    assert len(turn.asked) == 4
    assert counted.times == 2


# --- an agent inside a tool ---


class Delegating:
    """An agent whose tool asks another agent, which calls ``ask`` and ``count`` in one message."""

    def __init__(self, *, outer: list[Any], how: str = "async") -> None:
        self.counted = Counted()
        self.inner = beside(call("count", "c"), call("ask", "second"))
        self.bodies: list[str] = []
        expert = create_agent(self.inner, [ASK, self.counted.tool])

        @tool
        async def delegate(task: str) -> str:
            """Ask the expert."""
            self.bodies.append(task)
            result = await expert.ainvoke({"messages": [HumanMessage(task)]})
            return str(result["messages"][-1].text).strip()

        @tool("delegate")
        def delegate_in_a_thread(task: str) -> str:
            """Ask the expert."""
            self.bodies.append(task)
            result = expert.invoke({"messages": [HumanMessage(task)]})
            return str(result["messages"][-1].text).strip()

        self.tool = delegate if how == "async" else delegate_in_a_thread
        self.outer = Streaming(script=once(*outer))


@pytest.mark.parametrize("how", ["async", "sync"])
async def test_an_agent_inside_a_tool(take: Any, how: str) -> None:
    """The outer body runs again when the run resumes, as LangGraph has it; what finished within it does not."""
    both = Delegating(outer=[call("delegate", "d", task="dig"), call("ask", "outer")], how=how)
    turn = await take(create_agent(both.outer, [ASK, both.tool]))

    assert told(both.inner) == {"ask": "here", "c": "counted", "second": "here"}
    assert told(both.outer) == {"d": "done: here", "outer": "here"}
    assert turn.asked == ["ask"] * 3
    assert both.counted.times == 1
    assert both.bodies == ["dig", "dig"]


async def test_an_agent_inside_a_tool_of_a_tool_node(take: Any) -> None:
    both = Delegating(outer=[call("delegate", "d", task="dig"), call("ask", "outer")])

    async def think(state: Any) -> Any:
        return {"messages": [await both.outer.ainvoke(state["messages"])]}

    turn = await take(hand_built(think, ToolNode([ASK, both.tool])).compile())

    assert told(both.outer) == {"d": "done: here", "outer": "here"}
    assert turn.asked == ["ask"] * 3
    assert both.counted.times == 1


async def test_two_agents_inside_tools_at_the_same_time(take: Any) -> None:
    both = Delegating(outer=[call("delegate", "one", task="dig"), call("delegate", "two", task="sow")])
    turn = await take(create_agent(both.outer, [ASK, both.tool]))

    assert told(both.outer) == {"one": "done: here", "two": "done: here"}
    assert turn.asked == ["ask"] * 4
    assert both.counted.times == 2
    assert sorted(both.bodies) == ["dig", "dig", "sow", "sow"]


# --- agents that hand over ---


def hand_over_to(name: str) -> Any:
    """A tool that lets another agent of the parent graph go on, with the whole history."""

    @tool(f"hand_over_to_{name}")
    def hand_over(runtime: ToolRuntime) -> Command[Any]:
        """Let the other one go on."""
        said = ToolMessage(f"over to {name}", tool_call_id=runtime.tool_call_id)
        messages = [*runtime.state["messages"], said]
        return Command(graph=Command.PARENT, goto=name, update={"messages": messages})

    return hand_over


def steps(*answers: AIMessage) -> Streaming:
    """A model that gives these answers one after the other."""
    remaining = list(answers)
    return Streaming(script=lambda messages: remaining.pop(0))


async def test_a_supervisor_with_two_agents(take: Any) -> None:
    """Each asks the page; the supervisor hands over to the first, the first to the second, the second back."""
    counted = Counted()
    supervisor = steps(
        calling(call("ask", "s1"), call("count", "s2")),
        calling(call("hand_over_to_first", "s3")),
        AIMessage("all done"),
    )
    first = steps(calling(call("ask", "f1"), call("count", "f2")), calling(call("hand_over_to_second", "f3")))
    second = steps(calling(call("ask", "t1")), calling(call("hand_over_to_supervisor", "t2")))
    builder = StateGraph(MessagesState)
    for name, model, to in (
        ("supervisor", supervisor, ["first"]),
        ("first", first, ["second"]),
        ("second", second, ["supervisor"]),
    ):
        tools = [ASK, counted.tool, *map(hand_over_to, to)]
        builder.add_node(name, create_agent(model, tools, name=name), destinations=(*to, END))
    builder.add_edge(START, "supervisor")
    turn = await take(builder.compile())

    assert turn.ended["event"] == "completed"
    assert turn.asked == ["ask"] * 3
    assert counted.times == 2
    assert {call_id: message.content for call_id, message in turn.results.items()} == {
        "s1": "here",
        "s2": "counted",
        "s3": "over to first",
        "f1": "here",
        "f2": "counted",
        "f3": "over to second",
        "t1": "here",
        "t2": "over to supervisor",
    }
    assert turn.messages[-1].text.strip() == "all done"


# --- create_react_agent ---


def react_agent(*args: Any, **options: Any) -> Any:
    with pytest.warns(LangGraphDeprecatedSinceV10):
        return create_react_agent(*args, **options)


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_create_react_agent(take: Any, version: str) -> None:
    """Old code works: ``version="v1"`` with our ``ToolNode``, ``"v2"`` (the default) as it is."""
    counted = Counted()
    model = beside(call("count", "c"), call("ask", "second"))
    tools = [ASK, counted.tool]
    turn = await take(react_agent(model, ToolNode(tools) if version == "v1" else tools, version=version))

    assert told(model) == {"ask": "here", "c": "counted", "second": "here"}
    assert turn.asked == ["ask", "ask"]
    assert counted.times == 1


async def test_the_stock_tool_node(take: Any) -> None:
    """Given all calls of a message, LangGraph's own runs its server tools again for each browser call."""
    counted = Counted()
    model = beside(call("count", "c"), call("ask", "second"))
    turn = await take(react_agent(model, [ASK, counted.tool], version="v1"))

    assert tool_messages(model.seen[-1]).keys() == {"ask", "c", "second"}
    assert turn.asked == ["ask", "ask"]
    assert counted.times == 3


# --- structured output ---


class Trip(BaseModel):
    """A trip."""

    city: str


async def test_structured_output(take: Any) -> None:
    """The answer in a schema comes after the page's; it is no call for a page."""

    def script(messages: list[BaseMessage]) -> AIMessage:
        if messages[-1].type == "human":
            return calling(call("ask", "ask"), call("count", "c"))
        return calling(call("Trip", "t", city="Bern"))

    counted = Counted()
    agent = create_agent(Streaming(script=script), [ASK, counted.tool], response_format=ToolStrategy(Trip))
    turn = await take(agent)

    state = await turn.page.command("state.get")
    assert turn.ended["event"] == "completed"
    assert turn.asked == ["ask"]
    assert counted.times == 1
    assert state["values"]["structured_response"] == {"city": "Bern"}
