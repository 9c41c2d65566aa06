"""A client that speaks only the Agent Streaming Protocol: the frames that the official hooks send."""

from __future__ import annotations

import pytest

from farside import Farside, FarsideError
from farside.stores.memory import MemoryStore
from farside.testing import MemoryLink
from server.tests.agents import pair
from server.tests.asgi.hook import Hook


async def test_a_turn_as_the_hook_drives_it(hooks):
    hook = await hooks()
    await hook.start("geo please")
    requested = await hook.requested()
    call = requested["payload"]["tool_call"]
    assert requested["payload"] == {
        "type": "tool",
        "tool_call": {"id": call["id"], "name": "locate", "args": {"high": True}},
    }

    answer = {"interrupt_id": requested["interrupt_id"], "response": {call["id"]: {"lat": 1}}, "namespace": []}
    await hook.send("input.respond", responses=[answer])

    assert (await hook.ended())["event"] == "completed"
    assert hook.texts() == ["You are at 1."]
    events = [m for m in hook.heard if m["type"] == "event"]
    assert "calls" not in {m["method"] for m in events}
    assert [m["result"] for m in hook.heard if m["type"] == "success" and m["id"] == 4] == [{}]


async def test_the_single_form_of_an_answer(hooks):
    hook = await hooks()
    await hook.start("geo please")
    requested = await hook.requested()
    call_id = requested["payload"]["tool_call"]["id"]
    await hook.send(
        "input.respond", namespace=[], interrupt_id=requested["interrupt_id"], response={call_id: {"lat": 2}}
    )
    await hook.ended()

    assert hook.texts() == ["You are at 2."]


async def test_a_thrown_error_is_a_failure_not_a_value(hooks):
    """L12."""
    hook = await hooks()
    await hook.start("geo please")
    requested = await hook.requested()
    response = {requested["payload"]["tool_call"]["id"]: {"error": "no GPS"}}
    await hook.send("input.respond", responses=[{"interrupt_id": requested["interrupt_id"], "response": response}])
    await hook.ended()

    assert hook.texts() == ["No position: failed"]


async def test_of_two_tabs_only_the_one_that_asked_hears_the_call(hooks):
    """L2 for clients that know no claims."""
    other, asking = await hooks(), await hooks()
    await other.subscribe()
    await asking.start("geo please")
    requested = await asking.requested()
    response = {requested["payload"]["tool_call"]["id"]: {"lat": 1}}
    await asking.send("input.respond", responses=[{"interrupt_id": requested["interrupt_id"], "response": response}])
    await asking.ended()
    await other.ended()

    assert [m for m in other.heard if m.get("method") == "input.requested"] == []
    assert other.texts() == ["You are at 1."]


async def test_a_second_answer_changes_nothing_and_a_partial_batch_waits(hooks):
    """L3. It is no error to a hook, which would take it for the end of the conversation."""
    hook = await hooks()
    await hook.start("pay", agent="pair")
    first, second = await hook.requested(), await hook.requested()
    await hook.answer(second, "two")
    again = await hook.answer(second, "other")
    assert (await hook.reply(again))["result"] == {}
    await hook.answer(first, "one")
    await hook.ended()

    assert hook.texts() == ["one two"]


async def test_the_next_tab_gets_the_call_when_the_first_is_gone(hooks, clock):
    asking = await hooks()
    await asking.start("geo please")
    await asking.requested()
    heir = await hooks()
    await heir.subscribe()
    await asking.link.close()
    clock.advance(10_000)

    requested = await heir.requested()
    await heir.answer(requested, {"lat": 5})
    await heir.ended()

    assert heir.texts() == ["You are at 5."]


async def test_what_a_plain_page_may_have_begun_is_not_begun_again_after_a_restart(clock):
    """L8: offered means claimed; the tool is not idempotent."""
    store = MemoryStore()
    app = Farside({"assistant": pair}, store=store, clock=clock)
    hook = Hook(await MemoryLink(app, "t", None).open())
    await hook.start("pay")
    await hook.requested()
    await app.stop()
    app = Farside({"assistant": pair}, store=store, clock=clock)
    heir = Hook(await MemoryLink(app, "t", None).open())
    await heir.subscribe()
    await clock.somebody_waits(30_000)
    clock.advance(30_000)
    await heir.ended()

    assert [m for m in heir.heard if m.get("method") == "input.requested"] == []
    calls = await store.calls("t")
    assert [call.snapshot()["result"]["error"]["code"] for call in calls] == ["interrupted", "interrupted"]
    await heir.link.close()
    await app.stop()


async def test_a_question_is_no_call(make_app, open_page):
    """An interrupt that is no tool call is answered with input.respond, and cannot be claimed."""
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import interrupt

    def ask(state):
        return {"messages": [AIMessage(f"You chose {interrupt('Tea or coffee?')}.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    page = await open_page(make_app(graph.compile()))
    await page.command("subscription.subscribe", channels=["input"])
    run_id = await page.submit("hi")
    await page.until(lambda e: e["method"] == "input.requested")
    [question] = (await page.command("subscription.subscribe", channels=["calls"]))["interrupts"]

    assert question["payload"] == "Tea or coffee?"
    with pytest.raises(FarsideError) as refused:
        await page.command("call.claim", **page.held(question["interrupt_id"]))
    await page.command("input.respond", interrupt_id=question["interrupt_id"], response="tea")
    await page.ended(run_id)

    assert refused.value.code == "not_found"
    assert page.texts() == ["You chose tea."]
