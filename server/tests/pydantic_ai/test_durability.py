"""What a run has done counts, whoever goes on with it; and the history that it leaves is whole (L1, L4, L5, L6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from decimal import Decimal
from typing import Any, cast

import pytest
from pydantic_ai import (
    Agent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRetry,
    RunContext,
    RunUsage,
    Tool,
    ToolOutput,
    ToolReturn,
)
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import UsageLimits

from farside import RunInfo
from farside.core.model import JournalEntry, Run
from farside.core.ports import Desk
from farside.pydantic_ai import HeadlessToolset, PydanticAIRuntime
from farside.pydantic_ai.kept import Kept, entry, usage_at, usage_of
from farside.tools import tool
from server.tests.pydantic_ai.scripted import (
    Scripted,
    call,
    calling,
    once,
    returns,
    saying,
    scripted,
    steps,
    telling,
)

ASK = tool(name="ask", args_schema={"properties": {"n": {"type": "integer"}}}, timeout=600)
TOOLS = HeadlessToolset[Any]([ASK])


def fine(n: int) -> str:
    return f"fine {n}"


async def settle(page: Any, interrupt_id: str, value: Any) -> None:
    result = {"status": "success", "value": value}
    await page.command("call.settle", **page.held(interrupt_id), result=result)


async def opened(page: Any, count: int) -> list[str]:
    await page.until(lambda event: len(page.calls("opened")) == count)
    return [data["interrupt_id"] for data in page.calls("opened")]


async def messages_of(page: Any) -> list[dict[str, Any]]:
    return (await page.command("state.get"))["values"]["messages"]


def tools_shown(page: Any) -> list[tuple[str, str]]:
    tools = [event["params"]["data"] for event in page.events if event["method"] == "tools"]
    return [(data["tool_call_id"], data["event"]) for data in tools]


# --- going on ---


async def test_what_has_ended_before_a_restart_does_not_run_again(
    make_app: Any, open_page: Any, restart: Any, store: Any
) -> None:
    """However it ended; beside it one call of the page's is answered before the restart and one after it."""
    ran: list[str] = []

    def charge() -> ToolReturn[Any]:
        ran.append("charge")
        return ToolReturn({"n": 2**60, "by": b"\xff"}, content="with a receipt", metadata={"id": 1})

    def refuse() -> None:
        ran.append("refuse")
        raise ToolFailed("the card was declined")

    def reject() -> None:
        ran.append("reject")
        raise ModelRetry("another amount")

    servers = [call(name, name) for name in ("charge", "refuse", "reject")]
    batch = calling(*servers, call("ask", "a", n=1), call("ask", "unfit", n="one"), call("ask", "b", n=2))
    tools = [charge, refuse, reject]
    undisturbed = Scripted(once(batch, telling))
    app = make_app(undisturbed.agent(tools=tools, toolsets=[TOOLS]))
    await (await open_page(app, tools={"ask": fine}, thread_id="another")).ask("Go")
    await app.stop()
    ran.clear()

    app = make_app(scripted(once(batch, telling), tools=tools, toolsets=[TOOLS]))
    page = await open_page(app)
    run_id = await page.submit("Go")
    first, _ = await opened(page, 2)
    await settle(page, first, "fine 1")
    model = Scripted(once(batch, telling))
    app = await restart(app, model.agent(tools=tools, toolsets=[TOOLS]))
    page = await open_page(app, tools={"ask": fine})
    assert (await page.ended(run_id))["event"] == "completed"

    assert sorted(ran) == ["charge", "refuse", "reject"]
    assert [args["n"] for _, args in page.executions] == [2]
    assert page.texts()[-1].split(":")[0] == "charge"
    assert [what(message) for message in model.seen[0]] == [what(message) for message in undisturbed.seen[1]]
    kept = [entry for entry in await store.journal("thread-1", run_id) if entry.kind == "step"]
    assert {each.position: each.value for each in kept} == {f"{run_id}:0/{name}": None for name in (*ran, "unfit")}
    begun = [call_id for call_id, event in tools_shown(page) if event == "tool-started"]
    assert sorted(begun) == ["a", "b", "charge", "refuse", "reject", "unfit"]


def what(message: ModelMessage) -> list[Any]:
    """What a message tells a model."""
    return [
        (part.tool_call_id, part.outcome, part.model_response_str())
        if isinstance(part, ToolReturnPart)
        else getattr(part, "content", part)
        for part in message.parts
    ]


async def test_a_server_tool_that_was_at_work_runs_again_and_its_finished_sibling_does_not(
    make_app: Any, open_page: Any, restart: Any
) -> None:
    ran: list[str] = []
    began, may_end = asyncio.Event(), asyncio.Event()

    def quick() -> str:
        ran.append("quick")
        return "done"

    async def slow() -> str:
        ran.append("slow")
        began.set()
        await may_end.wait()
        return "done too"

    def agent() -> Any:
        return scripted(steps(calling(call("quick", "a"), call("slow", "b")), telling), tools=[quick, slow])

    app = make_app(agent())
    page = await open_page(app)
    run_id = await page.submit("Go")
    await page.until(lambda _: ("a", "tool-finished") in tools_shown(page))
    await began.wait()
    app = await restart(app, agent())
    page = await open_page(app)
    may_end.set()
    await page.ended(run_id)
    assert page.texts() == ["a:success:done b:success:done too "]
    assert sorted(ran) == ["quick", "slow", "slow"]
    # The page has seen the beginning of the first, and its end; nothing of that comes twice.
    assert [shown for shown in tools_shown(page) if shown[0] == "a"] == [("a", "tool-started"), ("a", "tool-finished")]


async def test_the_next_turn_knows_what_was_said_before_the_restart(
    make_app: Any, open_page: Any, restart: Any, store: Any
) -> None:
    app = make_app(scripted(steps(calling(call("ask", "a", n=1)), telling), toolsets=[TOOLS]))
    page = await open_page(app, tools={"ask": fine})
    for text in ("one", "two"):
        await page.ask(text)
    before = await messages_of(page)
    written = await store.history("thread-1")

    model = Scripted(steps(saying("three it is")))
    app = await restart(app, model.agent(toolsets=[TOOLS]))
    page = await open_page(app)
    assert await messages_of(page) == before
    await page.ask("three")
    (seen,) = model.seen
    assert [message.kind for message in seen] == ["request", "response"] * 4 + ["request"]
    prompts = [part.content for message in seen for part in message.parts if isinstance(part, UserPromptPart)]
    assert prompts == ["one", "two", "three"]
    assert [part.content for part in returns(seen)] == ["fine 1", "fine 1"]
    # Each message is written once, and nothing of an earlier turn again.
    assert (await store.history("thread-1"))[: len(written)] == written
    assert [len(ModelMessagesTypeAdapter.validate_json(entry.value["message"])) for entry in written] == [1] * 8


async def test_an_approval_survives_a_restart_and_what_it_allowed_is_done_once(
    make_app: Any, open_page: Any, restart: Any
) -> None:
    paid: list[str] = []

    def pay() -> str:
        paid.append("paid")
        return "paid"

    def agent() -> Any:
        batch = calling(call("pay", "a"), call("ask", "b", n=1))
        script = steps(batch, calling(call("ask", "c", n=2)), telling)
        return scripted(script, tools=[Tool(pay, requires_approval=True)], toolsets=[TOOLS])

    app = make_app(agent())
    page = await open_page(app)
    await page.command("subscription.subscribe", channels=["input"])
    run_id = await page.submit("Go")
    asked = (await page.until(lambda event: event["method"] == "input.requested"))["params"]["data"]
    await page.command("input.respond", namespace=[], interrupt_id=asked["interrupt_id"], response={"approved": True})
    app = await restart(app, agent())
    page = await open_page(app)
    (first,) = await opened(page, 1)
    await settle(page, first, "fine 1")
    await opened(page, 2)
    app = await restart(app, agent())
    page = await open_page(app, tools={"ask": fine})
    await page.ended(run_id)
    assert page.texts()[-1] == "a:success:paid b:success:fine 1 c:success:fine 2 "
    assert paid == ["paid"]


async def test_what_a_run_has_used_and_its_deps_over_a_restart(make_app: Any, open_page: Any, restart: Any) -> None:
    made: list[RunInfo] = []

    def runtime() -> PydanticAIRuntime:
        agent = scripted(steps(calling(call("ask", "a", n=1)), telling), toolsets=[TOOLS])
        return PydanticAIRuntime(agent, usage_limits=UsageLimits(request_limit=1))

    app = make_app(runtime(), context=made.append)
    page = await open_page(app)
    run_id = await page.submit("Go")
    await opened(page, 1)
    app = await restart(app, runtime(), context=made.append)
    page = await open_page(app, tools={"ask": fine})
    assert (await page.ended(run_id))["code"] == "agent_failed"
    assert made == [RunInfo("assistant", "thread-1", run_id)] * 2


@pytest.mark.parametrize(
    ("limits", "calls"),
    [(UsageLimits(tool_calls_limit=1), 1), (UsageLimits(request_limit=3), 1), (UsageLimits(tool_calls_limit=2), 2)],
)
async def test_what_tools_have_used_counts_over_a_restart(
    make_app: Any, open_page: Any, restart: Any, limits: UsageLimits, calls: int
) -> None:
    """How many have run, and the requests of an agent that one of them asks."""
    ran: list[str] = []
    inner = Agent(TestModel(custom_output_text="fine"))

    async def delegate(ctx: RunContext[Any]) -> str:
        ran.append("delegate")
        return (await inner.run("Go", usage=ctx.usage)).output

    def runtime() -> PydanticAIRuntime:
        asked = (call("delegate", "a"), call("ask", "b", n=1), call("delegate", "c"))
        agent = scripted(steps(*map(calling, asked), telling), tools=[delegate], toolsets=[TOOLS])
        return PydanticAIRuntime(agent, usage_limits=limits)

    app = make_app(runtime())
    page = await open_page(app)
    run_id = await page.submit("Go")
    await opened(page, 1)
    page = await open_page(await restart(app, runtime()), tools={"ask": fine})
    ended = await page.ended(run_id)
    assert (len(ran), ended["event"]) == (calls, "completed" if calls == 2 else "failed")


def test_what_a_run_has_used_is_kept_whole() -> None:
    usage = RunUsage(requests=2, tool_calls=1, output_tokens=5, cost=Decimal("0.0123"), details={"thoughts": 4})
    mine = [Kept(saying("one"), (), usage_at(usage)), Kept(ModelRequest.user_text_prompt("two"))]
    assert usage_of(mine) == usage
    assert usage_of([]) == RunUsage()


async def test_an_output_that_had_to_be_made_again_is_not_tried_again(
    make_app: Any, open_page: Any, restart: Any
) -> None:
    tried: list[int] = []

    def result(n: int) -> int:
        tried.append(n)
        if n == 1:
            raise ModelRetry("larger")
        return n

    def agent() -> Any:
        batch = calling(call("final_result", "a", n=1), call("ask", "b", n=1))
        script = steps(batch, calling(call("final_result", "c", n=2)))
        return scripted(script, output_type=ToolOutput(result), toolsets=[TOOLS])

    app = make_app(agent())
    page = await open_page(app)
    run_id = await page.submit("Go")
    await opened(page, 1)
    page = await open_page(await restart(app, agent()), tools={"ask": fine})
    assert (await page.ended(run_id))["event"] == "completed"
    assert tried == [1, 2]
    assert [shown for shown in tools_shown(page) if shown[0] == "a"] == [("a", "tool-started"), ("a", "tool-error")]
    told = [(m["tool_call_id"], m["content"]) for m in await messages_of(page) if m["type"] == "tool"]
    assert told == [("a", "larger"), ("b", "fine 1"), ("c", "Final result processed.")]


async def test_ids_of_calls_may_repeat_within_a_run(make_app: Any, open_page: Any, restart: Any) -> None:
    def agent() -> Any:
        script = steps(
            calling(call("ask", "x", n=1)),
            calling(call("charge", "x")),
            calling(call("ask", "x", n=2)),
            telling,
        )
        return scripted(script, tools=[Tool(lambda: "charged", name="charge")], toolsets=[TOOLS])

    app = make_app(agent())
    page = await open_page(app)
    run_id = await page.submit("Go")
    await settle(page, (await opened(page, 1))[0], "fine 1")
    await opened(page, 2)
    page = await open_page(await restart(app, agent()), tools={"ask": fine})
    await page.ended(run_id)
    assert page.texts() == ["x:success:fine 1 x:success:charged x:success:fine 2 "]
    tools = [event["params"]["data"] for event in page.events if event["method"] == "tools"]
    assert [data["output"] for data in tools if "output" in data] == ["fine 1", "charged", "fine 2"]


# --- ending early ---


async def test_a_run_that_is_stopped_leaves_what_has_ended_and_withdraws_the_rest(
    make_app: Any, open_page: Any, restart: Any
) -> None:
    def charge() -> str:
        return "charged"

    batch = calling(call("charge", "a"), call("ask", "b", n=1), call("ask", "c", n=2))
    model = Scripted(steps(batch, saying("unheard of")))
    app = make_app(model.agent(tools=[charge], toolsets=[TOOLS]))
    page = await open_page(app)
    await page.submit("Go")
    first, _ = await opened(page, 2)
    await settle(page, first, "fine 1")
    await page.stop()
    told = {"b": "fine 1", "a": "charged", "c": "Error (cancelled): the run was stopped"}
    messages = await messages_of(page)
    assert [message["type"] for message in messages] == ["human", "ai", "tool", "tool", "tool"]
    assert [(m["tool_call_id"], m["content"]) for m in messages[2:]] == [(name, told[name]) for name in "abc"]
    assert [message["status"] for message in messages[2:]] == ["success", "success", "error"]

    model = Scripted(steps(saying("yes")))
    other = await open_page(await restart(app, model.agent(toolsets=[TOOLS])))
    await other.ask("Well?")
    (seen,) = model.seen
    assert [message.kind for message in seen] == ["request", "response", "request"]
    assert {part.tool_call_id: (part.outcome, part.content) for part in returns(seen)} == {
        "a": ("success", "charged"),
        "b": ("success", "fine 1"),
        "c": ("failed", told["c"]),
    }


async def test_what_was_being_said_at_a_stop_stays(make_app: Any, open_page: Any) -> None:
    go_on = asyncio.Event()

    async def stream(messages: Any, info: Any) -> AsyncGenerator[str]:
        yield "half a "
        await go_on.wait()
        yield "sentence"

    app = make_app(Agent(FunctionModel(stream_function=stream)))
    page = await open_page(app)
    run_id = await page.submit("Go")
    await page.until(lambda event: event["params"]["data"].get("event") == "content-block-delta")
    await page.stop()
    human, ai = await messages_of(page)
    assert (human["content"], ai["id"], ai["content"]) == ("Go", f"{run_id}:0", "half a ")
    go_on.set()
    await page.ask("Again")
    assert [message["type"] for message in await messages_of(page)] == ["human", "ai", "human", "ai"]


async def test_what_the_user_said_stays_though_the_agent_did_not_come_to_it(make_app: Any, open_page: Any) -> None:
    def fail() -> None:
        raise RuntimeError("on purpose")

    agent = scripted(steps(saying("yes")))
    agent.instructions(fail)
    page = await open_page(make_app(agent))
    assert (await page.ended(await page.submit("Hello?")))["code"] == "agent_failed"
    (human,) = await messages_of(page)
    assert (human["type"], human["content"]) == ("human", "Hello?")


@pytest.mark.parametrize("ended", ["cancelled", "failed"])
async def test_a_run_whose_server_died_before_its_history_was_closed(
    make_app: Any, open_page: Any, store: Any, ended: Any
) -> None:
    """The run had ended; its calls are closed before the next one begins."""
    asked = calling(call("ask", "a", n=1), call("ask", "b", n=2))
    partly = ModelRequest(parts=[ToolReturnPart("ask", "fine 1", "a")])
    messages = [ModelRequest.user_text_prompt("Go"), asked, partly]
    ids = [("human-1",), ("run-1:0",), ()]
    run = Run("run-1", "thread-1", "assistant", {}, {}, ended, 0)
    kept = [Kept(message, name) for message, name in zip(messages, ids, strict=True)]
    entries = [entry("thread-1", "run-1", at, each) for at, each in enumerate(kept)]
    await store.open()
    await store.commit([run, *entries])
    model = Scripted(steps(saying("yes")))
    page = await open_page(make_app(model.agent(toolsets=[TOOLS])))
    assert await page.ask("Well?") == "yes "
    told = {part.tool_call_id: (part.outcome, part.content) for part in returns(model.seen[0])}
    assert told["a"] == ("success", "fine 1")
    assert told["b"][0] == "failed"
    assert str(told["b"][1]).startswith("Error (cancelled): ")
    assert [m["type"] for m in await messages_of(page)] == ["human", "ai", "tool", "tool", "human", "ai"]


async def test_what_is_written_is_not_written_again_as_broken_off() -> None:
    """A run may be stopped between the write of a message and the event that ends it."""

    class Written:
        def __init__(self) -> None:
            self.journal = {"0": entry("thread-1", "run-1", 0, Kept(saying("yes"), ("run-1:0",)))}

        async def record(self, entry: JournalEntry) -> None:
            added.append(entry)

    added: list[JournalEntry] = []
    runtime, desk = PydanticAIRuntime(scripted(steps())), cast("Desk", Written())
    said = {"run-1:0": "yes", "run-1:1": "and"}
    await runtime.abandon("thread-1", "run-1", "the run was stopped", {}, None, said, desk)
    assert [(each.position, each.value["ids"]) for each in added] == [("1", ["run-1:1"])]
