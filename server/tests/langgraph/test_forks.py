"""Runs that begin at a checkpoint, through the engine: editing a message, asking again, taking a run back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from farside import FarsideError
from farside.langgraph import tool
from server.tests.langgraph.scripted import Whole, call, calling, check_history, human, once

WHERE = tool(name="where", timeout=30)


def counting() -> Whole:
    """A model that counts its answers."""
    model = Whole(script=lambda messages: AIMessage(f"{len(model.seen)}: {messages[-1].content}"))
    return model


async def checkpoints(page: Any) -> list[dict[str, Any]]:
    """The thread's checkpoints, the newest first."""
    return (await page.command("state.listCheckpoints", limit=100))["checkpoints"]


async def contents(page: Any) -> list[Any]:
    """What has been said, as the state has it."""
    return [message["content"] for message in (await page.command("state.get"))["values"].get("messages", [])]


def shown(page: Any) -> list[list[Any]]:
    """The messages of each state that a page was shown."""
    return [e["params"]["data"]["messages"] for e in page.events if e["method"] == "values"]


async def begin(page: Any, checkpoint_id: str, input: Any = None, **params: Any) -> str:
    """Start a run at a checkpoint, as the official hooks do; returns its id."""
    config = {"configurable": {"thread_id": "thread-1", "checkpoint_id": checkpoint_id}}
    started = await page.command("run.start", assistant_id="assistant", input=input, config=config, **params)
    return started["run_id"]


async def at_step(page: Any, step: int) -> str:
    """The oldest checkpoint of a step."""
    return [each["id"] for each in await checkpoints(page) if each["step"] == step][-1]


async def test_asking_again(make_app: Any, open_page: Any) -> None:
    model = counting()
    page = await open_page(make_app(create_agent(model)))
    await page.ask("one")

    await page.ended(await begin(page, await at_step(page, 0)))

    assert await contents(page) == ["one", "2: one"]
    assert await page.ask("two") == "3: two"
    assert [message.content for message in model.seen[-1]] == ["one", "2: one", "two"]


async def test_editing_a_message(make_app: Any, open_page: Any) -> None:
    """The hook forks at the parent of the checkpoint at which the message was first seen: its run's first."""
    model = counting()
    page = await open_page(make_app(create_agent(model)))
    await page.ask("one")
    await page.ask("two")
    second = next(each["id"] for each in await checkpoints(page) if each["metadata"]["source"] == "input")

    await page.command("subscription.subscribe", channels=["values"])
    await page.ended(await begin(page, second, human("edited", "message-2")))

    assert await contents(page) == ["one", "1: one", "edited", "3: edited"]
    assert [[m["content"] for m in messages] for messages in shown(page)] == [
        ["one", "1: one"],
        ["one", "1: one", "edited"],
        ["one", "1: one", "edited"],
        ["one", "1: one", "edited", "3: edited"],
    ]


async def test_an_edited_message_may_keep_its_id_and_text(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(create_agent(counting())))
    first = (await page.command("run.start", assistant_id="assistant", input=human("one", "m1")))["run_id"]
    await page.ended(first)

    again = await begin(page, await at_step(page, -1), human("one", "m1"))
    await page.ended(again)

    assert again != first
    assert await contents(page) == ["one", "2: one"]


async def test_who_was_away_hears_that_messages_are_gone(make_app: Any, open_page: Any) -> None:
    """The state at the fork is stored with the events, so a page that comes back later hears of it too."""
    page = await open_page(make_app(create_agent(counting())))
    await page.ask("one")
    away = page.seq
    await page.ended(await begin(page, await at_step(page, 0)))

    await page.command("subscription.subscribe", channels=["values"], since=away)
    await page.until(lambda e: e["method"] == "values")

    assert [[message["content"] for message in messages] for messages in shown(page)] == [["one"]]


async def test_a_fork_is_the_thread_from_now_on(make_app: Any, open_page: Any, store: Any) -> None:
    """Also for another server, for the history, and with a call that is made again."""
    model = Whole(script=once(call("where")))
    app = make_app(create_agent(model, [WHERE]))
    page = await open_page(app, tools={"where": lambda: len(page.executions)})
    assert await page.ask("Where am I?") == "done: 1"
    before = await checkpoints(page)
    calling_it = next(each["id"] for each in before if each["step"] == 1)

    await page.ended(await begin(page, calling_it))

    assert await contents(page) == ["Where am I?", "", "2", "done: 2"]
    after = await checkpoints(page)
    assert [each["id"] for each in after[-len(before) :]] == [each["id"] for each in before], "nothing is lost"
    assert after[0]["id"] > before[0]["id"]
    if type(store).__name__ == "MemoryStore":
        return  # nothing survives a restart
    await app.stop()
    again = Whole(script=once())
    back = await open_page(make_app(create_agent(again, [WHERE])))
    assert await contents(back) == ["Where am I?", "", "2", "done: 2"]
    assert await back.ask("And now?") == "done: And now?"
    check_history(again.seen[-1])


async def test_a_message_where_a_call_was_open(make_app: Any, open_page: Any) -> None:
    """What a page has answered since stays with the call; the call is closed before the message is heard (L6)."""
    model = Whole(script=once(call("where")))
    page = await open_page(make_app(create_agent(model, [WHERE])), tools={"where": lambda: "here"})
    await page.ask("Where am I?")

    await page.ended(await begin(page, await at_step(page, 1), human("Never mind", "h2")))

    said = (await page.command("state.get"))["values"]["messages"]
    assert [message["type"] for message in said] == ["human", "ai", "tool", "human", "ai"]
    assert said[2]["content"] == "here"


async def test_forking_while_a_call_is_open_follows_the_policy_first(make_app: Any, open_page: Any) -> None:
    model = Whole(script=once(call("where")))
    page = await open_page(make_app(create_agent(model, [WHERE])))
    first = await page.submit("Where am I?")
    await page.until(lambda e: e["method"] == "calls")
    paused = await at_step(page, 1)

    with pytest.raises(FarsideError) as refused:
        await begin(page, paused, multitask_strategy="reject")
    second = await begin(page, paused)

    assert refused.value.code == "run_interrupted"
    assert (await page.ended(first))["code"] == "cancelled"
    opened = await page.until(lambda e: e["method"] == "calls" and e["params"]["data"].get("run_id") == second)
    await page.command("run.cancel")
    await page.ended(second)
    said = (await page.command("state.get"))["values"]["messages"]
    assert [message["type"] for message in said] == ["human", "ai", "tool"]
    assert opened["params"]["data"]["tool_call_id"] == "call_1"


async def test_a_fork_waits_for_its_turn(make_app: Any, open_page: Any) -> None:
    gate = asyncio.Event()
    model = counting()

    async def think(state: Any) -> Any:
        if len(model.seen) == 1:
            await gate.wait()
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_edge(START, "think")
    graph.add_edge("think", END)
    page = await open_page(make_app(graph.compile()))
    await page.ask("one")
    first = await at_step(page, 0)
    second = await page.submit("two")
    third = await begin(page, first, multitaskStrategy="enqueue")
    gate.set()
    await page.ended(second)
    await page.ended(third)

    assert await contents(page) == ["one", "3: one"]


async def test_state_fork(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(create_agent(counting())))
    await page.ask("one")

    forked = await page.command("state.fork", checkpoint_id=await at_step(page, -1), input=human("other", "h2"))
    await page.ended(forked["run_id"])

    assert forked["thread_id"] == "thread-1"
    assert await contents(page) == ["other", "2: other"]


async def test_a_checkpoint_that_is_none(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(create_agent(counting())))
    await page.ask("one")
    for start in (begin(page, "1f1ece12-0000-6000-8000-000000000000"), page.command("state.fork", checkpoint_id="x")):
        with pytest.raises(FarsideError) as caught:
            await start
        assert caught.value.code == "no_such_checkpoint"
    with pytest.raises(FarsideError) as caught:
        await page.command("run.start", assistant_id="assistant", config={"configurable": {"checkpoint_id": 5}})
    assert caught.value.code == "invalid_argument"
    with pytest.raises(FarsideError) as caught:
        place = {"checkpoint_id": await at_step(page, 0), "checkpoint_ns": "inner:1"}
        await page.command("run.start", assistant_id="assistant", config={"configurable": place})
    assert caught.value.code == "not_supported"
    assert await contents(page) == ["one", "1: one"]


@pytest.mark.parametrize("other", ["first", "later"])
async def test_taking_a_run_back(make_app: Any, open_page: Any, other: str) -> None:
    """The strategy ``rollback``: the run, and what its user had said, is as if it had not been."""
    model = Whole(
        script=lambda messages: calling(call("where")) if messages[-1].content == "ask" else AIMessage("fine")
    )
    page = await open_page(make_app(create_agent(model, [WHERE])))
    if other == "later":
        await page.ask("one")
    first = await page.submit("ask")
    await page.until(lambda e: e["method"] == "calls")

    await page.ended(await page.submit("two", multitask_strategy="rollback"))

    assert (await page.ended(first))["code"] == "cancelled"
    assert await contents(page) == [*(["one", "fine"] if other == "later" else []), "two", "fine"]


async def test_taking_back_a_run_that_has_stored_nothing(make_app: Any, open_page: Any) -> None:
    begun = asyncio.Event()

    class Slow(InMemorySaver):
        async def aget_tuple(self, config: Any) -> Any:
            if not begun.is_set():
                begun.set()
                await asyncio.Event().wait()
            return await super().aget_tuple(config)

    page = await open_page(make_app(create_agent(counting(), checkpointer=Slow())))
    await page.submit("one")
    await begun.wait()

    await page.ended(await page.submit("two", multitask_strategy="rollback"))

    assert await contents(page) == ["two", "1: two"]


# --- what pages of ours show ---


def gone(page: Any) -> list[str]:
    """The messages that a page was told to remove."""
    told = [e["params"]["data"] for e in page.events if e["method"] == "messages"]
    return [data["message_id"] for data in told if data["event"] == "message-removed"]


async def test_pages_hear_which_messages_are_gone(make_app: Any, open_page: Any) -> None:
    """Not of one that comes again with the run's input."""
    page = await open_page(make_app(create_agent(counting())))
    for text, message_id in (("one", "m1"), ("two", "m2")):
        started = await page.command("run.start", assistant_id="assistant", input=human(text, message_id))
        await page.ended(started["run_id"])
    first = (await page.command("state.get"))["values"]["messages"][1]["id"]
    second = (await page.command("state.get"))["values"]["messages"][3]["id"]
    assert gone(page) == []

    await page.ended(await begin(page, await at_step(page, -1), human("edited", "m1")))

    assert gone(page) == [first, "m2", second]
    assert await contents(page) == ["edited", "3: edited"]
