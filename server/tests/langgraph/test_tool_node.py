"""Our ``ToolNode``: what LangGraph's gives, and beside a pause what LangGraph's does not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolRuntime
from langgraph.prebuilt import ToolNode as StockToolNode
from langgraph.prebuilt import tools_condition as stock_tools_condition
from langgraph.types import Command, Send

from farside.langgraph import LangGraphRuntime, ToolNode, tool, tools_condition
from server.tests.langgraph.scripted import (
    Whole,
    answering,
    call,
    calling,
    drive,
    hand_built,
    messages_of,
    of,
    once,
    start,
)

# --- what it has in common with LangGraph's ---


@langchain_tool
def double(n: int) -> int:
    """Double it."""
    return 2 * n


@langchain_tool(response_format="content_and_artifact")
def chart(n: int) -> tuple[str, bytes]:
    """Draw it."""
    return "a chart", bytes([n])


@langchain_tool
def count(n: int, state: Annotated[Any, InjectedState]) -> str:
    """Count what was said."""
    messages = state if isinstance(state, list) else state["messages"] if isinstance(state, dict) else state.messages
    return f"{len(messages)} messages, the last asks for {len(messages[-1].tool_calls)}"


@langchain_tool
def about(n: int, runtime: ToolRuntime) -> str:
    """Tell about the call."""
    return f"{runtime.tool_call_id} {runtime.context} {runtime.store is not None}"


@langchain_tool
def fail(n: int) -> str:
    """Fail."""
    raise ValueError(f"no {n}")


@langchain_tool
def update(n: int, runtime: ToolRuntime) -> Command[Any]:
    """Update the state."""
    said = ToolMessage("updated", tool_call_id=runtime.tool_call_id)
    return Command(update=[said] if isinstance(runtime.state, list) else {"messages": [said], "extra": n})


@langchain_tool
def hand_over(n: int) -> Command[Any]:
    """Send something to the parent."""
    return Command(graph=Command.PARENT, goto=[Send("elsewhere", n)])


TOOLS = [double, chart, count, about, fail, update, hand_over]
MIXES = {
    "strings": ["double", "double"],
    "artifacts": ["chart", "double"],
    "errors": ["double", "fail", "unknown"],
    "bad arguments": ["double", "bad"],
    "commands": ["update", "double", "update"],
    "commands to the parent": ["hand_over", "double", "hand_over"],
    "runtime": ["about", "about"],
    "one": ["double"],
    "none": [],
}


@dataclass
class Held:
    """A state that is an object."""

    messages: list[AnyMessage]


def asked(names: list[str]) -> list[AnyMessage]:
    made = [
        call("double", f"c{i}", n="many") if name == "bad" else call(name, f"c{i}", n=i) for i, name in enumerate(names)
    ]
    return [HumanMessage("go"), calling(*made)]


KINDS: dict[str, Callable[[list[AnyMessage]], Any]] = {
    "dict": lambda messages: {"messages": messages, "extra": 0},
    "list": lambda messages: messages,
    "object": Held,
    "calls": lambda messages: messages[-1].tool_calls,  # pyright: ignore[reportAttributeAccessIssue]
    "call with its context": lambda messages: {
        "__type": "tool_call_with_context",
        "tool_call": messages[-1].tool_calls[0],  # pyright: ignore[reportAttributeAccessIssue]
        "state": {"messages": messages},
    },
}


async def output_of(node: Any, given: Any, how: str) -> Any:
    """What the node gives within a graph, or the exception that it raises."""
    got: list[Any] = []

    def sync(_state: Any) -> Any:
        try:
            got.append(node.invoke(given))
        except Exception as error:
            got.append((type(error), str(error)))

    async def async_(_state: Any) -> Any:
        try:
            got.append(await node.ainvoke(given))
        except Exception as error:
            got.append((type(error), str(error)))

    if how == "without a graph":
        sync(None)
        return got[0]
    graph: Any = StateGraph(MessagesState, context_schema=str)  # pyright: ignore[reportArgumentType]
    graph.add_node("node", sync if how == "sync" else async_)
    graph.add_edge(START, "node")
    await graph.compile().ainvoke({"messages": [HumanMessage("go")]}, context="the context")
    return got[0]


def wrap(request: Any, handler: Any) -> Any:
    given = handler(request)
    return given.model_copy(update={"content": f"<{given.content}>"}) if isinstance(given, ToolMessage) else given


OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "all errors": {"handle_tool_errors": True},
    "these errors": {"handle_tool_errors": (ValueError,)},
    "a wrapper": {"handle_tool_errors": "it failed", "wrap_tool_call": wrap},
}


@pytest.mark.parametrize("how", ["sync", "async", "without a graph"])
@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("kind", KINDS)
async def test_it_gives_what_langgraphs_gives(kind: str, mix: str, how: str) -> None:
    if how == "without a graph" and mix == "runtime":
        return  # neither has a runtime then
    names = MIXES[mix]
    if not names and kind in ("calls", "call with its context"):
        return  # neither takes no calls
    for options in OPTIONS.values():
        given = KINDS[kind](asked(names))
        expected = await output_of(StockToolNode(TOOLS, **options), given, how)
        assert await output_of(ToolNode(TOOLS, **options), given, how) == expected


def test_it_takes_the_same_arguments() -> None:
    theirs, ours = (inspect.signature(each.__init__).parameters for each in (StockToolNode, ToolNode))
    assert set(theirs) - set(ours) <= {"name", "tags", "handle_tool_errors", "wrap_tool_call", "awrap_tool_call"}
    node = ToolNode([double], name="other", tags=["a"], messages_key="said")
    assert (node.name, list(node.tools_by_name)) == ("other", ["double"])


async def test_its_messages_may_have_another_key() -> None:
    given = {"said": asked(["double", "double"])}
    expected = await output_of(StockToolNode(TOOLS, messages_key="said"), given, "async")
    assert await output_of(ToolNode(TOOLS, messages_key="said"), given, "async") == expected


# --- beside a pause ---


class Charging:
    """A server tool that counts how often it ran."""

    def __init__(self) -> None:
        self.times = 0

    def tool(self) -> BaseTool:
        @langchain_tool
        def charge() -> str:
            """Charge the card."""
            self.times += 1
            return "charged"

        return charge


def agent(charging: Charging, saver: Any, *, is_async: bool, is_stock: bool = False) -> Any:
    """A hand-built graph: a batch of a server tool and two browser tools."""

    model = Whole(script=once(call("pay", "a"), call("charge", "b"), call("look", "c")))
    node = (StockToolNode if is_stock else ToolNode)([tool(name="pay"), charging.tool(), tool(name="look")])

    def think(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    async def athink(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    condition = tools_condition if is_stock else stock_tools_condition
    return hand_built(athink if is_async else think, node, condition).compile(checkpointer=saver)


def ids(snapshot: Any) -> dict[str, str]:
    return {pause.value["tool_call"]["id"]: pause.id for pause in snapshot.interrupts}


CONFIG: Any = {"configurable": {"thread_id": "t"}}


@pytest.mark.parametrize("is_stock", [False, True], ids=["our node", "our condition"])
@pytest.mark.parametrize("order", ["ac", "ca"])
async def test_all_pauses_appear_at_once_and_each_answer_lands_where_it_belongs(
    saver: Any, order: str, is_stock: bool
) -> None:
    charging = Charging()
    graph = agent(charging, saver, is_async=True, is_stock=is_stock)
    await graph.ainvoke({"messages": [HumanMessage("go")]}, CONFIG, durability="sync")
    first = ids(await graph.aget_state(CONFIG))
    assert set(first) == {"a", "c"}
    await graph.ainvoke(Command(resume={first[order[0]]: f"for {order[0]}"}), CONFIG, durability="sync")
    assert ids(await graph.aget_state(CONFIG)) == {order[1]: first[order[1]]}
    # An answer that comes twice changes nothing.
    await graph.ainvoke(Command(resume={first[order[0]]: "again"}), CONFIG, durability="sync")
    assert ids(await graph.aget_state(CONFIG)) == {order[1]: first[order[1]]}
    result = await graph.ainvoke(Command(resume={first[order[1]]: f"for {order[1]}"}), CONFIG, durability="sync")

    assert [m.content for m in result["messages"] if m.type == "tool"] == ["for a", "charged", "for c"]
    assert charging.times == 1


def test_synchronous_graphs_pause_too() -> None:
    for _ in range(20):  # threads run in any order
        charging = Charging()
        graph = agent(charging, InMemorySaver(), is_async=False)
        graph.invoke({"messages": [HumanMessage("go")]}, CONFIG)
        first = ids(graph.get_state(CONFIG))
        assert set(first) == {"a", "c"}
        graph.invoke(Command(resume={first["c"]: "for c"}), CONFIG)
        assert ids(graph.get_state(CONFIG)) == {"a": first["a"]}
        result = graph.invoke(Command(resume={first["a"]: "for a"}), CONFIG)
        assert [m.content for m in result["messages"] if m.type == "tool"] == ["for a", "charged", "for c"]
        assert charging.times == 1


async def test_calls_run_at_the_same_time() -> None:
    both = asyncio.Barrier(2)

    @langchain_tool
    async def meet(n: int) -> str:
        """Meet the other."""
        await both.wait()
        return "met"

    output = await output_of(ToolNode([meet]), {"messages": asked(["meet", "meet"])}, "async")
    assert [message.content for message in output["messages"]] == ["met", "met"]


async def test_an_error_that_nobody_handles_ends_the_run_although_others_pause() -> None:
    node = ToolNode([tool(name="pay"), fail], handle_tool_errors=False)
    messages = [HumanMessage("go"), AIMessage("", tool_calls=[call("pay", "a"), call("fail", "b", n=1)])]
    assert await output_of(node, {"messages": messages}, "async") == (ValueError, "no 1")


async def test_served_its_tools_are_told_of_once(saver: Any) -> None:
    charging = Charging()
    runtime = LangGraphRuntime(agent(charging, saver, is_async=True))
    emits, opened = await drive(runtime, start())
    assert sorted(new.tool_call_id for new in opened) == ["a", "c"]
    more, _ = await drive(runtime, answering(start(), *((new, f"for {new.tool_call_id}") for new in opened)))

    told = [data for data in of([*emits, *more], "tools") if data["event"] == "tool-started"]
    assert sorted(data["tool_call_id"] for data in told) == ["a", "b", "c"]
    contents = [message["content"] for message in await messages_of(runtime) if message["type"] == "tool"]
    assert contents == ["for a", "charged", "for c"]
    assert charging.times == 1


ASKED = asked(["double", "fail"])


@pytest.mark.parametrize("state", [ASKED, {"messages": ASKED}, Held(ASKED)], ids=["list", "dict", "object"])
def test_the_condition_leads_to_the_tools_once_for_each_call(state: Any) -> None:
    sends = tools_condition(state, node="there")
    assert sends == [Send("there", [call("double", "c0", n=0)]), Send("there", [call("fail", "c1", n=1)])]


def test_the_condition_leads_to_the_end_otherwise() -> None:
    assert tools_condition({"messages": [AIMessage("done")]}) == END
    with pytest.raises(ValueError, match="messages"):
        tools_condition({"messages": []})
