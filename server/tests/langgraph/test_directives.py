"""What comes with an answer beside its value: `update`, `goto`, `config` and `metadata` of `input.respond`."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from farside import Farside, FarsideError
from farside.engine.legs import Legs
from farside.langgraph import tool
from server.tests.agents import guide
from server.tests.langgraph.scripted import Whole, call, once


class State(MessagesState):
    notes: Annotated[list[Any], operator.add]
    """Grows with each update, so that one that is carried out twice shows."""


async def _nothing() -> None:
    pass


def asking(saver: Any, *, questions: int = 1, then: Callable[[], Awaitable[None]] = _nothing) -> Any:
    """A graph that asks one question after the other and notes the answers; ``extra`` is a node nobody leads to."""

    async def ask(state: State) -> Any:
        answers = [interrupt({"question": number}) for number in range(questions)]
        await then()
        return {"notes": answers}

    def extra(state: Any) -> Any:
        return {"notes": [f"extra {state['n']}" if "n" in state else "extra"]}

    def configured(state: State, config: RunnableConfig) -> Any:
        return {"notes": [config.get("configurable", {}).get("mood")]}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_node("extra", extra)
    graph.add_node("configured", configured)
    graph.add_edge(START, "ask")
    return graph.compile(checkpointer=saver)


async def start(page: Any, **params: Any) -> str:
    return await page.submit("hi", **params)


async def question(page: Any, number: int = 0) -> str:
    """The interrupt id of a question."""
    await page.command("subscription.subscribe", channels=["input"])
    asked = await page.until(
        lambda e: e["method"] == "input.requested" and e["params"]["data"]["payload"] == {"question": number}
    )
    return asked["params"]["data"]["interrupt_id"]


@pytest.fixture
async def page(make_app: Any, open_page: Any, saver: Any) -> Any:
    """A page on a thread that waits for the answer to a question."""
    page = await open_page(make_app(asking(saver)))
    page.run_id = await start(page)
    page.asked = await question(page)
    return page


async def notes(page: Any) -> list[Any]:
    return (await page.command("state.get"))["values"].get("notes", [])


async def test_an_update(page: Any) -> None:
    update = {"notes": ["pushed"], "messages": [{"type": "human", "content": "pushed"}]}
    await page.command("input.respond", interrupt_id=page.asked, response="yes", update=update)
    await page.ended(page.run_id)

    assert await notes(page) == ["pushed", "yes"]
    said = (await page.command("state.get"))["values"]["messages"]
    assert [message["content"] for message in said] == ["hi", "pushed"]


@pytest.mark.parametrize(
    ("goto", "expected"),
    [
        ("extra", ["extra"]),
        ({"node": "extra", "input": {"n": 1}}, ["extra 1"]),
        (["extra", {"node": "extra", "input": {"n": 1}}], ["extra", "extra 1"]),
        ("__end__", []),
    ],
)
async def test_going_elsewhere_too(page: Any, goto: Any, expected: list[str]) -> None:
    answer = {"interrupt_id": page.asked, "response": "yes", "namespace": []}
    await page.command("input.respond", responses=[answer], goto=goto)
    await page.ended(page.run_id)

    assert sorted(await notes(page)) == sorted(["yes", *expected])


async def test_a_config_and_metadata(page: Any, store: Any) -> None:
    config = {"configurable": {"mood": "glad", "checkpoint_id": "nowhere"}}
    await page.command(
        "input.respond",
        interrupt_id=page.asked,
        response="yes",
        goto="configured",
        config=config,
        metadata={"by": "me"},
    )
    await page.ended(page.run_id)

    assert sorted(await notes(page)) == ["glad", "yes"]
    newest = (await page.command("state.listCheckpoints", limit=1))["checkpoints"][0]
    assert newest["metadata"]["by"] == "me"
    assert newest["metadata"]["run_id"] == page.run_id
    assert (await store.run("thread-1", page.run_id)).config["configurable"] == {"mood": "glad"}, "it began elsewhere"


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ({"update": {"nothing": 1}}, "one of messages, notes"),
        ({"goto": ["extra", "nowhere"]}, "ask, extra, configured"),
    ],
)
async def test_what_the_graph_does_not_have(page: Any, beside: Any, expected: str) -> None:
    with pytest.raises(FarsideError, match=expected) as caught:
        await page.command("input.respond", interrupt_id=page.asked, response="yes", **beside)
    assert caught.value.code == "invalid_argument"

    await page.command("input.respond", interrupt_id=page.asked, response="nothing was stored")
    await page.ended(page.run_id)
    assert await notes(page) == ["nothing was stored"]


async def test_an_agent_that_is_no_graph(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(guide))
    await page.submit("Where am I?")
    opened = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]
    with pytest.raises(FarsideError) as caught:
        await page.command("input.respond", interrupt_id=opened["interrupt_id"], response={}, update={"messages": []})
    assert caught.value.code == "not_supported"
    assert [each["state"] for each in (await page.command("state.get"))["calls"]] == ["open"]


async def test_no_message_comes_between_a_call_and_its_result(make_app: Any, open_page: Any) -> None:
    model = Whole(script=once(call("where")))
    page = await open_page(make_app(create_agent(model, [tool(name="where")])))
    run_id = await page.submit("Where am I?")
    opened = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]
    answer = {"interrupt_id": opened["interrupt_id"], "response": {"call_1": "here"}}
    asked = (await page.command("state.get"))["values"]["messages"]

    with pytest.raises(FarsideError, match="send it with the next") as caught:
        await page.command("input.respond", **answer, update={"messages": [{"type": "human", "content": "card"}]})
    edited = {**asked[0], "content": "Where are you?"}
    await page.command("input.respond", **answer, update={"messages": [edited]})
    await page.ended(run_id)

    assert caught.value.code == "invalid_argument"
    said = (await page.command("state.get"))["values"]["messages"]
    assert [message["content"] for message in said] == ["Where are you?", "", "here", "done: here"]


async def restarted(app: Farside, make_app: Any, open_page: Any, graph: Any) -> Any:
    """Another server, after this one has stopped where it was."""
    await app.stop()
    return await open_page(make_app(graph))


async def test_a_server_that_dies_before_it_resumes(
    make_app: Any, open_page: Any, saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(asking(saver))
    page = await open_page(app)
    run_id = await start(page)
    asked = await question(page)
    with monkeypatch.context() as dying:
        dying.setattr(Legs, "answered", lambda *_: None)
        beside = {"update": {"notes": ["pushed"]}, "goto": "extra", "metadata": {"by": "me"}}
        await page.command("input.respond", interrupt_id=asked, response="yes", **beside)

    back = await restarted(app, make_app, open_page, asking(saver))
    await back.ended(run_id)

    assert await notes(back) == ["pushed", "yes", "extra"]
    assert (await back.command("state.listCheckpoints"))["checkpoints"][0]["metadata"]["by"] == "me"


async def test_several_commands_for_one_batch(make_app: Any, open_page: Any, saver: Any) -> None:
    def ask(state: State) -> Any:
        return {"notes": [interrupt({"question": 0})]}

    def ask_too(state: State) -> Any:
        return {"notes": [interrupt({"question": 1})]}

    graph = StateGraph(State)
    for node in (ask, ask_too):
        graph.add_node(node.__name__, node)
        graph.add_edge(START, node.__name__)
    page = await open_page(make_app(graph.compile(checkpointer=saver)))
    run_id = await start(page)
    for number in (1, 0):
        asked = await question(page, number)
        update = {"notes": [f"pushed {number}"]}
        await page.command("input.respond", interrupt_id=asked, response=f"answer {number}", update=update)
    await page.ended(run_id)

    assert sorted((await notes(page))[:2]) == ["pushed 0", "pushed 1"]
    assert (await notes(page))[2:] == ["answer 0", "answer 1"]


@pytest.mark.parametrize("questions", [1, 2])
async def test_a_server_that_dies_while_it_resumes(make_app: Any, open_page: Any, saver: Any, questions: int) -> None:
    """What LangGraph has begun to carry out is not done twice, and what it has not is done."""
    begun = asyncio.Event()

    async def dies() -> None:
        begun.set()
        await asyncio.Event().wait()

    app = make_app(asking(saver, questions=questions, then=dies))
    page = await open_page(app)
    run_id = await start(page)
    for number in range(questions):
        asked = await question(page, number)
        await page.command(
            "input.respond", interrupt_id=asked, response=f"answer {number}", update={"notes": [f"pushed {number}"]}
        )
    await begun.wait()

    back = await restarted(app, make_app, open_page, asking(saver, questions=questions))
    await back.ended(run_id)

    pushed = [f"pushed {number}" for number in range(questions)]
    assert await notes(back) == [*pushed, *(f"answer {number}" for number in range(questions))]
