"""What is kept of a conversation: all that was said, whatever the model is told of it and however a run ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelMessage, ModelResponse, ModelRetry, NativeOutput, Tool, ToolReturn
from pydantic_ai.capabilities import Hooks, ProcessHistory
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import ModelMessagesTypeAdapter, SystemPromptPart, TextPart, ThinkingPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from farside.pydantic_ai import HeadlessToolset
from farside.stores.memory import MemoryStore
from farside.tools import tool
from server.tests.pydantic_ai.scripted import Scripted, call, calling, check_history, once, saying, scripted, steps

ASK = tool(name="ask", args_schema={"properties": {"n": {"type": "integer"}}}, timeout=600)
TOOLS = HeadlessToolset[Any]([ASK])


@pytest.fixture
def store() -> MemoryStore:
    """What is stored, and how, is for test_durability."""
    return MemoryStore()


class Answer(BaseModel):
    n: int


def fine(n: int) -> str:
    return f"fine {n}"


async def messages_of(page: Any) -> list[tuple[str, str]]:
    messages = (await page.command("state.get"))["values"]["messages"]
    return [(message["type"], message["content"].strip()) for message in messages]


def newest(messages: list[ModelMessage]) -> list[ModelMessage]:
    """A history processor: the model is told of the last call alone."""
    return messages[-3:] if len(messages) > 3 else messages


def in_copies(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Another one, whose messages are others than those that the run has made."""
    return ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(newest(messages)))


@pytest.mark.parametrize("processor", [newest, in_copies])
async def test_what_a_history_processor_leaves_out_is_kept(
    make_app: Any, open_page: Any, restart: Any, processor: Callable[[list[ModelMessage]], list[ModelMessage]]
) -> None:
    """Each message is written before its calls are heard of, and the next turn's processor is given all of them."""
    given: list[int] = []

    def processes(messages: list[ModelMessage]) -> list[ModelMessage]:
        given.append(len(messages))
        return processor(messages)

    def agent() -> Any:
        async def stream(messages: list[ModelMessage], _: Any) -> AsyncGenerator[Any]:
            before = str(messages[-1].parts[-1])
            n = int(before.partition("fine ")[2][:1] or 0) + 1
            yield "enough" if n > 4 else {0: DeltaToolCall("ask", f'{{"n": {n}}}', tool_call_id=f"call_{n}")}

        model = FunctionModel(stream_function=stream)
        return Agent(model, toolsets=[TOOLS], capabilities=[ProcessHistory(processes)])

    app = make_app(agent())
    page = await open_page(app)
    run_id = await page.submit("Go")
    for n in range(1, 4):
        await page.until(lambda _, n=n: len(page.calls("opened")) == n)
        result = {"status": "success", "value": f"fine {n}"}
        held = page.held(page.calls("opened")[-1]["interrupt_id"])
        if n < 3:
            await page.command("call.settle", **held, result=result)
    page = await open_page(await restart(app, agent()), tools={"ask": fine})
    assert (await page.ended(run_id))["event"] == "completed"
    turn = [item for n in range(1, 5) for item in (("ai", ""), ("tool", f"fine {n}"))]
    assert await messages_of(page) == [("human", "Go"), *turn, ("ai", "enough")]
    assert [args["n"] for _, args in page.executions] == [3, 4]
    given.clear()
    await page.ended(await page.submit("Again"))
    assert given[0] == 11


# --- runs that end early ---


def halting(*texts: str) -> tuple[FunctionModel, list[list[ModelMessage]], asyncio.Event]:
    """A model that says one text after the other and, with a space in it, waits for the event in its middle."""
    go_on, seen = asyncio.Event(), list[list[ModelMessage]]()

    async def stream(messages: list[ModelMessage], _: Any) -> AsyncGenerator[str]:
        check_history(messages)
        seen.append(list(messages))
        first, *others = texts[len(seen) - 1].split(" ")
        yield first
        for word in others:
            await go_on.wait()
            yield f" {word}"

    return FunctionModel(stream_function=stream), seen, go_on


async def said(page: Any, text: str) -> None:
    await page.until(lambda event: event["params"]["data"].get("delta", {}).get("text") == text)


async def test_what_had_to_be_said_again_stays_when_the_run_is_stopped(make_app: Any, open_page: Any) -> None:
    model, seen, go_on = halting("bad", '{"n": 1}', '{"n":2}')
    page = await open_page(make_app(Agent(model, output_type=NativeOutput(Answer))))
    await page.submit("Go")
    await said(page, '{"n":')
    await page.stop()
    go_on.set()
    assert await messages_of(page) == [("human", "Go"), ("ai", "bad"), ("ai", '{"n":')]
    assert (await page.ended(await page.submit("Again")))["event"] == "completed"
    assert [message.kind for message in seen[2]] == ["request", "response"] * 2 + ["request"]


async def test_what_did_not_do_stays_when_the_run_fails(make_app: Any, open_page: Any) -> None:
    agent = scripted(once(saying("bad"), saying("worse")), output_type=NativeOutput(Answer), retries=1)
    page = await open_page(make_app(agent))
    assert (await page.ended(await page.submit("Go")))["code"] == "agent_failed"
    assert await messages_of(page) == [("human", "Go"), ("ai", "bad"), ("ai", "worse")]


async def test_calls_that_a_hook_refused_are_closed_when_the_run_is_stopped(make_app: Any, open_page: Any) -> None:
    hooks = Hooks[Any]()
    go_on = asyncio.Event()

    @hooks.on.after_model_request
    async def _(ctx: Any, *, request_context: Any, response: Any) -> Any:
        if response.tool_calls:
            raise ModelRetry("no calls")
        return response

    @hooks.on.before_model_request
    async def _(ctx: Any, request_context: Any) -> Any:
        if len(request_context.messages) > 1:
            began.set()
            await go_on.wait()
        return request_context

    began = asyncio.Event()
    page = await open_page(make_app(scripted(steps(calling(call("ask", n=1))), toolsets=[TOOLS], capabilities=[hooks])))
    await page.submit("Go")
    await began.wait()
    await page.stop()
    told = ("tool", "Error (cancelled): the run was stopped")
    assert await messages_of(page) == [("human", "Go"), ("ai", ""), told]


async def test_the_system_prompt_stays_when_the_first_run_is_stopped(make_app: Any, open_page: Any) -> None:
    model, seen, go_on = halting("half a", "whole")
    page = await open_page(make_app(Agent(model, system_prompt="Be kind.")))
    await page.submit("Go")
    await said(page, "half")
    await page.stop()
    go_on.set()
    await page.ask("Again")
    assert prompts(seen[1]) == ["Be kind.", "Go", "Again"]


async def test_the_system_prompt_is_told_though_the_first_run_did_not_come_to_it(make_app: Any, open_page: Any) -> None:
    """Once, in that run's request, as Pydantic AI does itself; a run later, too."""
    failures = [RuntimeError("on purpose")]

    def deps(_: Any) -> None:
        if failures:
            raise failures.pop()

    model = Scripted(steps(saying("yes")))
    page = await open_page(make_app(model.agent(system_prompt="Be kind."), context=deps))
    assert (await page.ended(await page.submit("Go")))["code"] == "agent_failed"
    await page.ask("Again")
    await page.ask("More")
    assert [prompts(messages) for messages in model.seen] == [
        ["Be kind.", "Go", "Again"],
        ["Be kind.", "Go", "Again", "More"],
    ]


def prompts(messages: list[ModelMessage]) -> list[Any]:
    """What the system and the user said."""
    spoken = (SystemPromptPart, UserPromptPart)
    return [part.content for message in messages for part in message.parts if isinstance(part, spoken)]


async def test_what_a_tool_gave_beside_its_return_stays_when_the_run_is_stopped(make_app: Any, open_page: Any) -> None:
    def pay() -> ToolReturn[Any]:
        return ToolReturn("paid", content="the receipt")

    model = Scripted(once(calling(call("pay", "a"), call("ask", "b", n=1), call("pay", "c")), saying("fine")))
    page = await open_page(make_app(model.agent(tools=[pay], toolsets=[TOOLS])))
    await page.submit("Go")
    await page.until(lambda _: page.calls("opened"))
    await page.stop()
    await page.ask("Again")
    kinds = [part.part_kind for part in model.seen[1][2].parts]
    assert kinds == ["tool-return"] * 3 + ["user-prompt"] * 3
    assert prompts(model.seen[1]) == ["Go", "the receipt", "the receipt", "Again"]


async def test_what_was_answered_stays_when_the_run_is_stopped(make_app: Any, open_page: Any) -> None:
    """The answer to a question is its tool's return; an approval is none, and its tool has not run."""

    def choose() -> None:
        raise CallDeferred(kind="question")

    def pay() -> str:
        return "paid"

    batch = calling(call("choose", "a"), call("pay", "b"), call("ask", "c", n=1))
    tools = [choose, Tool(pay, requires_approval=True)]
    page = await open_page(make_app(scripted(steps(batch), tools=tools, toolsets=[TOOLS])))
    await page.command("subscription.subscribe", channels=["input"])
    await page.submit("Go")
    await page.until(lambda _: page.calls("opened"))
    for event in [event for event in page.events if event["method"] == "input.requested"]:
        asked = event["params"]["data"]
        response = "blue" if asked["payload"]["type"] == "question" else True
        await page.command("input.respond", namespace=[], interrupt_id=asked["interrupt_id"], response=response)
    await page.stop()
    stopped = ("tool", "Error (cancelled): the run was stopped")
    assert (await messages_of(page))[2:] == [("tool", "blue"), stopped, stopped]


# --- what is remembered of it ---


async def test_what_a_history_processor_changes_in_place_is_as_it_was_for_the_next_one(
    make_app: Any, open_page: Any
) -> None:
    """Histories are remembered between legs, each for itself."""

    def forgets(messages: list[ModelMessage]) -> list[ModelMessage]:
        for message in messages[:-1]:
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    part.content = f"{part.content} (forgotten)"
        return messages

    model = Scripted(steps(saying("yes")))
    page = await open_page(make_app(model.agent(capabilities=[ProcessHistory(forgets)])))
    for text in ("one", "two", "three"):
        await page.ask(text)
    assert prompts(model.seen[2]) == ["one (forgotten)", "two (forgotten)", "three"]
    assert [text for kind, text in await messages_of(page) if kind == "human"] == ["one", "two", "three"]


async def test_what_a_thinking_model_had_said_stays(make_app: Any, open_page: Any) -> None:
    """It had thoughts beside its text, and what it puts out was being looked at when the run was stopped."""
    began = asyncio.Event()
    model = Scripted(once(ModelResponse(parts=[ThinkingPart("hm"), TextPart("well")]), saying("yes")))
    agent = model.agent()

    @agent.output_validator
    async def _(output: str) -> str:
        if not began.is_set():
            began.set()
            await asyncio.Event().wait()
        return output

    page = await open_page(make_app(agent))
    await page.submit("Go")
    await began.wait()
    await page.stop()
    assert said_by(page)[-1] == "message-finish"
    assert [(kind, text.strip()) for kind, text in await messages_of(page)] == [("human", "Go"), ("ai", "well")]
    await page.ask("Again")
    assert prompts(model.seen[1]) == ["Go", "Again"]


async def test_a_message_that_was_taken_back_is_not_in_the_history(make_app: Any, open_page: Any) -> None:
    """It was in the middle of a call when the run was stopped."""
    began = asyncio.Event()

    async def stream(messages: Any, info: Any) -> AsyncGenerator[Any]:
        if began.is_set():
            yield "yes"
            return
        yield "well"
        yield {1: DeltaToolCall("look", '{"n"', tool_call_id="a")}
        began.set()
        await asyncio.Event().wait()

    def look(n: int) -> int:
        return n

    agent = Agent(FunctionModel(stream_function=stream), tools=[look])
    page = await open_page(make_app(agent))
    await page.submit("Go")
    await began.wait()
    await page.stop()
    assert said_by(page)[-1] == "error"
    assert await messages_of(page) == [("human", "Go")]
    await page.ask("Again")
    assert [kind for kind, _ in await messages_of(page)] == ["human", "human", "ai"]


def said_by(page: Any) -> list[str]:
    """The kinds of all events of messages."""
    return [event["params"]["data"]["event"] for event in page.events if event["method"] == "messages"]
