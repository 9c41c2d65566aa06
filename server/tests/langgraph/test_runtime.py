from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from farside.core.model import failure, success
from farside.core.ports import Emit, NewCall, Opened
from farside.errors import FarsideError
from farside.langgraph import HeadlessTool, LangGraphRuntime, tool
from farside.langgraph.runtime import is_graph
from server.tests.langgraph.scripted import (
    FakeDesk,
    Streaming,
    Whole,
    answering,
    call,
    calling,
    drive,
    human,
    messages_of,
    of,
    once,
    start,
)

HIGH = {"type": "object", "properties": {"high": {"type": "boolean"}}, "required": ["high"]}


def geo(**more: Any) -> HeadlessTool:
    return tool(name="geo", description="Where the user is.", args_schema=HIGH, **more)


def charge(counter: list[str]) -> Any:
    @langchain_tool
    def charge(amount: int) -> str:
        """Charge the card."""
        counter.append("charged")
        return f"charged {amount}"

    return charge


async def test_a_run_pauses_and_goes_on(saver: Any) -> None:
    model = Streaming(script=once(call("geo", high=True)))
    runtime = LangGraphRuntime(
        create_agent(model, [geo(timeout=30, idempotent=True, title="Where")]), checkpointer=saver
    )

    emits, opened = await drive(runtime, start())

    (new,) = opened
    assert new == NewCall(new.interrupt_id, "tool", "call_1", "geo", {"high": True}, "Where", True, 30)
    assert of(emits, "tools") == [
        {"event": "tool-started", "tool_call_id": "call_1", "tool_name": "geo", "input": {"high": True}}
    ]

    emits, opened = await drive(runtime, answering(start(), (new, {"lat": 1})))

    assert not opened
    assert [data["event"] for data in of(emits, "tools")] == ["tool-finished"]
    assert [message["content"] for message in (await messages_of(runtime))[2:3]] == ['{"lat": 1}']
    assert (await messages_of(runtime))[-1]["content"] == [{"type": "text", "text": 'done: {"lat": 1} ', "index": 0}]


async def test_a_batch_is_opened_at_once_and_a_server_tool_in_it_runs_once(saver: Any) -> None:
    charged: list[str] = []
    calls = [call("geo", "a", high=True), call("charge", "b", amount=5), call("geo", "c", high=False)]
    runtime = LangGraphRuntime(
        create_agent(Streaming(script=once(*calls)), [geo(), charge(charged)]), checkpointer=saver
    )

    items = [item async for item in runtime.run(start(), FakeDesk())]

    assert [type(item) for item in items].count(Opened) == 1
    last = items[-1]
    assert isinstance(last, Opened), "pauses are reported last: only then are they on disk"
    assert {new.tool_call_id for new in last.calls} == {"a", "c"}
    by_id = {new.tool_call_id: new for new in last.calls}
    assert charged == ["charged"]

    emits, opened = await drive(runtime, answering(start(), (by_id["c"], "south"), (by_id["a"], "north")))

    assert not opened
    assert charged == ["charged"]
    contents = {m["tool_call_id"]: m["content"] for m in await messages_of(runtime) if m["type"] == "tool"}
    assert contents == {"a": "north", "b": "charged 5", "c": "south"}
    assert [data["event"] for data in of(emits, "tools")] == ["tool-finished", "tool-finished"]


async def test_answers_in_two_batches(saver: Any) -> None:
    calls = [call("geo", "a", high=True), call("geo", "b", high=False)]
    runtime = LangGraphRuntime(create_agent(Whole(script=once(*calls)), [geo()]), checkpointer=saver)
    _, opened = await drive(runtime, start())
    by_id = {new.tool_call_id: new for new in opened}

    _, opened = await drive(runtime, answering(start(), (by_id["b"], "second")))

    assert opened == [by_id["a"]], "the pause that is still open keeps its id"
    await drive(runtime, answering(start(), (by_id["a"], "first")))
    contents = {m["tool_call_id"]: m["content"] for m in await messages_of(runtime) if m["type"] == "tool"}
    assert contents == {"a": "first", "b": "second"}


async def test_failures_reach_the_model(saver: Any) -> None:
    model = Whole(script=once(call("geo", high=True)))
    runtime = LangGraphRuntime(create_agent(model, [geo()]), checkpointer=saver)
    _, (new,) = await drive(runtime, start())

    emits, _ = await drive(runtime, answering(start(), (new, failure("permission_denied", "The user said no."))))

    output = of(emits, "tools")[-1]["output"]
    assert (output["type"], output["status"]) == ("tool", "error")
    assert model.seen[-1][-1].content == "Error (permission_denied): The user said no."


async def test_the_same_call_id_in_the_next_step_is_a_new_call(saver: Any) -> None:
    def script(messages: list[Any]) -> AIMessage:
        return calling(call("geo", "call_1", high=True)) if len(messages) < 4 else AIMessage("enough")

    runtime = LangGraphRuntime(create_agent(Whole(script=script), [geo()]), checkpointer=saver)
    _, (first,) = await drive(runtime, start())

    emits, (second,) = await drive(runtime, answering(start(), (first, 1)))

    assert first.interrupt_id != second.interrupt_id
    assert [data["event"] for data in of(emits, "tools")] == ["tool-finished", "tool-started"]
    _, opened = await drive(runtime, answering(start(), (second, 2)))
    assert not opened
    assert [m["content"] for m in await messages_of(runtime) if m["type"] == "tool"] == ["1", "2"]


async def test_interrupts_one_after_the_other_in_one_node_have_ids_of_their_own(saver: Any) -> None:
    class State(TypedDict):
        said: list[Any]

    where = geo()

    def node(state: State) -> State:
        first = where.invoke(call("geo", "x", high=True))
        question = interrupt("Sure?")
        second = where.invoke(call("geo", "x", high=True))
        third = where.invoke(call("geo", "y", high=False))
        return {"said": [first.content, question, second.content, third.content]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    leg = start({"said": []})
    ids: list[str] = []
    _, opened = await drive(runtime, leg)
    for answer in ("one", {"sure": True}, "two", "three"):
        (new,) = opened
        ids.append(new.interrupt_id)
        _, opened = await drive(runtime, answering(leg, (new, answer)))

    assert not opened
    assert len(set(ids)) == 4
    state = await runtime.state("thread", _no_events)
    assert state.values == {"said": ["one", {"sure": True}, "two", "three"]}
    assert state.next == ()


@pytest.mark.parametrize("answer", [None, {}, {"a": 1}, [], "text", 0])
async def test_a_question_gets_the_plain_value(saver: Any, answer: Any) -> None:
    class State(TypedDict):
        said: Any

    def node(state: State) -> State:
        return {"said": [interrupt({"question": "why?", "when": float("nan")})]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    leg = start({"said": 0})

    _, (new,) = await drive(runtime, leg)

    assert new == NewCall(new.interrupt_id, "input", "", "", {"payload": {"question": "why?", "when": None}})
    await drive(runtime, answering(leg, (new, answer)))
    assert (await runtime.state("thread", _no_events)).values == {"said": [answer]}


async def test_a_pause_written_by_hand_gets_the_official_shape(saver: Any) -> None:
    class State(TypedDict):
        said: Any

    def node(state: State) -> State:
        answer = interrupt({"type": "tool", "tool_call": {"id": "c", "name": "geo", "args": {}}})
        return {"said": answer["c"]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    leg = start({"said": 0})
    _, (new,) = await drive(runtime, leg)
    assert (new.kind, new.name, new.timeout) == ("tool", "geo", None)

    await drive(runtime, answering(leg, (new, {"lat": 1})))

    assert (await runtime.state("thread", _no_events)).values == {"said": {"lat": 1}}


async def test_a_tool_called_by_hand_is_learned(saver: Any) -> None:
    def build() -> Any:
        tools = {"geo": geo(timeout=7)}

        async def node(state: MessagesState) -> Any:
            return {"messages": [await tools["geo"].ainvoke(call("geo", high=True))]}

        builder = StateGraph(MessagesState)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        return builder.compile()

    runtime = LangGraphRuntime(build(), checkpointer=saver)
    assert runtime.tool("geo") is None

    _, (new,) = await drive(runtime, start({"messages": [calling(call("geo", high=True))]}))

    assert new.timeout == 7
    declaration = runtime.tool("geo")
    assert declaration is not None
    assert declaration.check_result(success(1)) == success(1)


def test_tools_of_graphs_within_graphs_are_found() -> None:
    agent = create_agent(Whole(script=once()), [geo()], name="inner")
    builder = StateGraph(MessagesState)
    builder.add_node("inner", agent)
    builder.add_edge(START, "inner")

    runtime = LangGraphRuntime(builder.compile(), checkpointer=InMemorySaver())

    assert runtime.tool("geo") is not None
    assert runtime.tool("other") is None


async def test_a_tool_that_runs_again_on_resuming_is_started_once(saver: Any) -> None:
    inner = create_agent(Whole(script=once(call("geo", "inner", high=True))), [geo()])

    @langchain_tool
    async def ask_expert() -> str:
        """Ask the expert."""
        result = await inner.ainvoke({"messages": [HumanMessage("help")]})
        return str(result["messages"][-1].content)

    runtime = LangGraphRuntime(
        create_agent(Whole(script=once(call("ask_expert", "outer"))), [ask_expert]), checkpointer=saver
    )
    before, (new,) = await drive(runtime, start())
    after, _ = await drive(runtime, answering(start(), (new, "here")))

    started = [data["tool_call_id"] for data in of([*before, *after], "tools") if data["event"] == "tool-started"]
    assert started == ["outer", "inner"]
    assert [(data["event"], data["tool_call_id"]) for data in of(after, "tools")] == [
        ("tool-finished", "inner"),
        ("tool-finished", "outer"),
    ]


async def test_a_pause_in_a_graph_within_the_graph(saver: Any) -> None:
    agent = create_agent(Whole(script=once(call("geo", high=True))), [geo()], name="inner")
    builder = StateGraph(MessagesState)
    builder.add_node("inner", agent)
    builder.add_edge(START, "inner")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)

    emits, opened = await drive(runtime, start(), FakeDesk("values"))

    (new,) = opened
    assert new.tool_call_id == "call_1"
    inner = {emit.namespace for emit in emits if emit.method == "tools"}
    assert len(inner) == 1
    assert next(iter(inner))[0].startswith("inner:")
    lives = [emit for emit in emits if emit.method == "lifecycle"]
    assert {emit.namespace for emit in lives} == inner, "the root's lifecycle is the engine's"
    assert [emit.data["event"] for emit in lives] == ["started", "interrupted"]
    assert {emit.namespace for emit in emits if emit.method == "values"} == {(), *inner}
    emits, opened = await drive(runtime, answering(start(), (new, "here")))
    assert not opened
    assert [data["event"] for data in of(emits, "lifecycle")] == ["started", "completed"]
    assert (await messages_of(runtime))[-1]["content"] == "done: here"


async def test_a_pause_that_a_hand_off_has_overtaken_is_not_reported(saver: Any) -> None:
    @langchain_tool
    def hand_off(tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Let another agent go on."""
        told = [ToolMessage("handed off", tool_call_id=tool_call_id)]
        return Command(graph=Command.PARENT, goto="other", update={"messages": told})

    model = Whole(script=once(call("geo", "a", high=True), call("hand_off", "b")))
    builder = StateGraph(MessagesState)
    builder.add_node("agent", create_agent(model, [geo(), hand_off]))
    builder.add_node("other", lambda state: {"messages": [AIMessage("I am the other")]})
    builder.add_edge(START, "agent")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)

    _, opened = await drive(runtime, start())

    assert opened == [], "nobody would take the answer"
    assert (await messages_of(runtime))[-1]["content"] == "I am the other"


async def test_the_graphs_own_checkpointer_is_kept() -> None:
    own = InMemorySaver()
    graph = create_agent(Whole(script=once()), [geo()], checkpointer=own)

    runtime = LangGraphRuntime(graph, checkpointer=InMemorySaver())
    await drive(runtime, start())

    assert [checkpoint async for checkpoint in own.alist({"configurable": {"thread_id": "thread"}})]


def test_a_graph_without_a_checkpointer_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a checkpointer"):
        LangGraphRuntime(create_agent(Whole(script=once()), [geo()]))


def test_compiled_graphs_are_recognised() -> None:
    assert is_graph(create_agent(Whole(script=once()), []))
    assert not is_graph(StateGraph(MessagesState))
    assert not is_graph(once)


async def test_a_client_does_not_choose_the_thread(saver: Any) -> None:
    runtime = LangGraphRuntime(create_agent(Whole(script=once()), [geo()]), checkpointer=saver)
    config = {
        "configurable": {
            "thread_id": "theirs",
            "checkpoint_id": "x",
            "checkpoint_ns": "y",
            "__pregel_send": 1,
            "run_id": "r",
        },
        "metadata": {"thread_id": "theirs", "run_id": "r", "farside_run_id": "theirs"},
        "recursion_limit": 10,
    }

    for run_id in ("run-1", "run-2"):
        await drive(runtime, start(human(message_id=run_id), run_id=run_id, config=config))

    assert len(await messages_of(runtime)) == 4, (
        "a repeated run_id in the config must not make LangGraph drop the input"
    )
    assert await messages_of(runtime, "theirs") == []


async def test_configurable_reaches_the_graph(saver: Any) -> None:
    seen: list[Any] = []

    def node(state: MessagesState, config: RunnableConfig) -> Any:
        seen.append((config.get("configurable", {})["user"], config.get("metadata", {})["tenant"]))
        interrupt("go on?")
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    leg = start(config={"configurable": {"user": "u"}, "metadata": {"tenant": "t"}})

    _, (new,) = await drive(runtime, leg)
    await drive(runtime, answering(leg, (new, True)))

    assert seen == [("u", "t")] * 2


@pytest.mark.parametrize(
    "config", [{"recursion_limit": "9"}, {"recursion_limit": 0}, {"configurable": []}, {"metadata": 1}]
)
async def test_a_malformed_config_is_refused(config: dict[str, Any]) -> None:
    runtime = LangGraphRuntime(create_agent(Whole(script=once()), []), checkpointer=InMemorySaver())
    with pytest.raises(FarsideError) as caught:
        await drive(runtime, start(config=config))
    assert caught.value.code == "invalid_argument"


async def test_what_the_graph_raises_comes_out(saver: Any) -> None:
    @langchain_tool
    def broken() -> str:
        """Break."""
        raise LookupError("inside")

    model = Whole(script=once(call("broken")))
    runtime = LangGraphRuntime(create_agent(model, [broken]), checkpointer=saver)
    seen: list[Any] = []

    async def watch() -> None:
        async for item in runtime.run(start(), FakeDesk()):
            seen.append(item)

    with pytest.raises(LookupError, match="inside"):
        await watch()
    assert of(seen, "tools")[-1] == {
        "event": "tool-error",
        "tool_call_id": "call_1",
        "message": "the tool failed",
        "code": "failed",
    }


async def test_the_recursion_limit_comes_out(saver: Any) -> None:
    def script(messages: list[Any]) -> AIMessage:
        return calling(call("charge", amount=1))

    runtime = LangGraphRuntime(create_agent(Whole(script=script), [charge([])]), checkpointer=saver)
    with pytest.raises(GraphRecursionError):
        await drive(runtime, start(config={"recursion_limit": 4}))


async def test_a_resume_without_answers_is_refused(saver: Any) -> None:
    runtime = LangGraphRuntime(create_agent(Whole(script=once(call("geo", high=True))), [geo()]), checkpointer=saver)
    await drive(runtime, start())
    with pytest.raises(ValueError, match="expected the answers"):
        await drive(runtime, answering(start()))


async def test_cancelling_stops_the_graph(saver: Any) -> None:
    entered = asyncio.Event()
    left: list[str] = []

    @langchain_tool
    async def slow() -> str:
        """Take for ever."""
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.append("left")
        return "never"

    runtime = LangGraphRuntime(create_agent(Whole(script=once(call("slow"))), [slow]), checkpointer=saver)
    before = asyncio.all_tasks()
    task = asyncio.create_task(drive(runtime, start()))
    await entered.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert left == ["left"]
    await _only_writes_remain(asyncio.all_tasks() - before)


async def test_closing_the_generator_stops_the_graph(saver: Any) -> None:
    left: list[str] = []

    @langchain_tool
    async def slow() -> str:
        """Take for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            left.append("left")
        return "never"

    runtime = LangGraphRuntime(create_agent(Whole(script=once(call("slow"))), [slow]), checkpointer=saver)
    before = asyncio.all_tasks()
    items = runtime.run(start(), FakeDesk())
    async for item in items:
        if isinstance(item, Emit) and item.method == "tools":
            break

    await items.aclose()

    assert left == ["left"]
    await _only_writes_remain(asyncio.all_tasks() - before)


async def test_state_of_an_unknown_thread_is_empty(saver: Any) -> None:
    runtime = LangGraphRuntime(create_agent(Whole(script=once()), []), checkpointer=saver)
    state = await runtime.state("nobody", _no_events)
    assert (state.values, state.checkpoint_id, state.next) == ({}, None, ())


async def test_state_has_the_messages_of_the_official_server(saver: Any) -> None:
    runtime = LangGraphRuntime(create_agent(Whole(script=once(call("geo", high=True))), [geo()]), checkpointer=saver)
    _, (new,) = await drive(runtime, start())
    paused = await runtime.state("thread", _no_events)
    await drive(runtime, answering(start(), (new, {"image": b"1234"})))

    state = await runtime.state("thread", _no_events)

    assert paused.next == ("tools",)
    assert state.next == ()
    assert state.checkpoint_id not in (None, paused.checkpoint_id)
    asked, called, told, _ = state.values["messages"]
    assert asked == {
        "content": "hi",
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "human",
        "name": None,
        "id": "human-1",
    }
    assert called["tool_calls"] == [{"name": "geo", "args": {"high": True}, "id": "call_1", "type": "tool_call"}]
    assert {"invalid_tool_calls", "usage_metadata"} <= set(called)
    assert (told["type"], told["name"], told["tool_call_id"], told["status"]) == ("tool", "geo", "call_1", "success")
    assert told["content"] == '{"image": "<4 bytes>"}'
    assert told["artifact"] == {"image": b"1234"}


async def test_a_graph_whose_state_is_no_object(saver: Any) -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("node", lambda state: {})
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    await drive(runtime, start())
    assert [message["content"] for message in await messages_of(runtime)] == ["hi"]


async def _no_events() -> list[Any]:
    return []


async def _only_writes_remain(tasks: set[asyncio.Task[Any]]) -> None:
    """LangGraph notes the cancellation in the checkpointer and does not wait for that; nothing else may go on."""
    for task in tasks:
        assert "aput_writes" in repr(task)
        await task
