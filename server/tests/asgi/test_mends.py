"""What the official clients lose and a server can mend: pages that know neither claims nor channel ``calls``.

Their rules were observed with `@langchain/react` 1.1.0; e2e/official has the hook itself.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage

from farside import Turn
from farside.langgraph import tool
from farside.testing import MemoryLink
from server.tests.asgi.hook import CONTENT, Hook
from server.tests.langgraph.scripted import Whole, call, calling, once

LACKS = {"error": 'Headless tool "locate" is not registered. Available tools: none'}


def names(requested: dict[str, Any]) -> tuple[str, str]:
    return requested["interrupt_id"], requested["payload"]["tool_call"]["id"]


async def until_told(hook: Hook, **data: Any) -> None:
    """Until a lifecycle event has these data, one that was heard already or one to come."""
    while not any(data.items() <= told.items() for told in hook.events("lifecycle")):
        await hook.until(lambda m: m.get("method") == "lifecycle")


# --- several calls


async def test_each_answer_ends_its_card_while_the_run_goes_on(hooks):
    hook = await hooks()
    await hook.start("pay", agent="pair")
    first, second = await hook.requested(), await hook.requested()
    hook.heard.clear()
    replied = await hook.answer(second, "two")
    await hook.reply(replied)
    await until_told(hook, event="running")

    [card] = [data for data in hook.events("tools") if data["event"] == "tool-finished"]
    assert (card["tool_call_id"], card["output"]) == (names(second)[1], "two")
    await hook.answer(first, "one")
    assert (await hook.ended())["event"] == "completed"
    ends = [data["tool_call_id"] for data in hook.events("tools") if data["event"] == "tool-finished"]
    assert ends == [names(second)[1], names(first)[1]]


async def test_what_is_heard_of_one_event_has_several_ids_and_the_same_in_a_replay(hooks):
    hook = await hooks()
    await hook.start("pay", agent="pair")
    first, second = await hook.requested(), await hook.requested()
    await hook.reply(await hook.answer(second, "two"))
    await until_told(hook, event="running", run_id=hook.events("lifecycle")[0]["run_id"])
    await hook.answer(first, "one")
    await hook.ended()
    other = await hooks()
    await other.subscribe()
    await other.ended()
    heard = [m for m in (*hook.heard, *other.heard) if m["type"] == "event"]
    heard = [m for m in heard if m["params"]["data"].get("event") != "content-block-start"]  # whole in a replay
    assert all(m == again for m in heard for again in heard if m["event_id"] == again["event_id"])
    assert {"tools", "lifecycle", "messages"} <= {m["method"] for m in other.heard if m["type"] == "event"}


# --- stop, and a new message


async def test_stop_ends_the_card_and_a_late_answer_is_no_error(hooks):
    hook = await hooks()
    await hook.start("Where am I?")
    requested = await hook.requested()
    await hook.send("run.cancel")
    assert (await hook.ended())["event"] == "interrupted"
    assert [data["event"] for data in hook.events("tools")][-1] == "tool-error"

    hook.heard.clear()
    replied = await hook.answer(requested, {"lat": 1})
    assert (await hook.reply(replied))["result"] == {}
    await until_told(hook, event="completed")
    assert hook.texts() == []


async def test_a_new_message_ends_the_card_and_not_its_own_submit(hooks):
    hook = await hooks()
    await hook.start("Where am I?")
    requested = await hook.requested()
    hook.heard.clear()
    started = await hook.send("run.start", input={"messages": []}, assistant_id="assistant")
    run_id = (await hook.reply(started))["result"]["run_id"]
    again = await hook.requested()
    assert "tool-error" in [data["event"] for data in hook.events("tools")]
    assert {data["event"] for data in hook.events("lifecycle")} == {"running"}

    hook.heard.clear()
    assert (await hook.reply(await hook.answer(requested, {"lat": 1})))["result"] == {}
    await until_told(hook, event="running")
    await hook.answer(again, {"lat": 2})
    assert (await hook.ended())["run_id"] == run_id
    assert hook.texts() == ["You are at 2."]


async def test_a_page_with_our_client_hears_that_a_run_was_replaced(make_app, open_page):
    from server.tests.agents import guide

    page = await open_page(make_app(guide))
    first = await page.submit("Where am I?")
    await page.until(lambda e: e["method"] == "calls")
    second = await page.submit("And now?")
    end = await page.ended(first)
    assert (end["event"], end["replaced_by"]) == ("interrupted", second)


# --- a tool that a page does not have


async def test_a_page_that_lacks_the_tool_hands_the_call_to_the_next(hooks):
    asking = await hooks()
    await asking.start("Where am I?")
    asked = await asking.requested()
    able = await hooks()
    await able.subscribe()
    assert (await asking.reply(await asking.answer(asked, LACKS)))["result"] == {}
    await until_told(asking, event="running")
    passed_on = await able.requested()
    assert names(passed_on) != names(asked)
    await able.answer(passed_on, {"lat": 3})
    await able.ended()
    assert able.texts() == ["You are at 3."]


async def test_when_nobody_has_the_tool_that_is_the_result(hooks):
    hook = await hooks()
    await hook.start("Where am I?")
    await hook.answer(await hook.requested(), LACKS)
    await hook.ended()
    assert hook.texts() == ["No position: not_implemented"]


async def test_a_page_that_does_not_hold_the_call_cannot_give_it_away(hooks):
    """L2: the one that holds it may be executing it."""
    asking = await hooks()
    await asking.start("Where am I?")
    asked = await asking.requested()
    other = await hooks()
    await other.subscribe()
    assert (await other.reply(await other.answer(asked, LACKS)))["result"] == {}
    await asking.answer(asked, {"lat": 4})
    await asking.ended()
    assert asking.texts() == ["You are at 4."]
    assert other.events("input.requested") == []


# --- connections that are lost


async def asked_again(hooks, clock) -> tuple[Hook, dict[str, Any], dict[str, Any]]:
    """A page whose answer was lost; what it was asked before, and what since."""
    hook = await hooks()
    await hook.start("Where am I?")
    before = await hook.requested()
    await hook.link.cut()
    await hook.goes_on(await hooks.link(), lost=1)
    await clock.somebody_waits(1_000)
    clock.advance(1_000)
    return hook, before, await hook.requested()


async def test_an_answer_that_was_lost_is_asked_for_again_under_names_that_are_new(hooks, clock):
    hook, lost, again = await asked_again(hooks, clock)
    assert all(new != old for new, old in zip(names(again), names(lost), strict=True))
    await hook.answer(again, {"lat": 5})
    await hook.ended()
    assert hook.texts() == ["You are at 5."]


async def test_the_old_names_of_a_call_can_still_be_answered(hooks, clock):
    hook, old, _ = await asked_again(hooks, clock)
    await hook.answer(old, {"lat": 6})
    await hook.ended()
    assert hook.texts() == ["You are at 6."]


async def test_one_call_is_not_answered_twice_in_one_command(hooks, clock):
    """By its old names and its new ones."""
    hook, old, new = await asked_again(hooks, clock)
    both = [{"interrupt_id": names(each)[0], "response": {names(each)[1]: {"lat": 1}}} for each in (old, new)]
    assert (await hook.reply(await hook.send("input.respond", responses=both)))["error"] == "invalid_argument"
    await hook.answer(new, {"lat": 8})
    await hook.ended()
    assert hook.texts() == ["You are at 8."]


async def test_an_answer_that_was_only_late_counts(hooks, clock):
    hook = await hooks()
    await hook.start("Where am I?")
    asked = await hook.requested()
    await hook.link.cut()
    await hook.goes_on(await hooks.link(), lost=1)
    hook.sent -= 1
    await hook.answer(asked, {"lat": 7})
    await hook.ended()
    assert hook.texts() == ["You are at 7."]
    assert len(hook.events("input.requested")) == 1


async def test_a_tool_that_still_runs_when_its_page_is_back_is_not_asked_for_again(hooks, clock):
    hook = await hooks()
    await hook.start("pay", agent="pair")
    asked = [await hook.requested(), await hook.requested()]
    await hook.link.cut()
    await hook.goes_on(await hooks.link())
    await hook.reply(hook.sent)
    clock.advance(50_000)
    await hook.reply(await hook.send("state.get", namespace=[]))
    for each in asked:
        await hook.reply(await hook.answer(each, "paid"))
    assert (await hook.ended())["event"] == "completed"
    assert hook.texts() == ["paid paid"]
    assert len(hook.events("input.requested")) == 2


async def test_what_may_run_once_is_not_asked_for_again_when_its_answer_was_lost(hooks, clock):
    """L8."""
    hook = await hooks()
    await hook.start("pay", agent="pair")
    await hook.requested()
    await hook.link.cut()
    await hook.goes_on(await hooks.link(), lost=1)
    await clock.somebody_waits(1_000)
    clock.advance(1_000)
    await hook.ended()
    assert len(hook.events("input.requested")) <= 2
    assert {data.get("code") for data in hook.events("tools") if data["event"] == "tool-error"} == {"interrupted"}


@pytest.mark.parametrize(("code", "milliseconds"), [(1001, 0), (1000, 0), (1005, 3_000), (None, 3_000)])
async def test_a_page_that_says_that_it_leaves_is_not_waited_for(hooks, clock, code, milliseconds):
    asking = await hooks()
    await asking.start("Where am I?")
    asked = await asking.requested()
    heir = await hooks()
    await heir.subscribe()
    await heir.until(lambda m: m.get("method") == "lifecycle")
    await asking.link.cut(code)
    if milliseconds:
        await clock.somebody_waits(milliseconds)
        clock.advance(milliseconds)
    assert names(await heir.requested()) != names(asked)


async def test_a_page_that_was_loaded_anew_is_not_the_one_before(hooks, clock):
    """Its ids begin with 1: what the page before it held is not its own."""
    before = await hooks()
    await before.start("pay", agent="pair")
    await before.requested()
    await before.link.cut()
    after = await hooks()
    await after.subscribe()
    await clock.somebody_waits(3_000)
    clock.advance(3_000)
    await after.ended()
    assert after.events("input.requested") == []


# --- a page that comes later


async def told_anew(hook: Hook) -> list[str]:
    """The methods of the events that a new page is told."""
    await hook.reply(await hook.send("subscription.subscribe", channels=CONTENT))
    await hook.reply(await hook.send("state.get", namespace=[]))
    return [message["method"] for message in hook.heard if message["type"] == "event"]


def states(hook: Hook) -> list[list[str]]:
    """The texts of the messages in each state that a page was told."""
    return [[message["content"] for message in data["messages"]] for data in hook.events("values")]


async def test_a_page_on_a_thread_at_rest_is_told_its_state_before_the_end(hooks):
    """A hook reads none after it."""
    hook = await hooks()
    await hook.start("hi", agent="echo")
    await hook.ended()
    await hook.reply(await hook.send("state.get", namespace=[]))
    later = await hooks()
    assert (await told_anew(later))[-2:] == ["values", "lifecycle"]
    assert states(later) == [["hi", "You said hi."]]


async def test_a_page_on_a_thread_that_waits_for_a_tool_is_told_its_state(hooks):
    hook = await hooks()
    await hook.start("Where am I?")
    await hook.requested()
    later = await hooks()
    assert (await told_anew(later))[-1] == "values"
    assert states(later) == [["Where am I?"]]


async def test_while_the_agent_works_the_events_alone_tell(make_app):
    """The state is behind them."""
    go_on = asyncio.Event()

    async def slow(turn: Turn, value: Any) -> None:
        await turn.say("one")
        await go_on.wait()

    app = make_app(slow)
    hook, later = [Hook(await MemoryLink(app, "t", None).open()) for _ in range(2)]
    await hook.start("hi")
    await hook.until(lambda m: m.get("params", {}).get("data", {}).get("event") == "message-finish")
    assert "values" not in await told_anew(later)
    assert later.texts() == ["one"]
    go_on.set()
    for each in (hook, later):
        await each.link.close()


async def test_a_page_on_a_thread_that_never_ran_is_told_nothing(hooks):
    hook = await hooks()
    assert await told_anew(hook) == []


async def test_what_has_been_said_is_replayed_from_its_beginning(hooks):
    """The hook shows what a block starts with and its deltas, of which a replay has none."""
    hook = await hooks()
    await hook.start("hi", agent="echo")
    await hook.ended()
    later = await hooks()
    await later.subscribe()
    await later.ended()
    starts = [data["content"] for data in later.events("messages") if data["event"] == "content-block-start"]
    assert starts == [{"type": "text", "text": "You said hi."}]
    assert "content-block-delta" not in [data["event"] for data in later.events("messages")]


# --- a run that ends before a page has asked for its events


async def test_the_end_of_a_run_waits_until_a_page_has_asked_for_the_rest(hooks):
    hook = await hooks()
    await hook.send("subscription.subscribe", channels=["lifecycle", "input"])
    started = await hook.send("run.start", input={"messages": []}, assistant_id="echo")
    await hook.reply(started)
    await until_told(hook, event="running")
    for _ in range(3):
        await hook.reply(await hook.send("state.get", namespace=[]))
    assert [data["event"] for data in hook.events("lifecycle")] == ["running"]
    content = await hook.send("subscription.subscribe", channels=CONTENT, namespaces=[[]], depth=1)
    await hook.ended()
    order = [m.get("id", m.get("method")) for m in hook.heard]
    assert order.index(content) < order.index("messages") < len(order) - 1 - order[::-1].index("lifecycle")


async def test_a_page_that_asks_for_nothing_else_hears_the_end_a_little_later(hooks, clock):
    hook = await hooks()
    await hook.send("subscription.subscribe", channels=["lifecycle", "input"])
    await clock.somebody_waits(150)
    clock.advance(150)
    await hook.send("run.start", input={"messages": []}, assistant_id="echo")
    await clock.somebody_waits(150)
    clock.advance(150)
    assert (await hook.ended())["event"] == "completed"


# --- questions


async def test_a_run_that_waits_for_a_person_is_interrupted_and_goes_on_with_the_answer(make_app, hooks):
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import interrupt

    def ask(state: Any) -> Any:
        return {"messages": [AIMessage(f"You chose {interrupt('Tea or coffee?')}.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    app = make_app(graph.compile())
    hook = Hook(await MemoryLink(app, "t", None).open())
    await hook.start("hi")
    asked = await hook.requested()
    assert asked["payload"] == "Tea or coffee?"
    assert (await hook.ended())["event"] == "interrupted"
    reloaded = Hook(await MemoryLink(app, "t", None).open())
    await reloaded.subscribe()
    assert await reloaded.requested() == asked
    assert (await reloaded.ended())["event"] == "interrupted"

    hook.heard.clear()
    await hook.send("input.respond", interrupt_id=asked["interrupt_id"], response="tea", namespace=[])
    await until_told(hook, event="running")
    assert (await hook.ended())["event"] == "completed"
    assert hook.texts() == ["You chose tea."]
    for each in (hook, reloaded):
        await each.link.close()


# --- a call id that comes again


async def test_a_call_whose_id_comes_again_has_new_names(make_app):
    """The model may use an id again, and a run that begins at a checkpoint does: no hook would execute the call."""

    def script(messages: list[BaseMessage]) -> AIMessage:
        return calling(call("where", "call_1")) if messages[-1].type == "human" else AIMessage("done")

    app = make_app(create_agent(Whole(script=script), [tool(name="where")]))
    hook = Hook(await MemoryLink(app, "t", None).open())
    await hook.start("first")
    asked = [await hook.requested()]
    await hook.answer(asked[0], "here")
    await hook.ended()
    waited = next(data["id"] for data in reversed(hook.events("checkpoints")) if data["step"] == 1)
    for fork in (None, waited, waited):
        config = {"configurable": {} if fork is None else {"checkpoint_id": fork}}
        given = None if fork else {"messages": [{"type": "human", "content": "second"}]}
        await hook.send("run.start", input=given, config=config, assistant_id="assistant")
        asked.append(await hook.requested())
        await hook.reply(await hook.answer(asked[-1], "here"))
        assert (await hook.ended())["event"] == "completed"
    await hook.link.close()

    assert names(asked[0])[1] == "call_1"
    assert len({name for each in asked for name in names(each)}) == 2 * len(asked)


async def the_last_state(hook: Hook, fits: Any) -> list[dict[str, Any]]:
    """The messages of the next state that fits."""
    told = await hook.until(lambda m: m.get("method") == "values" and fits(m["params"]["data"]["messages"]))
    return told["params"]["data"]["messages"]


async def test_a_stop_shows_the_history_as_it_was_closed(make_app):
    app = make_app(create_agent(Whole(script=once(call("where"))), [tool(name="where")]))
    hook = Hook(await MemoryLink(app, "t", None).open())
    await hook.start("hi")
    await hook.requested()
    await hook.send("run.cancel")
    messages = await the_last_state(hook, lambda messages: messages[-1]["type"] == "tool")
    await hook.link.close()
    assert [message["type"] for message in messages] == ["human", "ai", "tool"]
    assert messages[-1]["status"] == "error"


async def test_a_failure_shows_the_history_as_it_was_closed(make_app):
    """Its message calls a second tool, which raises before anybody has answered the first."""

    def broken() -> str:
        """Break."""
        raise ValueError("broken")

    script = once(call("where"), call("broken", "call_2"))
    app = make_app(create_agent(Whole(script=script), [tool(name="where"), broken]))
    hook = Hook(await MemoryLink(app, "t", None).open())
    await hook.start("hi")
    assert (await hook.ended())["event"] == "failed"
    messages = await the_last_state(hook, lambda messages: len(messages) == 4)
    await hook.link.close()
    assert [message["type"] for message in messages] == ["human", "ai", "tool", "tool"]
