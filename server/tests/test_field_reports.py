"""What users of other products suffered, by its number: the reports that a server can be held to without a browser.

The agents are LangGraph's, made with create_agent; their model refuses a broken history, as providers do. The reports
that need a real browser are in e2e/field_reports.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool as server_tool

from farside import FarsideError, Settings
from farside.core.model import Call
from farside.langgraph import tool
from farside.stores.memory import MemoryStore
from farside.stores.sqlite import SqliteStore
from server.tests.langgraph.scripted import Streaming, call, calling, once
from server.tests.troubled import TroubledStore

ANY_ARGS = {"type": "object", "additionalProperties": True}
ASK = tool(name="ask", description="Ask the page.", args_schema=ANY_ARGS, timeout=600)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """The store that users have."""
    return SqliteStore(tmp_path / "farside.db")


def answer(interrupt_id: str, value: Any) -> dict[str, Any]:
    return {"interrupt_id": interrupt_id, "claim_id": "claim-1", "result": {"status": "success", "value": value}}


def tool_messages(messages: list[BaseMessage]) -> dict[str, str]:
    return {m.tool_call_id: str(m.content) for m in messages if isinstance(m, ToolMessage)}


async def opened(page: Any, count: int = 1) -> list[dict[str, Any]]:
    await page.until(lambda e: len(page.calls("opened")) == count)
    return page.calls("opened")


@pytest.mark.parametrize("seed", range(200))
async def test_f2_each_result_lands_on_its_own_call(make_app, open_page, seed):
    """Two calls with random delays, answered in reverse order, 200 runs."""
    delays = random.Random(seed)
    first_done = {1: asyncio.Event(), 2: asyncio.Event()}
    order = [1, 2] if seed % 2 else [2, 1]

    async def body(n: int) -> str:
        if n == order[1]:
            await first_done[order[0]].wait()
        for _ in range(delays.randrange(20)):
            await asyncio.sleep(0)
        first_done[n].set()
        return f"answer {n}"

    model = Streaming(script=once(call("ask", "one", n=1), call("ask", "two", n=2)))
    page = await open_page(make_app(create_agent(model, [ASK]), store=MemoryStore()), tools={"ask": body})
    await page.ask("ask twice")

    assert tool_messages(model.seen[-1]) == {"one": "answer 1", "two": "answer 2"}


async def test_f3_a_server_tool_beside_a_browser_tool_runs_once(make_app, open_page):
    """With a restart of the server between pause and answer. (With kill -9: engine/test_kill.py.)"""
    charges: list[int] = []

    @server_tool
    def charge() -> str:
        """Charge the card."""
        charges.append(5)
        return "charged"

    def serve() -> Any:
        return make_app(create_agent(Streaming(script=once(call("charge", "c"), call("ask", "a"))), [ASK, charge]))

    first = serve()
    page = await open_page(first)
    run_id = await page.submit("buy")
    await opened(page)
    await page.close()
    await first.stop()
    back = await open_page(serve(), tools={"ask": lambda: "yes"})
    await back.ended(run_id)

    assert charges == [5]


async def test_f4_the_first_of_two_answers_wins_and_the_graph_goes_on_once(make_app, open_page):
    model = Streaming(script=once(call("ask", "a")))
    page = await open_page(make_app(create_agent(model, [ASK])))
    run_id = await page.submit("ask")
    [asked] = await opened(page)
    await page.command("call.settle", **answer(asked["interrupt_id"], "first"))
    with pytest.raises(FarsideError) as refused:
        await page.command("call.settle", **answer(asked["interrupt_id"], "second"))
    await page.ended(run_id)

    assert refused.value.code == "call_settled"
    assert [tool_messages(seen) for seen in model.seen] == [{}, {"a": "first"}]


@pytest.mark.parametrize("policy", ["cancel", "refuse", "queue"])
async def test_f6_a_message_while_a_call_is_open_leaves_a_history_that_a_provider_takes(make_app, open_page, policy):
    model = Streaming(script=once(call("ask", "a")))
    app = make_app(create_agent(model, [ASK]), settings=Settings(on_new_message=policy))
    page = await open_page(app)
    first = await page.submit("ask")
    [asked] = await opened(page)
    second = None
    try:
        second = await page.submit("hello?")
    except FarsideError as error:
        assert (policy, error.code) == ("refuse", "run_interrupted")
    if policy != "cancel":
        await page.command("call.settle", **answer(asked["interrupt_id"], "late"))
    await page.ended(first)
    if second is not None:
        assert (await page.ended(second))["event"] == "completed"
    assert (await page.ended(await page.submit("and now?")))["event"] == "completed"

    kinds = [message.type for message in model.seen[-1]]
    assert (
        kinds
        == {
            "cancel": ["human", "ai", "tool", "human", "ai", "human"],
            "refuse": ["human", "ai", "tool", "ai", "human"],
            "queue": ["human", "ai", "tool", "ai", "human", "ai", "human"],
        }[policy]
    )


async def test_f13_after_a_restart_the_next_turn_still_has_its_tools(make_app, open_page):
    """The page's tools are those that the server declares, not those that a process remembers."""

    def serve() -> tuple[Any, Streaming]:
        model = Streaming(script=lambda messages: calling(call("ask", f"a{len(messages)}")) if ends(messages) else done)
        return make_app(create_agent(model, [ASK])), model

    done = AIMessage("done")

    def ends(messages: list[BaseMessage]) -> bool:
        return messages[-1].type == "human"

    first, _ = serve()
    page = await open_page(first)
    run_id = await page.submit("ask")
    await opened(page)
    await page.close()
    await first.stop()
    second, model = serve()
    back = await open_page(second, tools={"ask": lambda: "yes"})
    await back.ended(run_id)

    assert (await back.ask("ask again")).strip() == "done"
    assert len(back.executions) == 2
    assert [bound.name for bound in model._tools] == ["ask"]


async def test_f14_siblings_that_answer_at_different_times_are_continued_once(make_app, open_page, clock):
    """At 0 ms, 49 ms, 51 ms and 5 s."""
    model = Streaming(script=once(*(call("ask", f"c{n}", n=n) for n in range(4))))
    page = await open_page(make_app(create_agent(model, [ASK])))
    run_id = await page.submit("ask four times")
    asked = await opened(page, 4)
    for each, pause in zip(asked, (0, 49, 2, 4949), strict=True):
        clock.advance(pause)
        assert len(model.seen) == 1
        await page.command("call.settle", **answer(each["interrupt_id"], each["args"]["n"]))
    await page.ended(run_id)

    assert len(model.seen) == 2
    assert tool_messages(model.seen[-1]) == {"c0": "0", "c1": "1", "c2": "2", "c3": "3"}


async def test_f15_a_late_result_for_a_cancelled_call_is_dropped_and_logged(make_app, open_page, caplog):
    model = Streaming(script=once(call("ask", "a")))
    page = await open_page(make_app(create_agent(model, [ASK])))
    run_id = await page.submit("ask")
    [asked] = await opened(page)
    await page.stop()
    await page.ended(run_id)
    caplog.set_level("INFO", "farside.engine")
    with pytest.raises(FarsideError) as refused:
        await page.command("call.settle", **answer(asked["interrupt_id"], "late"))

    assert refused.value.code == "call_settled"
    assert "call_settled" in caplog.text
    assert len(model.seen) == 1


async def test_f16_after_stop_no_model_is_called_again(make_app, open_page):
    """(That the body sees its signal: e2e/field_reports.)"""
    model = Streaming(script=once(call("ask", "a")))
    page = await open_page(make_app(create_agent(model, [ASK])))
    run_id = await page.submit("ask")
    await opened(page)
    await page.stop()
    ended = await page.ended(run_id)
    state = await page.command("state.get")

    assert (ended["event"], ended["code"]) == ("interrupted", "cancelled")
    assert len(model.seen) == 1
    assert [m["type"] for m in state["values"]["messages"]] == ["human", "ai", "tool"]


async def test_f19_a_model_that_calls_for_ever_is_stopped_and_told_why(make_app, open_page):
    model = Streaming(script=lambda messages: calling(call("ask", f"a{len(messages)}")))
    app = make_app(create_agent(model, [ASK]), settings=Settings(max_tool_calls=10))
    page = await open_page(app, tools={"ask": lambda: "again"})
    ended = await page.ended(await page.submit("ask"))
    state = await page.command("state.get")

    assert (ended["event"], ended["code"]) == ("failed", "limit_exceeded")
    assert len(page.executions) == 10
    calls = [c["id"] for m in state["values"]["messages"] for c in m.get("tool_calls") or []]
    assert sorted(calls) == sorted(m["tool_call_id"] for m in state["values"]["messages"] if m["type"] == "tool")


async def test_f20_an_answer_in_the_same_tick_as_the_call_counts(make_app, open_page):
    model = Streaming(script=once(call("ask", "a")))
    page = await open_page(make_app(create_agent(model, [ASK])), tools={"ask": lambda: "at once"})

    assert (await page.ask("ask")).strip() == "done: at once"


async def test_f21_nobody_can_answer_what_is_not_stored_yet(make_app, open_page):
    """L1, with a store that takes its time: the call is not announced before it is there."""
    store = TroubledStore()
    storing, go_on = asyncio.Event(), asyncio.Event()

    async def slow(writes: Any) -> None:
        if any(isinstance(write, Call) and write.version == 1 for write in writes):
            storing.set()
            await go_on.wait()

    store.before_commit = slow
    model = Streaming(script=once(call("ask", "a")))
    page = await open_page(make_app(create_agent(model, [ASK]), store=store), tools={"ask": lambda: "yes"})
    run_id = await page.submit("ask")
    await storing.wait()
    await page.command("connection.ping")
    assert page.calls("opened") == []
    assert page.executions == []
    go_on.set()
    await page.ended(run_id)

    assert tool_messages(model.seen[-1]) == {"a": "yes"}


async def test_f30_the_arguments_of_settled_calls_stay_in_the_history(make_app, open_page):
    model = Streaming(script=once(call("ask", "a", city="Bern", days=3)))
    app = make_app(create_agent(model, [ASK]))
    page = await open_page(app, tools={"ask": lambda city, days: "sunny"})
    await page.ask("weather?")
    late = await open_page(app)

    def calls_of(messages: list[dict[str, Any]]) -> list[Any]:
        return [c["args"] for message in messages for c in message.get("tool_calls") or []]

    assert [m.tool_calls[0]["args"] for m in model.seen[-1] if isinstance(m, AIMessage)] == [
        {"city": "Bern", "days": 3}
    ]
    assert calls_of(late.values["messages"]) == [{"city": "Bern", "days": 3}]
    assert (await late.command("state.get"))["calls"][0]["args"] == {"city": "Bern", "days": 3}
