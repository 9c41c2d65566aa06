from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any
from unittest.mock import AsyncMock

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, hook_config
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from typing_extensions import TypedDict

from farside.core.model import failure, success
from farside.core.ports import Emit
from farside.langgraph import LangGraphRuntime, tool
from server.tests.langgraph.scripted import (
    FakeDesk,
    Streaming,
    Whole,
    answering,
    call,
    calling,
    check_history,
    drive,
    human,
    messages_of,
    once,
    settled,
    start,
)

WHERE = tool(name="where")


def charge(counter: list[str]) -> Any:
    @langchain_tool
    def charge() -> str:
        """Charge the card."""
        counter.append("charged")
        return "charged"

    return charge


class Slow:
    """A tool that never ends, and whether it has begun."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()

    def tool(self) -> Any:
        @langchain_tool
        async def slow() -> str:
            """Take for ever."""
            self.entered.set()
            await asyncio.Event().wait()
            return "never"

        return slow


async def abandoned(runtime: LangGraphRuntime, **more: Any) -> list[dict[str, Any]]:
    """Abandon the run, check that nothing is under way, and return the messages."""
    await runtime.abandon("thread", "run-1", "the user spoke", **more)
    state = await runtime.state("thread", _no_events)
    assert state.next == ()
    return state.values["messages"]


async def speak_on(runtime: LangGraphRuntime, model: Whole) -> list[str]:
    """A new run after an abandoned one; the model refuses a broken history. Returns the types it saw."""
    before = len(model.seen)
    _, opened = await drive(runtime, start(human("and now?", "human-2"), run_id="run-2"))
    assert not opened
    assert len(model.seen) == before + 1
    return [message.type for message in model.seen[-1]]


async def test_open_calls_are_cancelled_and_finished_siblings_kept(saver: Any) -> None:
    charged: list[str] = []
    model = Streaming(script=once(call("where", "a"), call("charge", "b"), call("where", "c")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE, charge(charged)]), checkpointer=saver)
    _, opened = await drive(runtime, start())
    assert len(opened) == 2

    messages = await abandoned(runtime)

    contents = {m["tool_call_id"]: (m["content"], m["status"]) for m in messages if m["type"] == "tool"}
    cancelled = ("Error (cancelled): the user spoke", "error")
    assert contents == {"a": cancelled, "b": ("charged", "success"), "c": cancelled}
    assert len(model.seen) == 1, "the model does not run"
    assert charged == ["charged"]
    assert await speak_on(runtime, model) == ["human", "ai", "tool", "tool", "tool", "human"]
    assert charged == ["charged"]


async def test_settled_answers_are_kept(saver: Any) -> None:
    model = Whole(script=once(call("where", "a"), call("where", "b")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    _, opened = await drive(runtime, start())
    by_id = {new.tool_call_id: new for new in opened}
    answers = {
        by_id["a"].interrupt_id: settled(by_id["a"], success({"lat": 1})),
        by_id["b"].interrupt_id: settled(by_id["b"], failure("dismissed", "closed")),
    }

    messages = await abandoned(runtime, answers=answers)

    assert [m["content"] for m in messages if m["type"] == "tool"] == ['{"lat": 1}', "Error (dismissed): closed"]
    await speak_on(runtime, model)


async def test_a_leg_that_was_killed_in_the_middle_of_its_tools(saver: Any) -> None:
    charged: list[str] = []
    slow = Slow()
    model = Streaming(script=once(call("slow", "a"), call("charge", "b"), call("where", "c")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE, charge(charged), slow.tool()]), checkpointer=saver)
    finished = asyncio.Event()

    async def watch() -> None:
        async for item in runtime.run(start(), FakeDesk()):
            if isinstance(item, Emit) and item.data["event"] == "tool-finished":
                finished.set()

    leg = asyncio.create_task(watch())
    await slow.entered.wait()
    await finished.wait()
    leg.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leg

    messages = await abandoned(runtime)

    assert sorted(m["tool_call_id"] for m in messages if m["type"] == "tool") == ["a", "b", "c"]
    assert len(model.seen) == 1
    await speak_on(runtime, model)
    assert charged == ["charged"]


async def test_a_leg_that_was_killed_while_the_model_spoke(saver: Any) -> None:
    entered = asyncio.Event()

    class Stuck(Whole):
        async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            if not entered.is_set():
                entered.set()
                await asyncio.Event().wait()
            return self._generate(messages)

    model = Stuck(script=once())
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    leg = asyncio.create_task(drive(runtime, start()))
    await entered.wait()
    leg.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leg

    assert [m["type"] for m in await abandoned(runtime)] == ["human"]
    assert await speak_on(runtime, model) == ["human", "human"]


async def test_a_run_that_failed_in_a_tool(saver: Any) -> None:
    @langchain_tool
    def broken() -> str:
        """Break."""
        raise LookupError("inside")

    model = Whole(script=once(call("broken", "a"), call("where", "b")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE, broken]), checkpointer=saver)
    with pytest.raises(LookupError):
        await drive(runtime, start())

    messages = await abandoned(runtime)

    assert sorted(m["tool_call_id"] for m in messages if m["type"] == "tool") == ["a", "b"]
    await speak_on(runtime, model)


async def test_a_node_that_takes_all_calls_at_once(saver: Any) -> None:
    """The stock node given the whole state: one task for all calls, whose server tools must not run again."""
    charged: list[str] = []
    model = Whole(script=once(call("where", "a"), call("charge", "b"), call("where", "c")))

    def answer(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("model", answer)
    builder.add_node("tools", ToolNode([WHERE, charge(charged)]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    _, (new,) = await drive(runtime, start())

    messages = await abandoned(runtime, answers={new.interrupt_id: settled(new, success("north"))})

    contents = {m["tool_call_id"]: m["content"] for m in messages if m["type"] == "tool"}
    cancelled = "Error (cancelled): the user spoke"
    assert contents == {"a": cancelled, "b": cancelled, "c": cancelled} | {new.tool_call_id: "north"}
    await speak_on(runtime, model)
    assert len(charged) <= 1, "the node's own task goes on for a while after a sibling paused; nothing begins it again"


async def test_a_question_of_a_middleware_is_dropped(saver: Any) -> None:
    charged: list[str] = []
    model = Whole(script=once(call("charge", "a")))
    runtime = LangGraphRuntime(
        create_agent(model, [charge(charged)], middleware=[HumanInTheLoopMiddleware({"charge": True})]),
        checkpointer=saver,
    )
    _, (new,) = await drive(runtime, start())
    assert new.kind == "input"

    messages = await abandoned(runtime)

    assert [m["content"] for m in messages if m["type"] == "tool"] == ["Error (cancelled): the user spoke"]
    assert charged == []
    await speak_on(runtime, model)
    assert charged == []


async def test_a_pause_in_a_graph_within_the_graph(saver: Any) -> None:
    model = Whole(script=once(call("where", "a")))
    builder = StateGraph(MessagesState)
    builder.add_node("inner", create_agent(model, [WHERE], name="inner"))
    builder.add_edge(START, "inner")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    await drive(runtime, start())

    assert [m["type"] for m in await abandoned(runtime)] == ["human"], "the inner graph had given nothing back yet"
    assert len(model.seen) == 1
    await drive(runtime, start(human("and now?", "human-2"), run_id="run-2"))


async def test_a_pause_in_a_graph_within_the_graph_whose_history_lasts(saver: Any) -> None:
    model = Whole(script=once(call("where", "a")))
    inner = create_agent(model, [WHERE], name="inner", checkpointer=True)

    class Outer(TypedDict):
        messages: list[AnyMessage]

    builder = StateGraph(Outer)
    builder.add_node("inner", inner)
    builder.add_edge(START, "inner")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    await drive(runtime, start())

    await abandoned(runtime)

    _, opened = await drive(runtime, start(human("and now?", "human-2"), run_id="run-2"))
    assert not opened
    assert [message.type for message in model.seen[-1]] == ["human", "ai", "tool", "human"]


async def test_an_agent_called_by_a_tool(saver: Any) -> None:
    inner_model = Whole(script=once(call("where", "inner-1")))
    inner = create_agent(inner_model, [WHERE])

    @langchain_tool
    async def ask_expert() -> str:
        """Ask the expert."""
        result = await inner.ainvoke({"messages": [HumanMessage("help")]})
        return str(result["messages"][-1].content)

    model = Whole(script=once(call("ask_expert", "outer-1")))
    runtime = LangGraphRuntime(create_agent(model, [ask_expert]), checkpointer=saver)
    _, (new,) = await drive(runtime, start())
    assert new.tool_call_id == "inner-1"

    messages = await abandoned(runtime)

    assert [m["tool_call_id"] for m in messages if m["type"] == "tool"] == ["outer-1"]
    assert len(inner_model.seen) == 1
    await speak_on(runtime, model)


@pytest.mark.parametrize("reducer", [None, operator.add])
async def test_states_without_the_usual_reducer_keep_their_messages(saver: Any, reducer: Any) -> None:
    class Replaced(TypedDict):
        messages: list[AnyMessage]

    class Added(TypedDict):
        messages: Annotated[list[AnyMessage], operator.add]

    builder: Any = StateGraph(Replaced if reducer is None else Added)
    builder.add_node("tools", ToolNode([WHERE]))
    builder.add_edge(START, "tools")
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    await drive(runtime, start({"messages": [HumanMessage("hi"), calling(call("where", "a"))]}))

    assert [m["type"] for m in await abandoned(runtime)] == ["human", "ai", "tool"]


async def test_a_sibling_that_spoke_does_not_come_between(saver: Any) -> None:
    @langchain_tool
    def chatty() -> Any:
        """Say more than the result."""
        more = [ToolMessage("done", tool_call_id="b"), HumanMessage("by the way")]
        return Command(update={"messages": more})

    model = Whole(script=once(call("where", "a"), call("chatty", "b")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE, chatty]), checkpointer=saver)
    await drive(runtime, start())

    messages = await abandoned(runtime)

    assert [m["type"] for m in messages] == ["human", "ai", "tool", "tool", "human"]
    await speak_on(runtime, model)


async def test_a_router_that_fails_is_gone_around(saver: Any) -> None:
    def route(state: MessagesState) -> str:
        if state["messages"][-1].type == "tool":
            raise RuntimeError("I was not made for this")
        return "tools"

    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([WHERE]))
    builder.add_edge(START, "tools")
    builder.add_conditional_edges("tools", route)
    runtime = LangGraphRuntime(builder.compile(), checkpointer=saver)
    await drive(runtime, start({"messages": [calling(call("where", "a"))]}))

    assert [m["type"] for m in await abandoned(runtime)] == ["ai", "tool"]


async def test_abandoning_again_changes_nothing(saver: Any) -> None:
    model = Whole(script=once(call("where", "a")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    await drive(runtime, start())
    await abandoned(runtime)
    before = await runtime.state("thread", _no_events)

    await abandoned(runtime)

    assert await runtime.state("thread", _no_events) == before


async def test_a_run_that_has_left_no_trace_changes_nothing(saver: Any) -> None:
    model = Whole(script=once(call("where", "a")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    await runtime.abandon("thread", "run-1", "never began")
    _, opened = await drive(runtime, start())

    await runtime.abandon("thread", "another run", "never began")

    assert (await runtime.state("thread", _no_events)).next == ("tools",)
    assert opened


async def test_an_abandoned_run_is_over_for_recovery(saver: Any) -> None:
    model = Whole(script=once(call("where", "a")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    await drive(runtime, start())
    await abandoned(runtime)

    assert await drive(runtime, answering(start(), kind="recover")) == ([], [])
    assert len(model.seen) == 1


async def test_what_nobody_abandoned_is_closed_by_the_next_run(saver: Any) -> None:
    """The process died between the end of the run and its abandoning."""
    charged: list[str] = []
    model = Whole(script=once(call("where", "a"), call("charge", "b")))

    def runtime() -> LangGraphRuntime:
        return LangGraphRuntime(create_agent(model, [WHERE, charge(charged)]), checkpointer=saver)

    await drive(runtime(), start())

    assert await speak_on(runtime(), model) == ["human", "ai", "tool", "tool", "human"]
    told = {message.tool_call_id: message.content for message in model.seen[-1] if isinstance(message, ToolMessage)}
    assert told == {"a": "Error (cancelled): the run that made this call ended before it was answered", "b": "charged"}
    assert charged == ["charged"]


async def test_a_breakpoint_of_the_graph_leaves_nothing_open(saver: Any) -> None:
    model = Whole(script=once(call("where", "a")))
    graph = create_agent(model, [WHERE], interrupt_before=["tools"])
    runtime = LangGraphRuntime(graph, checkpointer=saver)
    _, opened = await drive(runtime, start())
    assert not opened

    assert await speak_on(runtime, model) == ["human", "ai", "tool", "human"]


class JumpingOut(AgentMiddleware):
    """Ends the turn where the model has called a tool."""

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        return {"jump_to": "end", "messages": [AIMessage("I stop here.")]} if state["messages"][-1].tool_calls else None


async def test_a_call_that_the_agent_itself_leaves_open(saver: Any) -> None:
    model = Whole(script=once(call("where", "a")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE], middleware=[JumpingOut()]), checkpointer=saver)
    _, opened = await drive(runtime, start())
    assert not opened

    assert await speak_on(runtime, model) == ["human", "ai", "tool", "ai", "human"]


async def test_two_calls_with_one_id(saver: Any) -> None:
    """The result that is known is told once."""
    model = Whole(script=once(call("where", "a"), call("where", "a")))
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    _, opened = await drive(runtime, start())
    answer = {opened[0].interrupt_id: settled(opened[0], success("north"))}
    told = [message["content"] for message in await abandoned(runtime, answers=answer) if message["type"] == "tool"]
    assert told == ["north", "Error (cancelled): the user spoke"]
    await speak_on(runtime, model)


async def test_each_list_that_has_the_call_is_told_its_result(saver: Any) -> None:
    class Two(MessagesState):
        copied: list[AnyMessage]

    model = Whole(script=once(call("where", "a")))

    def think(state: Two) -> Any:
        said = model.invoke(state["messages"])
        return {"messages": [said], "copied": [*state["messages"], said]}

    graph: Any = StateGraph(Two)
    graph.add_node("model", think)
    graph.add_node("tools", ToolNode([WHERE]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    runtime = LangGraphRuntime(graph.compile(), checkpointer=saver)
    _, (new,) = await drive(runtime, start())
    await abandoned(runtime, answers={new.interrupt_id: settled(new, success("north"))})
    values = (await runtime.state("thread", _no_events)).values
    for key in ("messages", "copied"):
        assert [message["content"] for message in values[key]] == ["hi", "", "north"]


async def test_a_history_from_before_is_closed(saver: Any) -> None:
    model = Whole(script=once())
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    graph = create_agent(model, [WHERE], checkpointer=saver)
    broken = {"messages": [HumanMessage("hi"), calling(call("where", "a")), HumanMessage("and?")]}
    await graph.aupdate_state({"configurable": {"thread_id": "thread"}}, broken, as_node="model")

    assert await speak_on(runtime, model) == ["human", "ai", "tool", "human", "human"]


async def test_a_thread_that_was_left_closed_is_not_read_again(saver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Whole(script=once())
    runtime = LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)
    await drive(runtime, start())

    async def fail(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the state was read")

    monkeypatch.setattr(type(runtime._graph), "aget_state", fail)
    await drive(runtime, start(human("and now?", "human-2"), run_id="run-2"))


def test_the_check_of_the_fake_model_refuses_broken_histories() -> None:
    broken: list[list[AnyMessage]] = [
        [calling(call("a", "1")), HumanMessage("x")],
        [calling(call("a", "1"))],
        [calling(call("a", "1")), ToolMessage("x", tool_call_id="1"), ToolMessage("x", tool_call_id="1")],
        [ToolMessage("x", tool_call_id="1")],
    ]
    for history in broken:
        with pytest.raises(AssertionError):
            check_history(list(history))
    check_history([HumanMessage("x"), AIMessage("y")])


async def test_a_thread_that_is_unknown(saver: Any) -> None:
    runtime = LangGraphRuntime(create_agent(Whole(script=once()), [WHERE]), checkpointer=InMemorySaver())
    await runtime.abandon("nobody", "run-1", "never began")
    assert await messages_of(runtime, "nobody") == []
    assert [item async for item in runtime.run(start(), FakeDesk())]


async def _no_events() -> list[Any]:
    return []


async def test_what_a_page_has_answered_is_told_although_the_end_of_the_run_could_not_be(
    make_app: Any, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L4. As if the process had died when the run's end was stored and its history was not closed yet."""
    model = Streaming(
        script=lambda messages: (
            calling(call("where", "a"), call("other", "b")) if messages[-1].content == "go" else AIMessage("done")
        )
    )
    app = make_app(create_agent(model, [WHERE, tool(name="other")]))
    never = asyncio.Event()
    page = await open_page(app, tools={"where": lambda: "north", "other": never.wait})
    await page.submit("go")
    await page.until(lambda event: event["method"] == "calls" and event["params"]["data"]["event"] == "settled")
    with monkeypatch.context() as patched:
        patched.setattr(LangGraphRuntime, "abandon", AsyncMock(side_effect=OSError("the disk is full")))
        await page.ended(await page.submit("and now?"))

    told = {message.tool_call_id: message.content for message in model.seen[-1] if isinstance(message, ToolMessage)}
    assert told["a"] == "north"
    assert "cancelled" in str(told["b"])
    check_history(model.seen[-1])
