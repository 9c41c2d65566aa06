"""A list of conversations, kept by LangGraph's own Python client, unmodified."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from langgraph_sdk.errors import APIStatusError, BadRequestError, ConflictError, NotFoundError

from farside import Turn
from server.tests.agents import echo, guide


async def broken(turn: Turn, value: Any) -> None:
    """Fails."""
    raise RuntimeError("on purpose")


def ask(state: Any) -> Any:
    """Asks a person."""
    return {"messages": [("ai", f"You said {interrupt({'question': 'Sure?'})}.")]}


def count(state: Any) -> Any:
    """Says how many messages there are."""
    return {"messages": [("ai", str(len(state["messages"])))]}


def asking() -> Any:
    """A graph that asks a person."""
    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    return graph.compile()


AGENTS = {"assistant": echo, "guide": guide, "broken": broken, "asking": asking()}


@pytest.fixture
async def client(open_client: Any) -> Any:
    return await open_client(AGENTS)


async def start(client: Any, thread_id: str, agent: str = "assistant", text: str = "hi", **params: Any) -> Any:
    """Start a run by a command over HTTP, as a hook does."""
    chat = {"messages": [{"type": "human", "content": text, "id": f"m-{text}"}]}
    command = {"id": 1, "method": "run.start", "params": {"assistant_id": agent, "input": chat, **params}}
    reply = await client.http.post(f"/threads/{thread_id}/commands", json=command)
    assert reply["type"] == "success", reply
    return reply["result"]["run_id"]


async def settled(client: Any, thread_id: str) -> Any:
    """The thread, when its newest run has ended."""
    ended = ("completed", "failed")
    await heard(client, thread_id, ["lifecycle", "messages"], lambda e: e["params"]["data"].get("event") in ended)
    return await client.threads.get(thread_id)


async def asked(client: Any, thread_id: str) -> Any:
    """The thread, when its newest run waits for an answer."""
    await heard(client, thread_id, ["lifecycle", "input"], lambda e: e["method"] == "input.requested")
    return await client.threads.get(thread_id)


async def heard(client: Any, thread_id: str, channels: list[str], fits: Callable[[Any], bool]) -> None:
    """Returns when such an event comes."""
    watched = {"channels": channels}
    async with client.http.client.stream("POST", f"/threads/{thread_id}/stream/events", json=watched) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: ") and fits(json.loads(line.removeprefix("data: "))):
                return


async def found(client: Any, **query: Any) -> list[str]:
    """The ids of the threads that fit, which are as many as the count says."""
    threads = await client.threads.search(**{"select": ["thread_id"], "limit": 1000, **query})
    counted = {name: query[name] for name in ("metadata", "status") if name in query}
    if counted.keys() == query.keys():
        assert await client.threads.count(**counted) == len(threads)
    assert all(thread.keys() == {"thread_id"} for thread in threads)
    return [thread["thread_id"] for thread in threads]


async def test_a_thread_is_made_described_and_deleted(client: Any, clock: Any) -> None:
    made = await client.threads.create(metadata={"user": "ada"}, graph_id="assistant")
    now = datetime.fromtimestamp(clock.now() / 1000, UTC)
    assert datetime.fromisoformat(made["created_at"]) == now.replace(microsecond=now.microsecond // 1000 * 1000)
    assert made["updated_at"] == made["state_updated_at"] == made["created_at"]
    del made["created_at"], made["updated_at"], made["state_updated_at"]
    assert made == {
        "thread_id": made["thread_id"],
        "metadata": {"user": "ada", "graph_id": "assistant"},
        "status": "idle",
        "values": {},
        "interrupts": {},
    }
    clock.advance(1000)
    changed = await client.threads.update(made["thread_id"], metadata={"title": "Tea", "user": "bob"})
    assert changed["metadata"] == {"user": "bob", "graph_id": "assistant", "title": "Tea"}
    assert changed["updated_at"] > changed["created_at"] == changed["state_updated_at"]
    assert await client.threads.get(made["thread_id"]) == changed
    assert await client.threads.update(made["thread_id"], metadata={"a": 1}, return_minimal=True) is None
    assert (await client.threads.get_state(made["thread_id"]))["values"] == {}

    await client.threads.delete(made["thread_id"])
    for lost in (client.threads.get, client.threads.delete, client.threads.get_state):
        with pytest.raises(NotFoundError, match="no thread"):
            await lost(made["thread_id"])
    with pytest.raises(NotFoundError):
        await client.threads.update(made["thread_id"], metadata={})
    assert await found(client) == []


async def test_a_thread_is_made_once(client: Any) -> None:
    await client.threads.create(thread_id="t1", metadata={"a": 1})
    with pytest.raises(ConflictError, match="there is a thread 't1'; use it, or take another id"):
        await client.threads.create(thread_id="t1", if_exists="raise")
    with pytest.raises(ConflictError):
        await client.threads.create(thread_id="t1")
    again = await client.threads.create(thread_id="t1", metadata={"a": 2}, if_exists="do_nothing")
    assert again["metadata"] == {"a": 1}
    made = await asyncio.gather(*(client.threads.create(thread_id="t2") for _ in range(5)), return_exceptions=True)
    assert sum(not isinstance(each, ConflictError) for each in made) == 1


async def test_a_thread_that_was_made_empty_runs(client: Any, clock: Any) -> None:
    await client.threads.create(thread_id="t1", metadata={"user": "ada"})
    clock.advance(1000)
    await start(client, "t1", metadata={"topic": "tea", "graph_id": "what a client says"})
    thread = await settled(client, "t1")
    assert thread["status"] == "idle"
    assert [message["content"] for message in thread["values"]["messages"]] == ["hi", "You said hi."]
    assert thread["metadata"] == {
        "user": "ada",
        "topic": "tea",
        "graph_id": "assistant",
        "assistant_id": "assistant",
    }
    assert thread["updated_at"] == thread["state_updated_at"] > thread["created_at"]
    assert await found(client, metadata={"graph_id": "assistant", "user": "ada"}) == ["t1"]


async def test_status(client: Any) -> None:
    await client.threads.create(thread_id="new")
    await start(client, "calls", "guide")
    await start(client, "asks", "asking")
    await start(client, "fails", "broken")
    calls, asks = await asked(client, "calls"), await asked(client, "asks")
    fails = await settled(client, "fails")

    assert calls["interrupts"] == {}, "who hears of a tool call would execute it"
    [[name, [question]]] = asks["interrupts"].items()
    assert question == {"id": name, "value": {"question": "Sure?"}}
    assert (calls["status"], asks["status"], fails["status"]) == ("interrupted", "interrupted", "error")
    assert "the agent raised an exception" in fails["error"]
    assert "error" not in calls
    assert sorted(await found(client, status="interrupted")) == ["asks", "calls"]
    assert await found(client, status="error") == ["fails"]
    assert await found(client, status="idle") == ["new"]
    assert await found(client, status="busy") == []

    await start(client, "fails")
    again = await settled(client, "fails")
    assert again["status"] == "idle"
    assert "error" not in again


async def test_a_run_that_is_under_way_is_busy(open_client: Any) -> None:
    go_on = asyncio.Event()

    async def slow(turn: Turn, value: Any) -> None:
        await go_on.wait()

    client = await open_client(slow)
    await start(client, "t1")
    await start(client, "t1", text="and")
    assert (await client.threads.get("t1"))["status"] == "busy"
    assert await found(client, status="busy") == ["t1"]
    go_on.set()


async def test_pages(client: Any, clock: Any) -> None:
    for name in "abcde":
        await client.threads.create(thread_id=name, metadata={"even": name in "bd"})
        clock.advance(10)
    await client.threads.update("b", metadata={"x": 1})
    assert await found(client) == ["b", "e", "d", "c", "a"]
    assert await found(client, sort_by="created_at") == ["e", "d", "c", "b", "a"]
    assert await found(client, sort_by="thread_id", sort_order="asc") == ["a", "b", "c", "d", "e"]
    assert await found(client, metadata={"even": True}) == ["b", "d"]
    assert await found(client, ids=["c", "e"]) == ["e", "c"]

    async def page(offset: int) -> tuple[list[str], str | None]:
        body = {"sort_by": "created_at", "sort_order": "asc", "limit": 2, "offset": offset, "select": ["thread_id"]}
        reply = await client.http.client.post("/threads/search", json=body)
        return [thread["thread_id"] for thread in reply.json()], reply.headers.get("x-pagination-next")

    assert await page(0) == (["a", "b"], "2")
    assert await page(2) == (["c", "d"], "4")
    assert await page(4) == (["e"], None)
    assert await page(3) == (["d", "e"], None)


async def test_what_is_not_selected_is_not_read(client: Any, make_app: Any, monkeypatch: Any) -> None:
    from farside.functions import FunctionRuntime

    await start(client, "t1")
    await settled(client, "t1")

    async def unread(*arguments: Any) -> Any:
        raise AssertionError("a state was read")

    monkeypatch.setattr(FunctionRuntime, "state", unread)
    fields = ["thread_id", "created_at", "updated_at", "metadata", "config", "context", "status", "interrupts"]
    [thread] = await client.threads.search(select=fields)
    assert thread.keys() == set(fields) - {"config", "context"}
    [whole] = await client.threads.search()
    assert whole["values"] is None, "a state that cannot be read does not keep the list from being shown"


async def test_threads_of_an_agent_that_is_not_served_any_more(open_client: Any, store: Any, clock: Any) -> None:
    client = await open_client({"assistant": echo, "old": echo})
    await start(client, "t1", "old")
    await settled(client, "t1")
    other = await open_client({"assistant": echo})
    [thread] = await other.threads.search()
    assert (thread["thread_id"], thread["values"]) == ("t1", None)
    with pytest.raises(APIStatusError, match="belongs to agent 'old', which is not served now") as refused:
        await other.threads.delete("t1")
    assert refused.value.status_code == 503
    assert (await client.threads.get("t1"))["values"]["messages"] != []


@pytest.mark.parametrize(
    ("method", "arguments", "expected"),
    [
        ("search", {"limit": 1001}, "limit: Input should be less than or equal to 1000"),
        ("search", {"limit": 0}, "limit: Input should be greater than or equal to 1"),
        ("search", {"offset": -1}, "offset"),
        ("search", {"offset": 2**60}, "number"),
        ("search", {"status": "sleeping"}, "status: Input should be 'idle', 'busy', 'interrupted' or 'error'"),
        ("search", {"sort_by": "metadata; DROP TABLE farside_threads"}, "sort_by"),
        ("search", {"sort_order": "sideways"}, "sort_order"),
        ("search", {"select": ["secrets"]}, "select.0"),
        ("search", {"ids": ["x"] * 1001}, "ids"),
        ("search", {"metadata": "all"}, "metadata"),
        ("search", {"metadata": {"a": "x" * 70_000}}, "metadata of at most 65536 bytes"),
        ("search", {"values": {"a": 1}}, "found by their metadata, not by their values"),
        ("search", {"extract": {"a": "values.b"}}, "nothing is extracted"),
        ("count", {"values": {"a": 1}}, "found by their metadata, not by their values"),
        ("create", {"thread_id": "a/b"}, "expected a thread id of 1 to 128 letters"),
        ("create", {"if_exists": "maybe"}, "if_exists"),
        ("create", {"ttl": 5}, "no thread is deleted by time"),
        ("create", {"supersteps": [{"updates": []}]}, "a thread begins empty"),
        ("create", {"metadata": {str(number): 1 for number in range(300)}}, "256 members"),
    ],
)
async def test_what_is_refused_says_what_was_expected(
    open_client: Any, method: str, arguments: Any, expected: str
) -> None:
    client = await open_client(echo)
    with pytest.raises(BadRequestError, match=expected):
        await getattr(client.threads, method)(**arguments)
    assert await found(client) == []


async def test_hostile_bodies(client: Any) -> None:
    await client.threads.create(thread_id="t1", metadata={"a": 1})
    http: httpx.AsyncClient = client.http.client
    deep = '{"metadata": {"a": ' + "[" * 100 + "]" * 100 + "}}"
    for body in ("[]", "null", "1", "{", "\x00", deep, '{"metadata": {"__proto__": 1}}', '{"metadata": {"a": 1e999}}'):
        for method, path in (("POST", "/threads"), ("POST", "/threads/search"), ("PATCH", "/threads/t1")):
            reply = await http.request(method, path, content=body)
            assert reply.status_code == 400, (body, method, path)
            assert reply.json().keys() == {"error", "message"}
    for name in ("a' OR '1'='1", 'a" OR 1=1 --', "$.a", "%", "a\x00", "'; DROP TABLE farside_threads; --"):
        assert await found(client, metadata={name: 1}) == []
        assert (await client.threads.update("t1", metadata={name: name}))["metadata"][name] == name
        assert await found(client, metadata={name: name}) == ["t1"]
    for path in ("/threads/a b", "/threads/" + "x" * 129, "/threads/%00"):
        assert (await http.get(path)).status_code == (await http.delete(path)).status_code == 400
    assert (await http.post("/threads")).status_code == 200
    assert (await http.post("/threads/search", json={"limit": 1.0, "status": None, "unknown": 1})).status_code == 200
    assert (await http.put("/threads/t1")).status_code == 404


async def test_metadata_do_not_grow_without_end(client: Any) -> None:
    await client.threads.create(thread_id="t1", metadata={str(number): 1 for number in range(250)})
    with pytest.raises(BadRequestError, match="256 members"):
        await client.threads.update("t1", metadata={f"more-{number}": 1 for number in range(7)})
    command = {"assistant_id": "assistant", "metadata": {f"more-{number}": 1 for number in range(7)}}
    reply = await client.http.post("/threads/t1/commands", json={"id": 1, "method": "run.start", "params": command})
    assert (reply["type"], reply["error"]) == ("error", "too_large")
    thread = await client.threads.get("t1")
    assert (thread["status"], len(thread["metadata"])) == ("idle", 250)


async def test_a_graph_that_has_its_own_saver_forgets_what_was_deleted(open_client: Any) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("hello", count)
    graph.add_edge(START, "hello")
    saver = InMemorySaver()
    client = await open_client(graph.compile(checkpointer=saver))
    for expected in ("1", "1"):
        await start(client, "t1")
        thread = await settled(client, "t1")
        assert thread["values"]["messages"][-1]["content"] == expected
        await client.threads.delete("t1")
        assert list(saver.list({"configurable": {"thread_id": "t1"}})) == []
