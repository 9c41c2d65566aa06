"""States, histories and graphs over HTTP, as LangGraph's clients read them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from farside import FarsideError
from farside.langgraph import tool
from farside.testing import serve
from server.tests.agents import echo, guide
from server.tests.langgraph.scripted import Whole, call, once

THREAD = "/threads/thread-1"


def done(messages: list[BaseMessage]) -> AIMessage:
    """A script that repeats what it was told."""
    return AIMessage(f"done: {messages[-1].content}")


def asking() -> Any:
    """A graph with a graph in it that asks a question."""

    def ask(state: MessagesState) -> Any:
        return {"messages": [AIMessage(str(interrupt({"question": 1})), id="answer")]}

    inner = StateGraph(MessagesState)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    return outer.compile()


@pytest.fixture
async def open_thread(make_app: Any, open_page: Any) -> AsyncGenerator[Any]:
    """Serves an agent, has a page ask it something; gives the page and a client of the HTTP routes."""
    async with AsyncExitStack() as opened:

        async def open_one(agent: Any, **options: Any) -> tuple[Any, httpx.AsyncClient]:
            app = make_app(agent)
            page = await open_page(app, **options)
            await page.command("subscription.subscribe", channels=["input"])
            page.run_id = await page.submit("hi")
            address = await opened.enter_async_context(serve(app))
            http = httpx.AsyncClient(base_url=f"http://{address}", timeout=10)
            return page, await opened.enter_async_context(http)

        yield open_one


async def get(http: httpx.AsyncClient, path: str, status: int = 200) -> Any:
    reply = await http.get(path)
    assert reply.status_code == status
    return reply.json()


async def post(http: httpx.AsyncClient, path: str, body: Any, status: int = 200) -> Any:
    reply = await http.post(path, json=body)
    assert reply.status_code == status
    return reply.json()


async def history(http: httpx.AsyncClient, **body: Any) -> list[dict[str, Any]]:
    return await post(http, f"{THREAD}/history", body)


async def test_the_state_of_a_thread_at_rest(open_thread: Any) -> None:
    page, http = await open_thread(create_agent(Whole(script=done)))
    await page.ended(page.run_id)

    state = await get(http, f"{THREAD}/state")

    assert [message["content"] for message in state["values"]["messages"]] == ["hi", "done: hi"]
    assert state["next"] == []
    assert "tasks" not in state
    assert {key: state["metadata"][key] for key in ("source", "step", "run_id")} == {
        "source": "loop",
        "step": 1,
        "run_id": page.run_id,
    }
    assert state["created_at"].startswith("20")
    place = {"thread_id": "thread-1", "checkpoint_ns": ""}
    assert state["checkpoint"] == {**place, "checkpoint_id": state["checkpoint_id"]}
    assert state["parent_checkpoint"] == {**place, "checkpoint_id": state["parent_checkpoint_id"]}
    assert state["parent_checkpoint_id"] < state["checkpoint_id"]


async def test_tool_calls_are_in_no_task(open_thread: Any) -> None:
    """A hook would execute them in every tab."""
    page, http = await open_thread(create_agent(Whole(script=once(call("where"))), [tool(name="where")]))
    await page.until(lambda e: e["method"] == "calls")

    state = await get(http, f"{THREAD}/state")
    newest = (await history(http))[0]

    assert state["next"] == ["tools"]
    assert "tasks" not in state
    assert [(task["name"], task["interrupts"]) for task in newest["tasks"]] == [("tools", [])]


async def test_a_history(open_thread: Any) -> None:
    page, http = await open_thread(create_agent(Whole(script=done)))
    await page.ended(page.run_id)
    await page.ask("again")

    states = await history(http)
    ids = [state["checkpoint_id"] for state in states]

    assert ids == sorted(ids, reverse=True)
    assert [state["metadata"]["step"] for state in states] == [4, 3, 2, 1, 0, -1]
    assert [state["next"] for state in states] == [[], ["model"], ["__start__"], [], ["model"], ["__start__"]]
    assert [state["parent_checkpoint_id"] for state in states] == [*ids[1:], None]
    assert states[0] == {**await get(http, f"{THREAD}/state"), "tasks": []}
    for page_of in ({"before": ids[1]}, {"before": {"checkpoint_id": ids[1]}}):
        assert await history(http, limit=2, **page_of) == states[2:4]
    assert await history(http, before={"configurable": {"checkpoint_id": ids[1]}}, limit=2) == states[2:4]
    assert await history(http, metadata={"run_id": page.run_id}) == states[3:]
    assert await history(http, metadata={"source": "input"}) == [states[2], states[5]]
    listed = (await page.command("state.listCheckpoints", limit=2, before=ids[0]))["checkpoints"]
    assert listed == [
        {
            "id": s["checkpoint_id"],
            "timestamp": s["created_at"],
            "step": s["metadata"]["step"],
            "metadata": s["metadata"],
        }
        for s in states[1:3]
    ]


async def test_a_state_that_was(open_thread: Any) -> None:
    page, http = await open_thread(create_agent(Whole(script=done)))
    await page.ended(page.run_id)
    states = await history(http)
    first = states[-1]

    assert await get(http, f"{THREAD}/state/{first['checkpoint_id']}") == first
    assert await post(http, f"{THREAD}/state/checkpoint", {"checkpoint": first["checkpoint"]}) == first
    assert await post(http, f"{THREAD}/state/checkpoint", {"checkpoint": {}}) == states[0]
    assert (await get(http, f"{THREAD}/state/nothing", 404))["error"] == "no_such_checkpoint"


async def test_a_graph_within(open_thread: Any) -> None:
    page, http = await open_thread(asking())
    asked = (await page.until(lambda e: e["method"] == "input.requested"))["params"]["data"]

    newest = (await history(http, limit=1))[0]
    [task] = newest["tasks"]
    place = task["checkpoint"]
    namespace = [place["checkpoint_ns"]]
    inner = await page.command("state.get", namespace=namespace)

    assert task["interrupts"] == [{"id": asked["interrupt_id"], "value": {"question": 1}}]
    assert [message["content"] for message in inner["values"]["messages"]] == ["hi"]
    assert inner["checkpoint"]["ns"] == place["checkpoint_ns"]
    within = await history(http, checkpoint={"checkpoint_ns": place["checkpoint_ns"]})
    assert [state["checkpoint"]["checkpoint_ns"] for state in within] == [place["checkpoint_ns"]] * 2
    assert [state["next"] for state in within] == [["ask"], ["__start__"]]
    now = await post(http, f"{THREAD}/state/checkpoint", {"checkpoint": place})
    assert now == {key: value for key, value in within[0].items() if key != "tasks"}
    listed = await page.command("state.listCheckpoints", namespace=namespace)
    assert [each["id"] for each in listed["checkpoints"]] == [state["checkpoint_id"] for state in within]
    tree = (await page.command("agent.getTree"))["tree"]
    assert tree["children"] == [{"namespace": namespace, "status": "interrupted", "graph_name": "inner"}]


async def test_a_namespace_that_is_none(open_thread: Any) -> None:
    page, http = await open_thread(asking())
    await page.until(lambda e: e["method"] == "input.requested")
    for method in ("state.get", "state.listCheckpoints"):
        with pytest.raises(FarsideError) as caught:
            await page.command(method, namespace=["inner:none"])
        assert caught.value.code == "no_such_namespace"
    assert await history(http, checkpoint={"checkpoint_ns": "inner:none"}) == []
    body = {"checkpoint": {"checkpoint_ns": "inner:none"}}
    assert (await post(http, f"{THREAD}/state/checkpoint", body, 404))["error"] == "no_such_namespace"


async def test_an_agent_without_checkpoints(open_thread: Any) -> None:
    page, http = await open_thread(echo)
    await page.ended(page.run_id)
    state = await get(http, f"{THREAD}/state")
    assert (state["checkpoint"], state["parent_checkpoint"], state["next"]) == (None, None, [])
    assert await history(http) == []
    assert (await get(http, f"{THREAD}/state/c1", 400))["error"] == "not_supported"
    assert (await get(http, "/assistants/assistant/graph", 404))["error"] == "not_found"


async def test_a_run_whose_agent_has_stored_nothing(open_thread: Any) -> None:
    """A hook opens no stream for a thread at rest."""
    page, http = await open_thread(guide)
    await page.until(lambda e: e["method"] == "calls")
    state = await get(http, f"{THREAD}/state")
    assert state["next"] == ["__start__"]
    assert "tasks" not in state


async def test_a_thread_that_is_none(open_thread: Any) -> None:
    _, http = await open_thread(create_agent(Whole(script=done)))
    for path in ("/threads/other/state", "/threads/other/state/c1"):
        assert (await get(http, path, 404))["error"] == "not_found"
    assert (await post(http, "/threads/other/history", {}, 404))["error"] == "not_found"


async def test_a_history_that_is_asked_for_wrongly(open_thread: Any) -> None:
    _, http = await open_thread(echo)
    for body in (
        [],
        {"limit": 0},
        {"limit": 1001},
        {"limit": "1"},
        {"limit": True},
        {"before": 1},
        {"before": {"checkpoint_id": 1}},
        {"before": {"configurable": []}},
        {"metadata": []},
        {"checkpoint": "inner:1"},
        {"checkpoint": {"checkpoint_ns": 1}},
    ):
        refusal = await post(http, f"{THREAD}/history", body, 400)
        assert refusal["error"] == "invalid_argument"
        assert "expected" in refusal["message"]


async def test_the_graph_of_an_agent(open_thread: Any) -> None:
    _, http = await open_thread(asking())
    flat = await get(http, "/assistants/assistant/graph")
    deep = await get(http, "/assistants/assistant/graph?xray=true")

    assert [node["id"] for node in flat["nodes"]] == ["__start__", "inner", "__end__"]
    assert {"source": "__start__", "target": "inner"} in flat["edges"]
    assert "inner:ask" in [node["id"] for node in deep["nodes"]]
    assert await get(http, "/assistants/assistant/graph?xray=1") == deep
    assert (await get(http, "/assistants/assistant/graph?xray=all", 400))["error"] == "invalid_argument"
    assert (await get(http, "/assistants/nobody/graph", 404))["error"] == "not_found"
