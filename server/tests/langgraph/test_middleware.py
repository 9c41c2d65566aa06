"""``HeadlessToolMiddleware``: pauses, limits and offers in ``create_agent``, wherever it stands in the list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
    hook_config,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command

from farside.langgraph import HeadlessToolMiddleware, LangGraphRuntime, tool
from server.tests.langgraph.scripted import (
    Catching,
    Whole,
    answering,
    call,
    calling,
    drive,
    human,
    messages_of,
    once,
    start,
)

CONFIG: Any = {"configurable": {"thread_id": "t"}}
WHERE = tool(
    name="where",
    args_schema={"properties": {"high": {"type": "boolean", "default": True}}},
    result_schema={"type": "string"},
)


class Marking(AgentMiddleware):
    """Marks what comes out of a tool."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        answer = handler(request)
        return answer.model_copy(update={"content": f"<{answer.content}>"})

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        answer = await handler(request)
        return answer.model_copy(update={"content": f"<{answer.content}>"})


class Leaving(AgentMiddleware):
    """Leaves tools out of what the model is offered."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._left = name

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(tools=[each for each in request.tools if each.name != self._left]))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tools=[each for each in request.tools if each.name != self._left]))


async def enter(agent: Any, given: Any, way: str, config: Any = CONFIG) -> Any:
    return agent.invoke(given, config) if way == "sync" else await agent.ainvoke(given, config)


def pauses(agent: Any) -> dict[str, str]:
    """The interrupt id of each call that waits."""
    return {pause.value["tool_call"]["id"]: pause.id for pause in agent.get_state(CONFIG).interrupts}


def answers(result: Any) -> list[str]:
    return [message.content for message in result["messages"] if message.type == "tool"]


# --- pauses ---


class CatchingToo(Catching):
    """Another one: a list has each class once."""


ORDERS: dict[str, Callable[[], list[AgentMiddleware]]] = {
    "first": lambda: [HeadlessToolMiddleware(), Catching()],
    "last": lambda: [Catching(), HeadlessToolMiddleware()],
    "between": lambda: [Catching(), HeadlessToolMiddleware(), CatchingToo()],
    "retrying": lambda: [Catching(), ToolRetryMiddleware(), HeadlessToolMiddleware(), CatchingToo()],
}


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("turn", ["ab", "ba"])
async def test_a_pause_passes_what_catches_exceptions(order: str, way: str, turn: str) -> None:
    charged: list[str] = []

    @langchain_tool
    def charge() -> str:
        """Charge the card."""
        charged.append("once")
        return "charged"

    saver = InMemorySaver()
    model = Whole(script=once(call("where", "a"), call("charge", "b2"), call("where", "b", high=False)))

    def agent() -> Any:
        """As after a restart."""
        return create_agent(model, [WHERE, charge], middleware=ORDERS[order](), checkpointer=saver)

    await enter(agent(), {"messages": [HumanMessage("go")]}, way)
    waiting = pauses(agent())
    assert set(waiting) == {"a", "b"}
    await enter(agent(), Command(resume={waiting[turn[0]]: f"for {turn[0]}"}), way)
    assert pauses(agent()) == {turn[1]: waiting[turn[1]]}
    result = await enter(agent(), Command(resume={waiting[turn[1]]: f"for {turn[1]}"}), way)

    assert answers(result) == ["for a", "charged", "for b"]
    assert charged == ["once"]
    assert len(model.seen) == 2
    # The next turn is not disturbed by what was caught in this one.
    result = await enter(agent(), {"messages": [HumanMessage("again")]}, way)
    assert result["messages"][-1].content == "done: again"


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_what_comes_later_in_the_list_sees_the_result(way: str) -> None:
    middleware: list[Any] = [HeadlessToolMiddleware(), Marking(), Catching()]
    agent: Any = create_agent(
        Whole(script=once(call("where", "a"))), [WHERE], middleware=middleware, checkpointer=InMemorySaver()
    )
    await enter(agent, {"messages": [HumanMessage("go")]}, way)
    result = await enter(agent, Command(resume={pauses(agent)["a"]: "north"}), way)
    assert answers(result) == ["<north>"]


@pytest.mark.parametrize("order", ["first", "last"])
async def test_the_result_of_a_caught_pause_is_checked(order: str) -> None:
    agent: Any = create_agent(
        Whole(script=once(call("where", "a"))), [WHERE], middleware=ORDERS[order](), checkpointer=InMemorySaver()
    )
    await enter(agent, {"messages": [HumanMessage("go")]}, "async")
    result = await enter(agent, Command(resume={pauses(agent)["a"]: 7}), "async")
    assert answers(result)[0].startswith("Error (invalid_result)")


async def test_what_was_caught_in_a_run_that_has_ended_is_over() -> None:
    """Where no model is called after the tools, nobody asks again: not in the next run either."""
    shoot = tool(name="shoot", return_direct=True)
    model = Whole(script=once(call("shoot", "a")))
    agent: Any = create_agent(model, [shoot], middleware=ORDERS["last"](), checkpointer=InMemorySaver())
    result = await enter(agent, {"messages": [HumanMessage("go")]}, "async")
    assert answers(result)[0].startswith("Tool error")
    result = await enter(agent, {"messages": [HumanMessage("again")]}, "async")
    assert (pauses(agent), result["messages"][-1].content) == ({}, "done: again")


@pytest.mark.parametrize("call_id", ["x", "d"])
async def test_a_pause_of_an_agent_elsewhere_is_its_own(call_id: str) -> None:
    """A tool that runs another agent on a thread of its own, and looks at where that has paused, has not paused."""
    inner: Any = create_agent(Whole(script=once(call("where", call_id))), [WHERE], checkpointer=InMemorySaver())

    @langchain_tool
    async def delegate() -> str:
        """Ask another agent."""
        result = await inner.ainvoke({"messages": [HumanMessage("go")]}, {"configurable": {"thread_id": "own"}})
        return f"it waits for {len(result['__interrupt__'])}"

    agent: Any = create_agent(
        Whole(script=once(call("delegate", "d"))),
        [delegate],
        middleware=[HeadlessToolMiddleware()],
        checkpointer=InMemorySaver(),
    )
    result = await agent.ainvoke({"messages": [HumanMessage("go")]}, CONFIG)
    assert answers(result) == ["it waits for 1"]


# --- limits ---


def forever() -> Any:
    """A model that calls the browser again and again, unless it is refused."""
    numbers: Iterator[int] = iter(range(1_000))

    def script(messages: list[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, ToolMessage) and last.status == "error":
            return AIMessage(f"refused: {last.content}")
        return calling(call("where", f"call-{next(numbers)}"))

    return Whole(script=script)


async def turn(agent: Any, way: str, config: Any = CONFIG, *, at_most: int = 30) -> tuple[int, Any]:
    """A turn whose calls are all answered: how many there were, and the result."""
    result = await enter(agent, {"messages": [HumanMessage("go")]}, way, config)
    for answered in range(at_most):
        waiting = pauses(agent)
        if not waiting:
            return answered, result
        result = await enter(agent, Command(resume=dict.fromkeys(waiting.values(), "north")), way, config)
    raise AssertionError("the turn does not end")


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("tool_name", [None, "where"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_limit_of_calls_in_a_run_holds_across_pauses(first: bool, tool_name: str | None, way: str) -> None:
    limit = ToolCallLimitMiddleware(run_limit=2, tool_name=tool_name)
    middleware = [HeadlessToolMiddleware(), limit] if first else [limit, HeadlessToolMiddleware()]
    agent: Any = create_agent(forever(), [WHERE], middleware=middleware, checkpointer=InMemorySaver())
    for _ in range(2):  # the next run has a budget of its own
        count, result = await turn(agent, way)
        assert count == 2
        assert "limit exceeded" in result["messages"][-1].content


async def test_a_limit_of_model_calls_in_a_run_holds_across_pauses() -> None:
    middleware: list[Any] = [HeadlessToolMiddleware(), ModelCallLimitMiddleware(run_limit=3)]
    agent: Any = create_agent(forever(), [WHERE], middleware=middleware, checkpointer=InMemorySaver())
    for _ in range(2):
        count, result = await turn(agent, "async")
        assert count == 3
        assert "limits exceeded" in result["messages"][-1].content


def counting() -> tuple[Any, Any]:
    """A server tool that a model calls for ever, and that model."""

    @langchain_tool
    def count() -> str:
        """Count."""
        return "counted"

    numbers: Iterator[int] = iter(range(1_000))
    return count, Whole(script=lambda messages: calling(call("count", f"call-{next(numbers)}")))


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("limit", [6, 11, 20])
async def test_the_limit_of_steps_counts_those_before_a_pause(limit: int, way: str) -> None:
    """The run ends where it would have ended without a pause."""
    config = {**CONFIG, "recursion_limit": limit}
    server_tool, endless = counting()
    unpaused: Any = create_agent(
        endless, [server_tool], middleware=[HeadlessToolMiddleware()], checkpointer=InMemorySaver()
    )
    with pytest.raises(GraphRecursionError):
        await enter(unpaused, {"messages": [HumanMessage("go")]}, way, config)

    model = forever()
    agent: Any = create_agent(model, [WHERE], middleware=[HeadlessToolMiddleware()], checkpointer=InMemorySaver())
    with pytest.raises(GraphRecursionError, match=f"{limit} steps"):
        await turn(agent, way, config)
    assert len(model.seen) == len(endless.seen)


class Jumping(AgentMiddleware):
    """Goes to the model at once where the thread has begun before."""

    @hook_config(can_jump_to=["model"])
    def before_agent(self, state: Any, runtime: Any) -> Any:
        return {"jump_to": "model"} if len(state["messages"]) > 1 else None


async def test_each_run_has_its_budget_where_something_jumps_over_its_beginning(saver: Any) -> None:
    numbers: Iterator[int] = iter(range(1_000))

    def script(messages: list[BaseMessage]) -> AIMessage:
        if messages[-1].type == "human":
            return calling(call("where", f"call-{next(numbers)}"))
        return AIMessage(f"done: {messages[-1].content}")

    middleware: list[Any] = [Jumping(), HeadlessToolMiddleware(), ToolCallLimitMiddleware(run_limit=1)]
    runtime = LangGraphRuntime(create_agent(Whole(script=script), [WHERE], middleware=middleware), checkpointer=saver)
    for turn in range(4):
        leg = start(human("go", f"human-{turn}"), run_id=f"run-{turn}", config={"recursion_limit": 12})
        _, (new,) = await drive(runtime, leg)
        await drive(runtime, answering(leg, (new, "north")))
        assert (await messages_of(runtime))[-1]["content"] == "done: north"


# --- offers ---


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_call_of_a_tool_that_was_left_out_gets_an_error(first: bool, way: str) -> None:
    ours = HeadlessToolMiddleware()
    middleware = [ours, Leaving("where")] if first else [Leaving("where"), ours]
    look = tool(name="look")
    agent: Any = create_agent(
        Whole(script=once(call("where", "a"), call("look", "b"))),
        [WHERE, look],
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )
    await enter(agent, {"messages": [HumanMessage("go")]}, way)
    assert set(pauses(agent)) == {"b"}
    result = await enter(agent, Command(resume={pauses(agent)["b"]: "seen"}), way)
    refused, seen = answers(result)
    assert refused.startswith("Error (unsupported): where is not available")
    assert seen == "seen"


class Supplying(AgentMiddleware):
    """Executes a tool that the agent was not made with; the model was not offered it."""

    def __init__(self, tool: Any) -> None:
        super().__init__()
        self._tool = tool

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(tool=self._tool))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tool=self._tool))


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_call_of_a_tool_that_is_supplied_but_not_offered_gets_an_error(first: bool, way: str) -> None:
    ours, supplying = HeadlessToolMiddleware(), Supplying(tool(name="look"))
    agent: Any = create_agent(
        Whole(script=once(call("look", "a"))),
        [WHERE],
        middleware=[ours, supplying] if first else [supplying, ours],
        checkpointer=InMemorySaver(),
    )
    result = await enter(agent, {"messages": [HumanMessage("go")]}, way)
    assert answers(result)[0].startswith("Error (unsupported): look is not available")


class Answering(AgentMiddleware):
    """Answers in the place of the model when a human has spoken."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return calling(call("where", "a")) if request.messages[-1].type == "human" else handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return calling(call("where", "a")) if request.messages[-1].type == "human" else await handler(request)


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_call_that_no_model_has_made_is_executed(way: str) -> None:
    agent: Any = create_agent(
        Whole(script=lambda messages: AIMessage("done")),
        [WHERE],
        middleware=[HeadlessToolMiddleware(), Answering()],
        checkpointer=InMemorySaver(),
    )
    for _ in range(2):  # what was offered in the first turn does not count in the second
        await enter(agent, {"messages": [HumanMessage("go")]}, way)
        result = await enter(agent, Command(resume={pauses(agent)["a"]: "north"}), way)
        assert answers(result)[-1] == "north"


class Forcing(AgentMiddleware):
    """Makes a call itself in the second turn, without asking the model."""

    @hook_config(can_jump_to=["tools"])
    def before_model(self, state: Any, runtime: Any) -> Any:
        humans = [message for message in state["messages"] if message.type == "human"]
        if len(humans) == 2 and state["messages"][-1].type == "human":
            return {"messages": [calling(call("where", "forced"))], "jump_to": "tools"}
        return None


async def test_a_call_that_other_middleware_makes_is_executed() -> None:
    agent: Any = create_agent(
        Whole(script=lambda messages: AIMessage(f"done: {messages[-1].content}")),
        [WHERE],
        middleware=[Forcing(), HeadlessToolMiddleware(), Leaving("where")],
        checkpointer=InMemorySaver(),
    )
    for _ in range(2):
        await agent.ainvoke({"messages": [HumanMessage("go")]}, CONFIG)
    result = await agent.ainvoke(Command(resume={pauses(agent)["forced"]: "north"}), CONFIG)
    assert result["messages"][-1].content == "done: north"


async def test_a_request_may_be_read_anywhere() -> None:
    kept: list[Any] = []

    class Threading(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            kept.append(request.override(tool_choice=None))
            with ThreadPoolExecutor() as pool:  # a thread without the context of this one
                return pool.submit(handler, request.override(tools=request.tools[:1])).result()

    look = tool(name="look")
    agent: Any = create_agent(
        Whole(script=once(call("where", "a"), call("look", "b"))),
        [WHERE, look],
        middleware=[HeadlessToolMiddleware(), Threading()],
        checkpointer=InMemorySaver(),
    )
    agent.invoke({"messages": [HumanMessage("go")]}, CONFIG)
    assert set(pauses(agent)) == {"a"}
    assert [each.name for each in kept[0].tools] == ["where", "look"]


async def test_only_what_a_connected_page_implements_is_offered(make_app: Any, open_page: Any) -> None:
    look = tool(name="look")
    offered: list[list[str]] = []

    class Watching(Whole):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            offered.append(sorted(each.name for each in tools))
            return self

    model = Watching(script=lambda messages: AIMessage("done"))

    @langchain_tool
    def add() -> str:
        """A server's tool."""
        return "added"

    agent = create_agent(model, [WHERE, look, add], middleware=[HeadlessToolMiddleware(offer="connected")])
    app = make_app(agent, schema_mismatch="strict")
    page = await open_page(app, tools={"where": lambda high: "north"})
    await page.ask("one")
    other = await open_page(app, tools={"look": lambda: "seen"})
    await page.ask("two")
    old = [{"name": "look", "fingerprint": "of other schemas"}]
    await other.command("client.announce", client_id=other.client_id, tools=old)
    await page.ask("three")
    await other.close()
    await page.ask("four")
    assert offered == [["add", "where"], ["add", "look", "where"], ["add", "where"], ["add", "where"]]


async def test_offering_what_is_connected_needs_farside() -> None:
    agent: Any = create_agent(Whole(script=once()), [WHERE], middleware=[HeadlessToolMiddleware(offer="connected")])
    with pytest.raises(RuntimeError, match="served by farside"):
        await agent.ainvoke({"messages": [HumanMessage("go")]})


def test_a_wrong_offer_is_refused() -> None:
    with pytest.raises(ValueError, match='"all" or "connected"'):
        HeadlessToolMiddleware(offer="some")  # pyright: ignore[reportArgumentType]
