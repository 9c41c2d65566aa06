"""Pauses that something has caught: what is asked again, and what becomes of it when the run does not go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from farside.core.model import success
from farside.langgraph import HeadlessToolMiddleware, LangGraphRuntime, SqliteSaver, tool
from server.tests.langgraph.scripted import (
    Catching,
    Whole,
    answering,
    call,
    drive,
    human,
    messages_of,
    once,
    settled,
    start,
)

HIGH = {"properties": {"high": {"type": "boolean", "default": True}}}
TEXT = {"type": "string"}
WHERE = tool(name="where", args_schema=HIGH, result_schema=TEXT, timeout=7, idempotent=True)
SCAN = tool(name="scan", args_schema=HIGH, result_schema=TEXT)


class Scanning(AgentMiddleware):
    """Adds a tool that the agent was not made with, as LangChain documents it."""

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tools=[*request.tools, SCAN]))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tool=SCAN) if request.tool_call["name"] == "scan" else request)


def agent(*calls: Any, later: tuple[Any, ...] = (), tools: Any = (WHERE,)) -> Any:
    """An agent whose pauses are caught, with ``later`` as the last in its list."""
    return create_agent(
        Whole(script=once(*calls)), list(tools), middleware=[Catching(), HeadlessToolMiddleware(), *later]
    )


async def answers(runtime: LangGraphRuntime) -> dict[str, str]:
    return {each["tool_call_id"]: each["content"] for each in await messages_of(runtime) if each["type"] == "tool"}


class Retrying(AgentMiddleware):
    """Tries a call several times, and gives up."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        for _ in range(3):
            try:
                return await handler(request)
            except Exception:  # noqa: S112 - what is tested
                continue
        return ToolMessage("gave up", tool_call_id=request.tool_call["id"])


@pytest.mark.parametrize("first", [True, False])
async def test_what_tries_a_call_again_does_not_ask_the_page_again(first: bool, saver: Any) -> None:
    model = Whole(script=once(call("where", "a"), call("where", "b")))
    middleware: list[Any] = [Retrying(), HeadlessToolMiddleware()]
    graph = create_agent(model, [WHERE], middleware=middleware if first else middleware[::-1])
    runtime = LangGraphRuntime(graph, checkpointer=saver)
    _, opened = await drive(runtime, start())
    assert sorted(new.tool_call_id for new in opened) == ["a", "b"]
    await drive(runtime, answering(start(), *((new, f"for {new.tool_call_id}") for new in opened)))
    assert await answers(runtime) == {"a": "for a", "b": "for b"}


async def test_a_tool_that_later_middleware_supplies_is_asked_again(saver: Any) -> None:
    runtime = LangGraphRuntime(agent(call("scan", "a"), later=(Scanning(),)), checkpointer=saver)
    _, (new,) = await drive(runtime, start())
    assert (new.name, new.args) == ("scan", {"high": True})
    await drive(runtime, answering(start(), (new, "a code")))
    assert await answers(runtime) == {"a": "a code"}


async def test_the_page_is_asked_with_the_arguments_that_a_human_has_edited(saver: Any) -> None:
    approval = HumanInTheLoopMiddleware(interrupt_on={"where": True})
    runtime = LangGraphRuntime(agent(call("where", "a"), later=(approval,)), checkpointer=saver)
    _, (question,) = await drive(runtime, start())
    edit = {"type": "edit", "edited_action": {"name": "where", "args": {"high": False}}}
    _, (new,) = await drive(runtime, answering(start(), (question, {"decisions": [edit]})))
    assert (new.name, new.args) == ("where", {"high": False})


async def test_a_server_tool_that_calls_a_headless_one_is_not_answered_by_it(saver: Any) -> None:
    """Its own code makes something of the page's answer; the call alone is not asked again in its place."""

    @langchain_tool
    async def wrap() -> str:
        """Ask the page, and say more."""
        answer = await WHERE.ainvoke(call("where", "a"))
        return f"<{answer.content}>"

    model = Whole(script=once(call("wrap", "a")))
    runtime = LangGraphRuntime(create_agent(model, [wrap], middleware=[HeadlessToolMiddleware()]), checkpointer=saver)
    _, (new,) = await drive(runtime, start())
    await drive(runtime, answering(start(), (new, "north")))
    assert await answers(runtime) == {"a": "<north>"}

    runtime = LangGraphRuntime(agent(call("wrap", "a"), tools=(wrap,)), checkpointer=saver)
    _, opened = await drive(runtime, start(thread_id="other"))
    assert not opened
    assert (await messages_of(runtime, "other"))[2]["content"].startswith("Tool error")


@pytest.mark.parametrize("answered", ["before", "meanwhile"])
async def test_a_message_while_a_caught_call_is_open_keeps_what_the_page_has_answered(
    answered: str, saver: Any
) -> None:
    runtime = LangGraphRuntime(agent(call("where", "a"), call("where", "b")), checkpointer=saver)
    _, opened = await drive(runtime, start())
    one = next(new for new in opened if new.tool_call_id == "a")
    if answered == "before":
        await drive(runtime, answering(start(), (one, "north")))
        await runtime.abandon("thread", "run-1", "the user spoke")
    else:
        await runtime.abandon("thread", "run-1", "the user spoke", {one.interrupt_id: settled(one, success("north"))})
    assert await answers(runtime) == {"a": "north", "b": "Error (cancelled): the user spoke"}

    _, opened = await drive(runtime, start(human("again", "human-2"), run_id="run-2"))
    assert not opened
    assert (await messages_of(runtime))[-1]["content"] == "done: again"


@pytest.mark.parametrize("dynamic", [True, False])
async def test_it_is_still_checked_after_a_restart(dynamic: bool, tmp_path: Path) -> None:
    name = "scan" if dynamic else "where"

    def runtime(saver: Any) -> LangGraphRuntime:
        graph = agent(call(name, "a"), call(name, "b"), later=(Scanning(),) if dynamic else ())
        return LangGraphRuntime(graph, checkpointer=saver)

    async with SqliteSaver(tmp_path / "graph.db") as saver:
        _, opened = await drive(runtime(saver), start())
    by_id = {new.tool_call_id: new for new in opened}
    async with SqliteSaver(tmp_path / "graph.db") as saver:
        restarted = runtime(saver)
        _, opened = await drive(restarted, answering(start(), (by_id["a"], 7)))
        assert dynamic or opened == [by_id["b"]], "what was declared still holds"
        await drive(restarted, answering(start(), (by_id["b"], "north")))
        told = await answers(restarted)
    assert told["a"].startswith("Error (invalid_result)")
    assert told["b"] == "north"


async def test_agents_that_share_the_middleware_may_have_tools_of_one_name() -> None:
    shared: list[Any] = [Catching(), HeadlessToolMiddleware()]
    numbers = tool(name="where", result_schema={"type": "number"})
    graphs: list[Any] = [
        create_agent(Whole(script=once(call("where", "a"))), [each], middleware=shared, checkpointer=InMemorySaver())
        for each in (WHERE, numbers)
    ]
    config: Any = {"configurable": {"thread_id": "t"}}
    paused = [await graph.ainvoke({"messages": [HumanMessage("go")]}, config) for graph in graphs]
    for graph, result, value, told in zip(graphs, paused, ("north", 7), ("north", "7"), strict=True):
        ended = await graph.ainvoke(Command(resume={result["__interrupt__"][0].id: value}), config)
        assert [each.content for each in ended["messages"] if each.type == "tool"] == [told]


async def test_two_calls_with_one_id_are_both_answered(saver: Any) -> None:
    runtime = LangGraphRuntime(agent(call("where", "a"), call("where", "a", high=False)), checkpointer=saver)
    _, opened = await drive(runtime, start())
    await drive(runtime, answering(start(), *((new, f"high: {new.args['high']}") for new in opened)))
    told = [each["content"] for each in await messages_of(runtime) if each["type"] == "tool"]
    assert told == ["high: True", "high: False"]
