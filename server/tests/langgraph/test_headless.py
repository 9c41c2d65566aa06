"""A headless tool in LangChain's and LangGraph's own hands, without farside's server."""

from __future__ import annotations

import asyncio
import operator
import random
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from farside.core.model import failure, success
from farside.langgraph import HeadlessTool, tool
from farside.langgraph.answers import pack
from server.tests.langgraph.scripted import Whole, call, calling, once

CONFIG: Any = {"configurable": {"thread_id": "thread"}}


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    city: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    radius: int = 5


class RequestDict(TypedDict):
    city: str


class Position(BaseModel):
    latitude: float = Field(ge=-90)


class Messages(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]


JSON_SCHEMA = {"properties": {"city": {"type": "string", "minLength": 1}}, "required": ["city"]}


def graph_of(*tools: HeadlessTool, node: Any = None) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("tools", node or ToolNode(list(tools)))
    builder.add_edge(START, "tools")
    return builder.compile(checkpointer=InMemorySaver())


def ask(where: HeadlessTool, **args: Any) -> tuple[Any, Any]:
    """Call the tool in a fresh graph: the pause's payload, None when there is none, and the tool message otherwise."""
    graph = graph_of(where)
    result = graph.invoke({"messages": [calling(call("where", **args))]}, CONFIG)
    interrupts = graph.get_state(CONFIG).interrupts
    return (interrupts[0].value if interrupts else None), (None if interrupts else result["messages"][-1])


@pytest.mark.parametrize(
    ("schema", "args", "parsed"),
    [
        (Request, {"city": "  Oslo "}, {"city": "Oslo", "radius": 5}),
        (Request, {"city": "Oslo", "radius": "7"}, {"city": "Oslo", "radius": 7}),
        (RequestDict, {"city": "Oslo"}, {"city": "Oslo"}),
        (JSON_SCHEMA, {"city": "Oslo"}, {"city": "Oslo"}),
        (None, {}, {}),
    ],
)
def test_the_payload_is_exactly_the_call(schema: Any, args: Any, parsed: Any) -> None:
    payload, _ = ask(tool(name="where", args_schema=schema), **args)
    assert payload == {"type": "tool", "tool_call": {"id": "call_1", "name": "where", "args": parsed}}


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (Request, {}),
        (Request, {"city": 3}),
        (Request, {"city": " "}),
        (Request, {"city": "Oslo", "extra": 1}),
        (RequestDict, {}),
        (RequestDict, {"city": 3}),
        (JSON_SCHEMA, {}),
        (JSON_SCHEMA, {"city": ""}),
        (JSON_SCHEMA, {"city": "Oslo", "extra": 1}),
        (JSON_SCHEMA, {"cit": "Osl"}),
        (None, {"city": "Oslo"}),
        ({"properties": {"n": {"type": "integer"}}}, {"n": 2**60}),
        ({"properties": {"n": {"type": "number"}}}, {"n": float("nan")}),
    ],
)
def test_bad_arguments_are_told_to_the_model_and_nobody_else(schema: Any, args: Any) -> None:
    payload, message = ask(tool(name="where", args_schema=schema), **args)
    assert payload is None
    assert isinstance(message, ToolMessage)
    assert message.status == "error"
    assert str(message.content).startswith("Error (invalid_args): where: ")


@pytest.mark.parametrize(
    ("resume", "content", "status"),
    [
        ({"call_1": {"lat": 1}}, '{"lat": 1}', "success"),
        ({"call_1": "Zürich"}, "Zürich", "success"),
        ({"call_1": None}, "null", "success"),
        ({"call_1": {"error": "boom"}}, "Error (failed): boom", "error"),
        ({"call_1": {"error": "boom", "more": 1}}, '{"error": "boom", "more": 1}', "success"),
        ({"call_1": {"error": 3}}, '{"error": 3}', "success"),
        ({}, "null", "success"),
        ("bare", "bare", "success"),
        (["ä", 1], '["ä", 1]', "success"),
        ({"error": "bare"}, '{"error": "bare"}', "success"),
        (pack("call_1", success({"error": "a value"})), '{"error": "a value"}', "success"),
        (pack("call_1", failure("timed_out", "late")), "Error (timed_out): late", "error"),
        ({"__farside__": None}, "Error (failed): the answer could not be read", "error"),
    ],
)
@pytest.mark.parametrize("how", ["sync", "async"])
async def test_answers_of_every_shape(resume: Any, content: str, status: str, how: str) -> None:
    graph = create_agent(Whole(script=once(call("where"))), [tool(name="where")], checkpointer=InMemorySaver())
    given: Any = {"messages": [("user", "hi")]}
    if how == "sync":
        graph.invoke(given, CONFIG)
        (pause,) = graph.get_state(CONFIG).interrupts
        result = graph.invoke(Command(resume={pause.id: resume}), CONFIG)
    else:
        await graph.ainvoke(given, CONFIG)
        (pause,) = (await graph.aget_state(CONFIG)).interrupts
        result = await graph.ainvoke(Command(resume={pause.id: resume}), CONFIG)
    message = result["messages"][-2]
    assert (message.content, message.status, message.name) == (content, status, "where")
    assert message.artifact is None


def test_bytes_go_beside_the_content() -> None:
    graph = graph_of(tool(name="where"))
    graph.invoke({"messages": [calling(call("where"))]}, CONFIG)
    value = {"image": b"12345", "all": [b"", {"deep": b"1"}]}
    message = graph.invoke(Command(resume={"call_1": value}), CONFIG)["messages"][-1]
    assert message.content == '{"image": "<5 bytes>", "all": ["<0 bytes>", {"deep": "<1 bytes>"}]}'
    assert message.artifact == value


@pytest.mark.parametrize("schema", [Position, {"type": "object", "required": ["latitude"]}])
def test_the_result_is_checked_before_the_model_sees_it(schema: Any) -> None:
    graph = graph_of(tool(name="where", result_schema=schema))
    graph.invoke({"messages": [calling(call("where"))]}, CONFIG)
    message = graph.invoke(Command(resume={"call_1": {"lat": 1}}), CONFIG)["messages"][-1]
    assert message.status == "error"
    assert message.content.startswith("Error (invalid_result): where: ")


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
@pytest.mark.parametrize("form", ["state", "list", "calls", "send"])
async def test_all_inputs_of_a_tool_node(form: str, how: str) -> None:
    where = tool(name="where", args_schema=JSON_SCHEMA)

    builder: Any = StateGraph(Messages)
    node = ToolNode([where])
    one = call("where", "one", city="Oslo")

    def listed(state: Messages) -> Any:
        return {"messages": node.invoke(state["messages"])}

    async def alisted(state: Messages) -> Any:
        return {"messages": await node.ainvoke(state["messages"])}

    def route(state: Messages) -> Any:
        context = {"__type": "tool_call_with_context", "tool_call": one, "state": state}
        return [Send("tools", context if form == "send" else [one])]

    builder.add_node("tools", (listed if how == "invoke" else alisted) if form == "list" else node)
    if form in ("state", "list"):
        builder.add_edge(START, "tools")
    else:
        builder.add_conditional_edges(START, route, ["tools"])
    graph: Any = builder.compile(checkpointer=InMemorySaver())

    async def run(given: Any) -> Any:
        return graph.invoke(given, CONFIG) if how == "invoke" else await graph.ainvoke(given, CONFIG)

    await run({"messages": [calling(one)]})
    (pause,) = (await graph.aget_state(CONFIG)).interrupts
    assert pause.value == {"type": "tool", "tool_call": {"id": "one", "name": "where", "args": {"city": "Oslo"}}}
    result = await run(Command(resume={pause.id: {"one": "north"}}))
    assert (result["messages"][-1].content, result["messages"][-1].tool_call_id) == ("north", "one")


@pytest.mark.parametrize("how", ["sync", "async"])
async def test_answers_of_calls_in_one_task_reach_their_own_call(how: str) -> None:
    """The stock node runs all calls of a message in one task, in any order; LangGraph's answers go by position."""
    chance = random.Random(7)
    ids = ["a", "b", "c", "d"]

    async def later(request: Any, execute: Any) -> Any:
        for _ in range(chance.randrange(8)):
            await asyncio.sleep(0)
        return await execute(request)

    node = ToolNode([tool(name="where")], awrap_tool_call=later if how == "async" else None)
    for trial in range(40):
        graph = graph_of(node=node)
        given: Any = {"messages": [calling(*(call("where", call_id) for call_id in ids))]}
        asked: list[str] = []
        result: Any = None
        for _ in range(len(ids) + 1):
            result = graph.invoke(given, CONFIG) if how == "sync" else await graph.ainvoke(given, CONFIG)
            interrupts = (await graph.aget_state(CONFIG)).interrupts
            if not interrupts:
                break
            (pause,) = interrupts
            call_id = pause.value["tool_call"]["id"]
            asked.append(call_id)
            given = Command(resume={pause.id: pack(call_id, success(f"for {call_id}"))})
        assert sorted(asked) == ids, f"trial {trial}: each call is asked for once"
        contents = {m.tool_call_id: m.content for m in result["messages"][1:]}
        assert contents == {call_id: f"for {call_id}" for call_id in ids}


async def test_two_calls_with_one_id_in_one_message() -> None:
    model = Whole(script=once(call("where", "same"), call("where", "same")))
    graph: Any = create_agent(model, [tool(name="where")], checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "hi")]}, CONFIG)
    first, second = graph.get_state(CONFIG).interrupts
    assert first.id != second.id
    for pause, answer in ((second, "2"), (first, "1")):
        graph.invoke(Command(resume={pause.id: pack("same", success(answer))}), CONFIG)
    result = graph.get_state(CONFIG)
    assert [m.content for m in result.values["messages"] if m.type == "tool"] == ["1", "2"]


@pytest.mark.parametrize("call_id", [None, ""])
@pytest.mark.parametrize("how", ["sync", "async"])
async def test_a_call_without_an_id_is_an_error_at_once(call_id: Any, how: str) -> None:
    graph = graph_of(tool(name="where"))
    given = {"messages": [calling({"type": "tool_call", "name": "where", "args": {}, "id": call_id})]}
    with pytest.raises(ValueError, match="expected a tool call with an id"):
        graph.invoke(given, CONFIG) if how == "sync" else await graph.ainvoke(given, CONFIG)
    assert not graph.get_state(CONFIG).interrupts


def test_wrong_uses_say_what_to_do() -> None:
    where = tool(name="where")
    with pytest.raises(ValueError, match="with an id"):
        where.invoke({"city": "Oslo"})
    with pytest.raises(ValueError, match="with an id"):
        where.invoke("Oslo")
    with pytest.raises(RuntimeError, match="node of a graph"):
        where.invoke(call("where"))
    wrong: Any = {"type": "tool_call", "id": "1", "name": "where", "args": {}}
    with pytest.raises(ValueError, match="as a dict"):
        where.run("Oslo", tool_call_id=wrong["id"])


class Errors(BaseCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[BaseException] = []

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> Any:
        self.seen.append(error)


async def test_failures_are_no_errors_for_callbacks_and_retries() -> None:
    errors = Errors()
    model = Whole(script=once(call("where", "a"), call("where", "b", city=3)))
    agent: Any = create_agent(
        model,
        [tool(name="where")],
        middleware=[ToolRetryMiddleware(max_retries=3, initial_delay=0)],
        checkpointer=InMemorySaver(),
    )
    config: Any = {**CONFIG, "callbacks": [errors]}
    await agent.ainvoke({"messages": [("user", "hi")]}, config)
    (pause,) = (await agent.aget_state(CONFIG)).interrupts
    errors.seen.clear()  # LangChain reports a pause to callbacks as the exception that it is

    result = await agent.ainvoke(Command(resume={pause.id: pack("a", failure("failed", "boom"))}), config)

    assert errors.seen == []
    assert [m.status for m in result["messages"] if m.type == "tool"] == ["error", "error"]
    assert not (await agent.aget_state(CONFIG)).next


async def test_middleware_may_call_it_with_other_arguments() -> None:
    where = tool(name="where", args_schema=JSON_SCHEMA)

    async def elsewhere(request: Any, execute: Any) -> Any:
        return await execute(request.override(tool_call={**request.tool_call, "args": {"city": "Bergen"}}))

    graph = graph_of(node=ToolNode([where], awrap_tool_call=elsewhere))
    await graph.ainvoke({"messages": [calling(call("where", city="Oslo"))]}, CONFIG)
    (pause,) = (await graph.aget_state(CONFIG)).interrupts
    assert pause.value["tool_call"]["args"] == {"city": "Bergen"}
