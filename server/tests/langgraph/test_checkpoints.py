"""A graph's legs that begin at a checkpoint, also when the process dies; and its saved states."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from farside import FarsideError
from farside.core.ports import Directive, Leg
from farside.langgraph import LangGraphRuntime, tool
from server.tests.langgraph.scripted import (
    FakeDesk,
    Whole,
    answering,
    call,
    drive,
    human,
    messages_of,
    of,
    once,
    start,
)

WHERE = tool(name="where")


def agent(saver: Any, script: Any = None) -> LangGraphRuntime:
    model = Whole(script=script or (lambda messages: AIMessage(f"{len(model.seen)}: {messages[-1].content}")))
    return LangGraphRuntime(create_agent(model, [WHERE]), checkpointer=saver)


async def at_step(runtime: LangGraphRuntime, step: int) -> str:
    states = await runtime.graph.history("thread", (), 100)
    [found] = [state.checkpoint_id for state in states if state.metadata["step"] == step]
    assert found is not None
    return found


def forking(checkpoint_id: str, given: Any, kind: Any = "start") -> Leg:
    leg = start(given, run_id="run-2")
    return replace(leg, kind=kind, input=given, checkpoint_id=checkpoint_id)


async def contents(runtime: LangGraphRuntime) -> list[Any]:
    return [message["content"] for message in await messages_of(runtime)]


async def paused(runtime: LangGraphRuntime) -> None:
    """A run has made a call, it was answered, and the run has ended."""
    _, (new,) = await drive(runtime, start())
    await drive(runtime, answering(start(), (new, "here")))


async def dies(runtime: LangGraphRuntime, leg: Leg) -> None:
    """The process dies when the state at the fork was shown."""
    async with aclosing(runtime.run(leg, FakeDesk())) as items:
        await anext(items)


@pytest.mark.parametrize("given", [None, human("other", "h2")])
@pytest.mark.parametrize("kind", ["start", "recover"])
async def test_a_fork_begins_where_it_says(saver: Any, given: Any, kind: str) -> None:
    """Also when its process died before anything of it was stored."""
    runtime = agent(saver)
    await drive(runtime, start())
    first = await at_step(runtime, 0 if given is None else -1)

    emits, _ = await drive(runtime, forking(first, given, kind))

    assert await contents(runtime) == (["hi", "2: hi"] if given is None else ["other", "2: other"])
    assert [[m["id"] for m in data.get("messages", [])] for data in of(emits, "values")] == [
        ["human-1"] if given is None else []
    ]
    assert [emit.durable for emit in emits if emit.method == "values"] == [True]


async def test_a_fork_whose_process_died_goes_on_with_its_own(saver: Any) -> None:
    """And does not begin at the checkpoint once more."""
    runtime = agent(saver, once(call("where")))
    await paused(runtime)
    calling_it = await at_step(runtime, 1)
    _, (new,) = await drive(runtime, forking(calling_it, None))
    again = agent(saver, once(call("where")))
    leg = answering(forking(calling_it, None, "recover"), (new, "there"), kind="recover")

    emits, opened = await drive(again, leg)

    assert (of(emits, "values"), opened) == ([], [])
    assert await contents(again) == ["hi", "", "there", "done: there"]


async def test_a_process_that_dies_in_the_middle_of_forking(saver: Any) -> None:
    runtime = agent(saver, once(call("where")))
    await paused(runtime)
    leg = forking(await at_step(runtime, 1), human("Never mind", "h2"))
    await dies(runtime, leg)

    await drive(agent(saver, once(call("where"))), replace(leg, kind="recover"))

    said = await messages_of(runtime)
    assert [message["type"] for message in said] == ["human", "ai", "tool", "human", "ai"]
    assert said[2]["content"].startswith("Error (cancelled)")


async def test_a_checkpoint_stays_as_it_is(saver: Any) -> None:
    runtime = agent(saver, once(call("where")))
    await paused(runtime)
    calling_it = await at_step(runtime, 1)
    before = await runtime.graph.at("thread", (), calling_it)
    for given in (None, human("Never mind", "h2")):
        await drive(runtime, forking(calling_it, given))
        assert await runtime.graph.at("thread", (), calling_it) == before


async def test_a_fork_to_what_is_gone_fails_its_run(saver: Any) -> None:
    runtime = agent(saver)
    await drive(runtime, start())
    with pytest.raises(FarsideError, match="is gone") as caught:
        await drive(runtime, forking("1f1ece12-0000-6000-8000-000000000000", None))
    assert caught.value.code == "state_lost"


async def test_an_abandoned_fork_leaves_a_valid_history(saver: Any) -> None:
    runtime = agent(saver, once(call("where")))
    await paused(runtime)
    await drive(runtime, forking(await at_step(runtime, 1), None))

    await runtime.abandon("thread", "run-2", "the run was stopped")

    assert [message["type"] for message in await messages_of(runtime)] == ["human", "ai", "tool"]


async def test_where_a_run_began(saver: Any) -> None:
    runtime = agent(saver)
    await drive(runtime, start())
    await drive(runtime, start(human("two", "h2"), run_id="run-2"))

    assert await runtime.graph.start_of("thread", "run-1") == await at_step(runtime, -1)
    assert await runtime.graph.start_of("thread", "run-2") == await at_step(runtime, 2)
    assert await runtime.graph.start_of("thread", "run-3") is None


async def test_a_task_that_failed_tells_no_text(saver: Any) -> None:
    def fail(messages: Any) -> Any:
        raise RuntimeError("a secret")

    runtime = agent(saver, fail)
    with pytest.raises(RuntimeError):
        await drive(runtime, start())
    newest = (await runtime.graph.history("thread", (), 1))[0]
    assert newest.tasks[0]["error"] == "the task failed"
    assert "secret" not in str(newest)


async def test_directives_that_a_graph_takes(saver: Any) -> None:
    runtime = agent(saver)
    await drive(runtime, start())
    check = runtime.graph.check
    await check("thread", Directive({"messages": [{"type": "human", "content": "x"}]}, ["model", "tools", "__end__"]))
    for wrong in (Directive({"__start__": 1}), Directive(goto=[{"node": "__start__"}])):
        with pytest.raises(FarsideError) as caught:
            await check("thread", wrong)
        assert caught.value.code == "invalid_argument"
