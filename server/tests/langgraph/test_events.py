from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolCallTransformer, ToolNode
from langgraph.stream import CustomTransformer

from farside.core.ports import Emit
from farside.errors import ToolError
from farside.langgraph import LangGraphRuntime, tool
from farside.langgraph.events import Events
from farside.langgraph.whole import message_events
from server.tests.langgraph.scripted import (
    FakeDesk,
    Streaming,
    Whole,
    answering,
    call,
    drive,
    fits_the_wire,
    messages_of,
    of,
    once,
    start,
)

WHERE = tool(name="where", args_schema={"properties": {"city": {"type": "string"}}, "required": ["city"]})


def graph_of(**nodes: Any) -> Any:
    """A graph whose nodes run one after the other."""
    builder = StateGraph(MessagesState)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return builder.compile(checkpointer=InMemorySaver())


async def test_a_streamed_message() -> None:
    runtime = LangGraphRuntime(
        create_agent(Streaming(script=once(call("where", city="Oslo"))), [WHERE]), checkpointer=InMemorySaver()
    )
    emits, (new,) = await drive(runtime, start())
    more, _ = await drive(runtime, answering(start(), (new, "north")))

    fits_the_wire([*emits, *more])
    asked, told = of(emits, "messages"), of(more, "messages")
    (_, called, _, said) = await messages_of(runtime)
    assert {data["message_id"] for data in asked} == {called["id"]}
    assert {data["message_id"] for data in told} == {said["id"]}
    assert [(data["event"], emit.durable) for data, emit in zip(told, _shown(more), strict=True)] == [
        ("message-start", True),
        ("content-block-start", True),
        ("content-block-delta", False),
        ("content-block-delta", False),
        ("content-block-finish", True),
        ("message-finish", True),
    ]
    assert told[0] == {"event": "message-start", "role": "ai", "id": said["id"], "message_id": said["id"]}
    assert told[4]["content"] == {"type": "text", "text": "done: north "}
    assert asked[3]["content"] == {"type": "tool_call", "id": "call_1", "name": "where", "args": {"city": "Oslo"}}


async def test_a_whole_message_is_split() -> None:
    reply = AIMessage(
        [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Yes."}],
        tool_calls=[call("where", city="Oslo")],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    )
    runtime = LangGraphRuntime(create_agent(Whole(script=lambda _: reply), [WHERE]), checkpointer=InMemorySaver())

    emits, _ = await drive(runtime, start())

    fits_the_wire(emits)
    shown = of(emits, "messages")
    message_id = (await messages_of(runtime))[1]["id"]
    assert {data.pop("message_id") for data in shown} == {message_id}
    assert shown == [
        {"event": "message-start", "role": "ai", "id": message_id},
        {"event": "content-block-start", "index": 0, "content": {"type": "reasoning", "reasoning": ""}},
        {"event": "content-block-delta", "index": 0, "delta": {"type": "reasoning-delta", "reasoning": "Hm."}},
        {"event": "content-block-finish", "index": 0, "content": {"type": "reasoning", "reasoning": "Hm."}},
        {"event": "content-block-start", "index": 1, "content": {"type": "text", "text": ""}},
        {"event": "content-block-delta", "index": 1, "delta": {"type": "text-delta", "text": "Yes."}},
        {"event": "content-block-finish", "index": 1, "content": {"type": "text", "text": "Yes."}},
        {
            "event": "content-block-start",
            "index": 2,
            "content": {"type": "tool_call", "id": "call_1", "name": "where", "args": {}},
        },
        {
            "event": "content-block-finish",
            "index": 2,
            "content": {"type": "tool_call", "id": "call_1", "name": "where", "args": {"city": "Oslo"}},
        },
        {"event": "message-finish", "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}},
    ]


def test_calls_whose_arguments_are_no_json_are_shown() -> None:
    broken: Any = {"type": "invalid_tool_call", "id": "c", "name": "where", "args": "{", "error": "truncated"}
    shown = list(message_events(AIMessage("", id="m", invalid_tool_calls=[broken])))
    assert [data["content"] for data in shown if data["event"] == "content-block-finish"] == [broken]


class Word(Streaming):
    """Streams one word after the other, when its turn comes."""

    words: list[str]
    turn: Any
    others: Any

    async def _astream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        for word in self.words:
            await self.turn.acquire()
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
            self.others.release()


async def test_parallel_streams_are_told_apart() -> None:
    one, two = asyncio.Semaphore(1), asyncio.Semaphore(0)
    first = Word(script=None, words=["a", "b", "c"], turn=one, others=two)
    second = Word(script=None, words=["x", "y", "z"], turn=two, others=one)
    builder = StateGraph(MessagesState)
    for name, model in (("first", first), ("second", second)):

        async def node(state: MessagesState, model: Any = model) -> Any:
            return {"messages": [await model.ainvoke(state["messages"])]}

        builder.add_node(name, node)
        builder.add_edge(START, name)
    runtime = LangGraphRuntime(builder.compile(), checkpointer=InMemorySaver())

    emits, _ = await drive(runtime, start())

    texts: dict[str, str] = defaultdict(str)
    order: list[str] = []
    for data in of(emits, "messages"):
        if data["event"] == "content-block-delta":
            texts[data["message_id"]] += data["delta"]["text"]
            order.append(data["message_id"])
    assert sorted(texts.values()) == ["abc", "xyz"]
    assert len({*order[:2]}) == 2, "the streams were interleaved"
    assert set(texts) == {m["id"] for m in (await messages_of(runtime))[1:]}


@pytest.mark.parametrize("kind", [Streaming, Whole])
async def test_a_message_is_shown_once(kind: Any) -> None:
    model = kind(script=lambda _: AIMessage("hello"))

    def speak(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def repeat(state: MessagesState) -> Any:
        return {"messages": state["messages"]}

    def change(state: MessagesState) -> Any:
        return {"messages": [RemoveMessage(id="human-1"), HumanMessage("a summary")]}

    runtime = LangGraphRuntime(graph_of(speak=speak, repeat=repeat, change=change))

    emits, _ = await drive(runtime, start())

    assert [d["event"] for d in of(emits, "messages")].count("message-start") == 1
    assert {d.get("role", "ai") for d in of(emits, "messages")} == {"ai"}, "human messages are the engine's to announce"


async def test_a_message_that_no_model_made() -> None:
    runtime = LangGraphRuntime(graph_of(speak=lambda state: {"messages": [AIMessage("canned", id="m-1")]}))
    emits, _ = await drive(runtime, start())
    assert [d["message_id"] for d in of(emits, "messages")] == ["m-1"] * 5


def test_a_stream_of_a_tool_message_is_not_shown() -> None:
    events = Events(lambda method: True)

    def see(event: str, **more: Any) -> list[Emit]:
        data = ({"event": event, **more}, {"run_id": "r"})
        return list(events.emits(cast("Any", {"method": "messages", "params": {"namespace": [], "data": data}})))

    assert see("message-start", role="tool", id="t") == []
    assert see("content-block-delta", index=0, delta={}) == []
    assert see("message-finish") == []
    assert see("message-start", role="ai")[0].data["id"] == "lc_run--r", "an id is made up when there is none"


def test_a_start_is_shown_once() -> None:
    events = Events(lambda method: True, ["resumed"])

    def see(event: str, call_id: str, **more: Any) -> list[str]:
        data = {"event": event, "tool_call_id": call_id, "tool_name": "t", **more}
        params = {"namespace": ["a"], "data": data}
        return [emit.data["event"] for emit in events.emits(cast("Any", {"method": "tools", "params": params}))]

    assert see("tool-started", "new") == ["tool-started"]
    assert see("tool-started", "new") == [], "the same call again"
    assert see("tool-error", "new", message="x") == ["tool-error"]
    assert see("tool-started", "new") == ["tool-started"], "another attempt, after the first has ended"
    assert see("tool-started", "resumed") == [], "it was shown before the pause"
    assert see("tool-finished", "resumed", output=1) == ["tool-finished"]
    assert see("tool-started", "resumed") == ["tool-started"], "a later call with the same id"
    assert see("tool-of-the-future", "new") == []


def test_the_life_of_inner_graphs_is_shown() -> None:
    events = Events(lambda method: True)

    def see(**data: Any) -> list[Emit]:
        return list(events.emits(cast("Any", {"method": "lifecycle", "params": {"namespace": [], "data": data}})))

    cause = {"type": "toolCall", "tool_call_id": "c"}
    started = see(event="started", namespace=["a:1"], graph_name="a", trigger_call_id="1", cause=cause)
    assert started == [Emit("lifecycle", {"event": "started", "graph_name": "a", "cause": cause}, ("a:1",))]
    failed = see(event="failed", namespace=["a:1"], error="postgres://user:password@host")
    assert failed == [Emit("lifecycle", {"event": "failed"}, ("a:1",))], "an exception's text is not for browsers"
    assert see(event="completed", namespace=["a:1"]) == [], "it has ended already"
    see(event="started", namespace=["a:2"])
    assert see(event="drained", namespace=["a:2"])[0].data == {"event": "interrupted"}
    assert see(event="started", namespace=[]) == [], "the root's is the engine's"


def test_unknown_methods_are_not_shown() -> None:
    events = Events(lambda method: True)
    for method in ("tasks", "debug", "of_the_future"):
        event: Any = {"method": method, "params": {"namespace": [], "data": {}}}
        assert list(events.emits(event)) == []


async def test_values_only_for_those_who_want_them() -> None:
    for wanted, expected in ((FakeDesk("values"), True), (FakeDesk(), False)):
        runtime = LangGraphRuntime(
            create_agent(Whole(script=once(call("where", city="Oslo"))), [WHERE]), checkpointer=InMemorySaver()
        )
        emits, _ = await drive(runtime, start(), wanted)
        values = [emit for emit in emits if emit.method == "values"]
        assert bool(values) == expected
        assert not any(emit.durable for emit in values)
        shapes = [[m["type"] for m in emit.data["messages"]] for emit in values]
        assert shapes == ([["human"], ["human", "ai"]] if expected else []), "a pause does not repeat the state"


async def test_custom_events_and_deltas_of_tools() -> None:
    @langchain_tool
    def work(runtime: ToolRuntime) -> str:
        """Work."""
        get_stream_writer()({"done": {1, 2}})
        for piece in ("half", {"done": {1}}, b"half"):
            runtime.emit_output_delta(piece)
        return "all"

    runtime = LangGraphRuntime(create_agent(Whole(script=once(call("work"))), [work]), checkpointer=InMemorySaver())

    emits, _ = await drive(runtime, start())

    fits_the_wire(emits)
    assert of(emits, "custom") == [{"payload": {"done": [1, 2]}}]
    deltas = [emit for emit in emits if emit.data.get("event") == "tool-output-delta"]
    head = {"event": "tool-output-delta", "tool_call_id": "call_1"}
    texts = ["half", '{"done":[1]}', '{"$bytes":"aGFsZg"}']
    assert deltas == [Emit("tools", {**head, "delta": text}, durable=False) for text in texts], "all are texts"
    output = of(emits, "tools")[-1]["output"]
    assert list(output) == [
        "content",
        "additional_kwargs",
        "response_metadata",
        "type",
        "name",
        "id",
        "tool_call_id",
        "artifact",
        "status",
    ]


async def test_the_output_leaves_out_bytes_that_the_result_has_brought() -> None:
    runtime = LangGraphRuntime(
        create_agent(Whole(script=once(call("where", city="Oslo"))), [WHERE]), checkpointer=InMemorySaver()
    )
    _, (new,) = await drive(runtime, start())
    emits, _ = await drive(runtime, answering(start(), (new, {"image": b"12"})))
    output = of(emits, "tools")[-1]["output"]
    assert (output["content"], output["artifact"]) == ('{"image": "<2 bytes>"}', None)


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (ToolError("unsupported", "no camera"), "no camera", "unsupported"),
        (RuntimeError("postgres://user:password@host"), "the tool failed", "failed"),
        (RuntimeError("unknown_code: text"), "the tool failed", "failed"),
    ],
)
async def test_only_our_errors_are_told(
    error: Exception, message: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    @langchain_tool
    def broken() -> str:
        """Break."""
        raise error

    graph = graph_of(tools=ToolNode([broken], handle_tool_errors=True))
    runtime = LangGraphRuntime(graph)
    with caplog.at_level(logging.WARNING):
        emits, _ = await drive(runtime, start({"messages": [AIMessage("", tool_calls=[call("broken")])]}))
    fits_the_wire(emits)
    assert of(emits, "tools")[-1] == {
        "event": "tool-error",
        "tool_call_id": "call_1",
        "message": message,
        "code": code,
    }
    assert (str(error) in caplog.text) == (code == "failed")


async def test_transformers_of_the_graph_stay() -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([WHERE]))
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=InMemorySaver(), transformers=[ToolCallTransformer, CustomTransformer])
    emits, opened = await drive(
        LangGraphRuntime(graph), start({"messages": [AIMessage("", tool_calls=[call("where", city="x")])]})
    )
    assert len(opened) == 1
    assert [data["event"] for data in of(emits, "tools")] == ["tool-started"]


async def test_strange_values_do_not_end_a_run() -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("no")

    class State(MessagesState):
        odd: Any

    builder = StateGraph(State)
    builder.add_node("node", lambda state: {"odd": [1, {2: float("nan")}, 2**60]})
    builder.add_edge(START, "node")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=InMemorySaver())
    emits, _ = await drive(runtime, start(), FakeDesk("values"))
    assert emits[-1].data["odd"] == [1, {"2": None}, str(2**60)]
    event: Any = {"method": "custom", "params": {"namespace": ["a"], "data": Odd()}}
    assert list(Events(lambda method: True).emits(event)) == [Emit("custom", {"payload": "<Odd>"}, ("a",))]


def _shown(emits: list[Emit]) -> list[Emit]:
    return [emit for emit in emits if emit.method == "messages"]


class Pieces(Streaming):
    """Streams these pieces of a message."""

    pieces: list[AIMessageChunk]

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for piece in self.pieces:
            yield ChatGenerationChunk(message=piece)


async def streamed(*pieces: AIMessageChunk) -> list[dict[str, Any]]:
    """What is shown of a message that comes in these pieces, without what tells whose it is."""
    model = Pieces(script=None, pieces=list(pieces))

    async def speak(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    emits, _ = await drive(LangGraphRuntime(graph_of(speak=speak)), start())
    fits_the_wire(emits)
    return [{key: value for key, value in data.items() if key != "message_id"} for data in of(emits, "messages")]


async def test_what_streams_is_appended() -> None:
    """Reasoning, text and the arguments of calls come in pieces, and whole when their block ends."""

    def piece(**block: Any) -> AIMessageChunk:
        return AIMessageChunk(content=[block], response_metadata={"output_version": "v1"})

    shown = await streamed(
        piece(type="reasoning", reasoning="Hm", index=0),
        piece(type="reasoning", reasoning=".", index=0),
        piece(type="text", text="He", index=1),
        piece(type="text", text="re", index=1),
        piece(type="tool_call_chunk", id="c", name="where", args='{"city":', index=2),
        piece(type="tool_call_chunk", id=None, name=None, args=' "Oslo"}', index=2),
    )
    deltas = [(data["index"], data["delta"]) for data in shown if data["event"] == "content-block-delta"]
    assert deltas == [
        (0, {"type": "reasoning-delta", "reasoning": "Hm"}),
        (0, {"type": "reasoning-delta", "reasoning": "."}),
        (1, {"type": "text-delta", "text": "He"}),
        (1, {"type": "text-delta", "text": "re"}),
        (2, {"type": "tool-call-delta", "args": '{"city":'}),
        (2, {"type": "tool-call-delta", "args": ' "Oslo"}'}),
    ]
    ended = {data["index"]: data["content"] for data in shown if data["event"] == "content-block-finish"}
    assert (ended[0]["reasoning"], ended[1]["text"], ended[2]["args"]) == ("Hm.", "Here", {"city": "Oslo"})
    starts = [data["content"]["type"] for data in shown if data["event"] == "content-block-start"]
    assert starts == ["reasoning", "text", "tool_call_chunk"]


async def test_what_streams_of_a_providers_own_tool() -> None:
    def piece(**block: Any) -> AIMessageChunk:
        return AIMessageChunk(content=[block], response_metadata={"output_version": "v1"})

    shown = await streamed(
        piece(type="server_tool_call_chunk", id="s", name="search", args='{"q":', index=0),
        piece(type="server_tool_call_chunk", args=' "x"}', index=0),
    )
    begun, ended = (data["content"] for data in shown if "content" in data)
    assert begun == {"type": "server_tool_call_chunk", "id": "s", "name": "search", "args": "", "index": 0}
    assert (ended["type"], ended["args"]) == ("server_tool_call", {"q": "x"})


@pytest.mark.parametrize(
    "delta",
    [
        {"type": "data-delta", "data": "AAAA", "encoding": "base64"},
        {"type": "block-delta", "fields": {"type": "image", "mime_type": "image/png"}},
    ],
    ids=lambda delta: delta["type"],
)
def test_the_other_deltas_pass(delta: dict[str, Any]) -> None:
    """What providers' packages send, although LangChain's own models do not."""
    events = Events(lambda method: True)
    emits: list[Emit] = []
    start = {"event": "message-start", "role": "ai", "id": "m"}
    for data in (start, {"event": "content-block-delta", "index": 0, "delta": delta}):
        params = {"namespace": [], "data": (data, {"run_id": "r"})}
        emits += events.emits(cast("Any", {"method": "messages", "params": params}))
    fits_the_wire(emits)
    assert emits[-1].data == {"event": "content-block-delta", "index": 0, "delta": delta, "message_id": "m"}


@pytest.mark.parametrize("kind", [Streaming, Whole])
async def test_the_tokens_of_each_message(kind: Any) -> None:
    """They are those of the message, not of the run so far; a message whose model does not say has none."""
    counts = iter([{"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, None])

    def script(messages: list[Any]) -> AIMessage:
        return AIMessage("word", usage_metadata=cast("Any", next(counts)))

    model = kind(script=script)
    turn = {"one": lambda s: {"messages": [model.invoke("hi")]}, "two": lambda s: {"messages": [model.invoke("hi")]}}
    emits, _ = await drive(LangGraphRuntime(graph_of(**turn)), start())
    told = [data.get("usage") for data in of(emits, "messages") if data["event"] == "message-finish"]
    assert told == [{"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, None]


async def test_the_tokens_of_a_stream_are_added_up() -> None:
    pieces = [
        AIMessageChunk(content=text, usage_metadata={"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1})
        for text, n in (("a", 5), ("b", 0))
    ]
    shown = await streamed(*pieces)
    assert shown[-1]["usage"] == {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    assert [data["event"] for data in shown].count("message-finish") == 1
