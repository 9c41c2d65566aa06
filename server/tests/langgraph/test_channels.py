"""The channels of a graph's steps, of the graphs within it, and of its authors: what they carry, and for whom."""

from __future__ import annotations

import operator
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from itertools import pairwise, product
from typing import Annotated, Any, cast

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.stream import StreamChannel, StreamTransformer
from langgraph.types import Send

from farside.core.ports import Emit
from farside.langgraph import LangGraphRuntime, ToolNode, tool
from farside.langgraph.events import Events
from farside.testing import MemoryLink
from server.tests.langgraph.scripted import (
    FakeDesk,
    Streaming,
    answering,
    call,
    drive,
    fits_the_wire,
    hand_built,
    of,
    once,
    start,
)

STEPS = ("values", "updates", "checkpoints", "tasks")
WHERE = tool(name="where", args_schema={"properties": {"city": {"type": "string"}}, "required": ["city"]})


def served(graph: Any) -> LangGraphRuntime:
    """The runtime of a graph that is not compiled yet."""
    return LangGraphRuntime(graph.compile(checkpointer=InMemorySaver()))


def speaking() -> LangGraphRuntime:
    """A graph that is one agent, which asks a page and then speaks."""
    model = Streaming(script=once(call("where", city="Oslo")))
    return LangGraphRuntime(create_agent(model, [WHERE], name="guide"), checkpointer=InMemorySaver())


def failing(state: MessagesState) -> Any:
    raise RuntimeError("postgres://user:password@host")


async def shown_until_failure(runtime: LangGraphRuntime, desk: FakeDesk) -> list[Emit]:
    emits: list[Emit] = []
    with pytest.raises(RuntimeError):
        async for item in runtime.run(start(), desk):
            assert isinstance(item, Emit)
            emits.append(item)
    return emits


@pytest.fixture
async def open_plain() -> AsyncGenerator[Any]:
    """Opens a plain connection to "thread-1"; it is closed at the end."""
    async with AsyncExitStack() as opened:

        async def open_one(app: Any) -> MemoryLink:
            link = await MemoryLink(app, "thread-1", None).open()
            opened.push_async_callback(link.close)
            return link

        yield open_one


# --- the steps of a graph ---


@pytest.mark.parametrize("channel", STEPS)
async def test_a_channel_is_made_for_who_listens(channel: str) -> None:
    """Nothing of the others is made, and nothing of it is stored."""
    emits, (new,) = await drive(runtime := speaking(), start(), FakeDesk(channel))
    more, _ = await drive(runtime, answering(start(), (new, "north")), FakeDesk(channel))

    steps = [emit for emit in [*emits, *more] if emit.method in STEPS]
    assert {emit.method for emit in steps} == {channel}
    assert not any(emit.durable for emit in steps)
    fits_the_wire(steps)


async def test_nothing_of_a_step_is_made_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for name in ("state", "updates", "checkpoint", "task"):
        monkeypatch.setattr(f"farside.langgraph.steps.{name}", lambda data, name=name: made.append(name))
    emits, _ = await drive(speaking(), start())
    assert (made, [emit for emit in emits if emit.method in STEPS]) == ([], [])


async def test_only_who_asks_for_states_is_sent_them(make_app: Any, open_page: Any) -> None:
    """A page of ours does not: beside one that does it still hears nothing of a run's steps."""
    app = make_app(create_agent(Streaming(script=once(call("where", city="Oslo"))), [WHERE]))
    page = await open_page(app, tools={"where": lambda city: "north"})
    other = await open_page(app)
    await other.command("subscription.subscribe", channels=list(STEPS))
    run_id = await page.submit("hi")
    await page.ended(run_id)
    await other.ended(run_id)

    assert {event["method"] for event in page.events}.isdisjoint(STEPS)
    assert {event["method"] for event in other.events} >= set(STEPS)


async def test_updates_are_what_each_node_wrote() -> None:
    class State(MessagesState):
        seen: Annotated[list[str], operator.add]

    graph: Any = StateGraph(State)
    graph.add_node("fan", lambda state: {"seen": ["fan"]})
    graph.add_node("worker", lambda given: {"seen": [given["n"]]})
    graph.add_node("silent", lambda state: None)
    graph.add_edge(START, "fan")
    graph.add_conditional_edges("fan", lambda state: [Send("worker", {"n": n}) for n in ("a", "b")])
    graph.add_edge("worker", "silent")
    emits, _ = await drive(served(graph), start(), FakeDesk("updates"))

    assert sorted(map(str, of(emits, "updates"))) == sorted(
        map(
            str,
            [
                {"node": "fan", "values": {"seen": ["fan"]}},
                {"node": "worker", "values": {"seen": ["a"]}},
                {"node": "worker", "values": {"seen": ["b"]}},
                {"node": "silent", "values": {}},
            ],
        )
    )


async def test_a_pause_is_no_update() -> None:
    emits, _ = await drive(speaking(), start(), FakeDesk("updates"))
    assert [data["node"] for data in of(emits, "updates")] == ["model"]


async def test_checkpoints_are_those_that_were_stored() -> None:
    """Each with its parent, so that clients can draw the tree; and never the state in it."""
    saver = InMemorySaver()
    graph = create_agent(Streaming(script=once(call("where", city="Oslo"))), [WHERE], checkpointer=saver)
    runtime = LangGraphRuntime(graph)
    emits, (new,) = await drive(runtime, start(), FakeDesk("checkpoints"))
    more, _ = await drive(runtime, answering(start(), (new, "north")), FakeDesk("checkpoints"))

    shown = of([*emits, *more], "checkpoints")
    saved: list[Any] = [each async for each in saver.alist({"configurable": {"thread_id": "thread"}})]
    parents = [{"parent_id": each.parent_config["configurable"]["checkpoint_id"]} for each in saved[:-1]]
    stored = [
        {"id": each.checkpoint["id"], **parent, "step": each.metadata["step"], "source": each.metadata["source"]}
        for each, parent in zip(saved, [*parents, {}], strict=True)
    ]
    assert len(stored) == 5
    assert sorted({str(each) for each in shown}) == sorted(str(each) for each in stored)
    assert of(more, "checkpoints")[0] == of(emits, "checkpoints")[-1], "a run that goes on begins with where it stands"


async def test_a_checkpoint_comes_before_its_state() -> None:
    """The official clients take a state's messages to be of the checkpoint that came before."""
    inner = StateGraph(MessagesState)
    inner.add_node("speak", lambda state: {"messages": [AIMessage("hello", id="ai-1")]})
    inner.add_edge(START, "speak")
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner.compile())
    graph.add_edge(START, "inner")
    emits, _ = await drive(served(graph), start(), FakeDesk("values", "checkpoints"))

    steps = [emit for emit in emits if emit.method in STEPS]
    assert {emit.method for emit in steps} == {"values", "checkpoints"}
    for before, emit in pairwise(steps):
        if emit.method == "values":
            assert (before.method, before.namespace) == ("checkpoints", emit.namespace)
    ids = [[message["id"] for message in emit.data["messages"]] for emit in steps if emit.method == "values"]
    assert ids == [["human-1"], ["human-1"], ["human-1", "ai-1"], ["human-1", "ai-1"]]


@pytest.mark.parametrize("then", ["updates", "checkpoints", "the end"])
def test_a_state_without_a_checkpoint_is_shown(then: str) -> None:
    """It waits for nothing but its own checkpoint."""
    events = Events(lambda method: method in ("values", "checkpoints"))

    def see(method: str, data: Any, *namespace: str) -> list[Emit]:
        params = {"namespace": list(namespace), "data": data}
        return list(events.emits(cast("Any", {"method": method, "params": params})))

    assert see("values", {"n": 1}, "a:1") == []
    if then == "updates":
        emits = see("updates", {})
    elif then == "checkpoints":
        config = {"configurable": {"checkpoint_id": "c"}}
        emits = see("checkpoints", {"config": config, "metadata": {"step": 1, "source": "loop"}})
        assert emits.pop().method == "checkpoints"
    else:
        emits = list(events.withdrawn(lambda *_: True))
    assert emits == [Emit("values", {"n": 1}, ("a:1",), durable=False)]


async def test_tasks_begin_and_end() -> None:
    emits, (new,) = await drive(speaking(), start(), FakeDesk("tasks"))
    model, model_ended, tools, tools_ended = of(emits, "tasks")

    assert (model["name"], model["triggers"], model["metadata"]) == (
        "model",
        ["branch:to:model"],
        {"lc_agent_name": "guide"},
    )
    assert [message["content"] for message in model["input"]["messages"]] == ["hi"]
    assert (model_ended["id"], model_ended["error"], model_ended["interrupts"]) == (model["id"], None, [])
    assert [message["type"] for message in model_ended["result"]["messages"]] == ["ai"]
    assert tools_ended["id"] == tools["id"]
    value = {"type": "tool", "tool_call": {"id": "call_1", "name": "where", "args": {"city": "Oslo"}}}
    assert tools_ended["interrupts"] == [{"id": new.interrupt_id, "value": value}]


async def test_what_a_task_raised_is_not_shown() -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("node", failing)
    graph.add_edge(START, "node")
    emits = await shown_until_failure(served(graph), FakeDesk(*STEPS))
    assert [data["error"] for data in of(emits, "tasks") if "result" in data] == ["the task failed"]
    assert "password" not in str(emits)


async def test_what_else_a_run_knows_is_not_shown() -> None:
    leg = start(config={"metadata": {"secret": "password"}, "configurable": {"key": "password"}})
    emits, _ = await drive(speaking(), leg, FakeDesk(*STEPS))
    assert of(emits, "tasks")
    assert "password" not in str(emits)


async def test_a_state_that_is_no_object() -> None:
    schema: Any = Annotated[list[str], operator.add]
    graph = StateGraph(schema)
    graph.add_node("node", lambda state: ["b"])
    graph.add_edge(START, "node")
    runtime = served(graph)
    emits, _ = await drive(runtime, start(["a"]), FakeDesk(*STEPS))
    fits_the_wire(emits)
    assert of(emits, "values") == [{"__root__": ["a"]}, {"__root__": ["a", "b"]}]
    assert of(emits, "updates") == [{"node": "node", "values": {"__root__": ["b"]}}]


# --- the authors' own ---


async def test_what_is_written_may_have_a_name() -> None:
    written = [
        {"name": "progress", "payload": {"done": 1}},
        {"name": "progress"},
        {"name": "", "payload": 1},
        {"name": 1, "payload": 1},
        {"name": "progress", "payload": 1, "more": 1},
        "progress",
    ]

    def node(state: MessagesState) -> Any:
        for each in written:
            get_stream_writer()(each)
        return {}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    emits, _ = await drive(served(graph), start())
    fits_the_wire(emits)
    assert of(emits, "custom") == [written[0], *({"payload": each} for each in written[1:])]


async def test_the_channels_of_transformers() -> None:
    """What a transformer pushes on a channel that has a name goes to ``custom:<name>``."""

    class Counting(StreamTransformer):
        required_stream_modes = ("updates",)

        def __init__(self, scope: tuple[str, ...] = ()) -> None:
            super().__init__(scope)
            self._count: StreamChannel[Any] = StreamChannel("count")
            self._quiet: StreamChannel[Any] = StreamChannel()

        def init(self) -> dict[str, Any]:
            return {"count": self._count, "quiet": self._quiet}

        def process(self, event: Any) -> bool:
            if event["method"] == "updates":
                self._count.push({"nodes": set(event["params"]["data"])})
                self._quiet.push("for this process alone")
            return True

    graph = StateGraph(MessagesState)
    graph.add_node("node", lambda state: {})
    graph.add_edge(START, "node")
    compiled = graph.compile(checkpointer=InMemorySaver(), transformers=[Counting])
    emits, _ = await drive(LangGraphRuntime(compiled), start())
    fits_the_wire(emits)
    assert of(emits, "custom") == [{"name": "count", "payload": {"nodes": ["node"]}}]


# --- graphs within the graph ---


def delegating(build: str, *calls: str) -> Any:
    """An agent whose tool asks another agent, which asks a page; once for each of these calls."""
    helper = create_agent(Streaming(script=once(call("where", city="Oslo"))), [WHERE], name="helper")

    @tool
    async def ask_helper(q: str) -> str:
        """Ask the helper."""
        await helper.ainvoke({"messages": [HumanMessage(q)]})
        return q

    model = Streaming(script=once(*(call("ask_helper", call_id, q=call_id) for call_id in calls)))
    if build == "agent":
        return create_agent(model, [ask_helper])

    async def think(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return hand_built(think, ToolNode([ask_helper])).compile()


def lives(emits: list[Emit]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for emit in emits:
        if emit.method == "lifecycle":
            found.setdefault(emit.namespace, []).append(emit.data)
    return found


@pytest.mark.parametrize("build", ["agent", "tool node"])
async def test_an_agent_within_a_tool(build: str) -> None:
    """Its life, with the call that caused it; its pause is a pause, and it begins again with the answer."""
    runtime = LangGraphRuntime(delegating(build, "one", "two"), checkpointer=InMemorySaver())
    emits, opened = await drive(runtime, start(), FakeDesk(*STEPS))
    while opened:
        more, opened = await drive(runtime, answering(start(), *((new, "north") for new in opened)), FakeDesk(*STEPS))
        emits += more

    fits_the_wire(emits)
    agents = lives(emits)
    assert len(agents) == 2
    for life, call_id in zip(agents.values(), ("one", "two"), strict=True):
        cause = {"type": "toolCall", "tool_call_id": call_id}
        began = {"event": "started", "graph_name": "helper", "cause": cause}
        assert life == [began, {"event": "interrupted"}, began, {"event": "completed"}]
    for namespace in agents:
        within = [emit for emit in emits if emit.namespace == namespace]
        assert {emit.method for emit in within} == {*STEPS, "messages", "tools", "lifecycle"}
        tools = [emit.data["event"] for emit in within if emit.method == "tools"]
        assert tools == ["tool-started", "tool-finished"], "once, although the call began again"
    outer = [(e.data["tool_call_id"], e.data["event"]) for e in emits if e.method == "tools" and not e.namespace]
    assert sorted(outer) == sorted(product(("one", "two"), ("tool-started", "tool-finished")))


async def test_a_pause_within_is_asked_at_the_root(make_app: Any, open_plain: Any) -> None:
    """Whatever the depth of the graph that paused, and of the subscription; the answer names it by id."""
    link = await open_plain(make_app(delegating("agent", "one")))
    await link.send({"id": 1, "method": "subscription.subscribe", "params": {"channels": ["input"], "depth": 0}})
    await link.send({"id": 2, "method": "subscription.subscribe", "params": {"channels": ["tools"]}})
    given = {"messages": [{"type": "human", "content": "hi", "id": "human-1"}]}
    await link.send({"id": 3, "method": "run.start", "params": {"assistant_id": "assistant", "input": given}})
    namespaces: dict[str, int] = {}
    while "input.requested" not in namespaces:
        message = await link.receive()
        if message["type"] == "event":
            namespaces[message["method"]] = len(message["params"]["namespace"])
    assert namespaces == {"tools": 1, "input.requested": 0}


async def test_a_graph_as_a_node_has_no_cause() -> None:
    inner = StateGraph(MessagesState)
    inner.add_node("deeper", create_agent(Streaming(script=lambda _: AIMessage("hello")), [], name="speaker"))
    inner.add_edge(START, "deeper")
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner.compile())
    graph.add_edge(START, "inner")
    graph.add_edge("inner", END)
    emits, _ = await drive(served(graph), start())

    outer, inmost = lives(emits).items()
    assert [segment.partition(":")[0] for segment in inmost[0]] == ["inner", "deeper"]
    assert inmost[0][:1] == outer[0]
    assert outer[1] == [{"event": "started", "graph_name": "inner"}, {"event": "completed"}]
    assert inmost[1] == [{"event": "started", "graph_name": "speaker"}, {"event": "completed"}]


async def test_a_graph_within_that_fails() -> None:
    inner = StateGraph(MessagesState)
    inner.add_node("node", failing)
    inner.add_edge(START, "node")
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner.compile())
    graph.add_edge(START, "inner")
    emits = await shown_until_failure(served(graph), FakeDesk())
    [life] = lives(emits).values()
    assert life == [{"event": "started", "graph_name": "inner"}, {"event": "failed"}]
