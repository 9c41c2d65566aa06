"""What users of other products suffered where tools are mixed, by its number. (F2, F3 and others: in
server/tests/test_field_reports.py; F3 with kill -9: in server/tests/engine/test_kill.py.)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    FilesystemFileSearchMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolSelectorMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRefusalMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    ProviderToolSearchMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.content import InvalidToolCall
from langchain_core.outputs import ChatGenerationChunk
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from farside.langgraph import ToolNode, tool
from server.tests.langgraph.scripted import Streaming, Whole, call, hand_built, once
from server.tests.langgraph.table.beside import ASK, beside, here, told

KINDS = ["agent", "tool node"]


@tool
def count() -> str:
    """Count."""
    return "counted"


def mixed(kind: str, model: Any, tools: list[Any], **options: Any) -> Any:
    """The same agent made with ``create_agent``, or by hand with our ``ToolNode``."""
    if kind == "agent":
        return create_agent(model, tools, **options)

    async def think(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return hand_built(think, ToolNode(tools)).compile()


@pytest.mark.parametrize("kind", KINDS)
async def test_f1_three_browser_tools_of_one_message_are_open_before_any_answer(
    make_app: Any, open_page: Any, finish: Any, kind: str
) -> None:
    names = ["locate", "paste", "photo"]
    model = Streaming(script=once(*(call(name, name) for name in names), call("count", "count")))
    app = make_app(mixed(kind, model, [*(tool(name=name, timeout=600) for name in names), count]))
    page = await open_page(app)
    run_id = await page.submit("go")
    await page.until(lambda event: len(page.calls("opened")) == 3)

    assert page.calls("settled") == []
    assert sorted(each["name"] for each in page.calls("opened")) == names
    for each in reversed(page.calls("opened")):
        held = page.held(each["interrupt_id"])
        await page.command("call.settle", **held, result={"status": "success", "value": f"from {each['name']}"})
    await finish(page, run_id)
    assert told(model) == {**{name: f"from {name}" for name in names}, "count": "counted"}


def say(error: Exception, request: Any) -> str:
    return f"failed: {error}"


def stock(model: Any) -> dict[str, Any]:
    """Each of LangChain's own middleware that sees tool calls or the history, set so that it has nothing to do."""
    return {
        "clearing tool uses": ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=100_000)]),
        "approval of another tool": HumanInTheLoopMiddleware({"count": False, "other": True}),
        "approval per call": HumanInTheLoopMiddleware({"other": True}, interrupt_mode="per_call"),
        "file search": FilesystemFileSearchMiddleware(root_path="/tmp"),  # noqa: S108 - it is not called
        "model call limit": ModelCallLimitMiddleware(thread_limit=9),
        "model fallback": ModelFallbackMiddleware(model),
        "model refusal": ModelRefusalMiddleware(),
        "model retry": ModelRetryMiddleware(max_retries=3, initial_delay=0),
        "personal data": PIIMiddleware("email", apply_to_tool_results=True),
        "provider tool search": ProviderToolSearchMiddleware(),
        "summarization": SummarizationMiddleware(model, trigger=("messages", 100)),
        "todo list": TodoListMiddleware(),
        "tool call limit": ToolCallLimitMiddleware(thread_limit=9),
        "tool error": ToolErrorMiddleware(say),
        "tool retry": ToolRetryMiddleware(max_retries=3, initial_delay=0),
    }


async def check_f5(take: Any, caplog: pytest.LogCaptureFixture, model: Any, middleware: list[Any]) -> None:
    caplog.set_level(logging.WARNING)
    turn = await take(create_agent(model, [ASK, count], middleware=middleware))

    assert told(model) == {"ask": "here", "second": "here", "c": "counted"}
    assert turn.asked == ["ask", "ask"]
    assert turn.ended["event"] == "completed"
    assert {data["event"] for data in turn.events("tools")} == {"tool-started", "tool-finished"}
    assert [message.status for message in turn.results.values()] == ["success"] * 3
    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize("name", stock(Streaming(script=once())))
async def test_f5_a_pause_passes_every_stock_middleware(take: Any, caplog: pytest.LogCaptureFixture, name: str) -> None:
    """Alone; no error event, no second execution, nothing logged."""
    model = beside(call("ask", "second"), call("count", "c"))
    await check_f5(take, caplog, model, [stock(model)[name]])


async def test_f5_a_pause_passes_all_of_them_together(take: Any, caplog: pytest.LogCaptureFixture) -> None:
    model = beside(call("ask", "second"), call("count", "c"))
    middleware = {name: each for name, each in stock(model).items() if name != "approval per call"}
    await check_f5(take, caplog, model, list(middleware.values()))


async def test_f5_a_pause_passes_the_tool_selector(take: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Its own model chooses the tools, and answers as a tool call."""
    model = beside(call("ask", "second"), call("count", "c"))

    class Chooser(Whole):
        def with_structured_output(self, schema: Any, **options: Any) -> Any:
            from langchain_core.runnables import RunnableLambda

            return RunnableLambda(lambda _: {"tools": ["ask", "count"]})

    chooser = Chooser(script=once())
    await check_f5(take, caplog, model, [LLMToolSelectorMiddleware(model=chooser)])


# --- F22 ---


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    item: Annotated[str, StringConstraints(min_length=1)]
    number: int = Field(default=1, ge=1)


class LooseOrder(BaseModel):
    item: str
    number: int


class OrderDict(TypedDict):
    item: str
    number: int


ORDER_SCHEMA = {
    "type": "object",
    "properties": {"item": {"type": "string", "minLength": 1}, "number": {"type": "integer", "minimum": 1}},
    "required": ["item", "number"],
}
WRONG: dict[str, dict[str, Any]] = {
    "wrong": {"item": "tea", "number": "many"},
    "missing": {"number": 2},
    "extra": {"item": "tea", "number": 2, "price": 0},
    "empty": {},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schema", [Order, LooseOrder, OrderDict, ORDER_SCHEMA])
async def test_f22_arguments_that_do_not_fit_never_reach_the_body(take: Any, schema: Any, kind: str) -> None:
    """The model is told why, and the good call of the same message is executed. (Where the schema does
    not forbid further arguments, they are left out.)
    """
    order = tool(name="order", args_schema=schema, timeout=600)
    model = Streaming(
        script=once(
            call("order", "good", item="tea", number=2),
            *(call("order", how, **args) for how, args in WRONG.items()),
            call("count", "c"),
        )
    )
    turn = await take(mixed(kind, model, [order, count]), bodies={"order": lambda item, number: f"{number} {item}"})

    refused = [how for how in WRONG if schema not in (LooseOrder, OrderDict) or how != "extra"]
    good = {each["tool_call_id"] for each in turn.page.calls("opened")}
    assert good == {"good", *WRONG} - set(refused)
    assert turn.page.executions == [("order", {"item": "tea", "number": 2})] * len(good)
    assert told(model)["good"] == "2 tea"
    assert told(model)["c"] == "counted"
    for how in refused:
        assert told(model)[how].startswith("Error (invalid_args): order: ")
        assert turn.results[how].status == "error"


@pytest.mark.parametrize("kind", KINDS)
async def test_f22_parsed_values_reach_the_body(take: Any, kind: str) -> None:
    """Defaults are filled in, text is trimmed, numbers are numbers."""
    model = Streaming(script=once(call("order", "one", item="  tea "), call("order", "two", item="rice", number="3")))
    order = tool(name="order", args_schema=Order, timeout=600)
    turn = await take(mixed(kind, model, [order]), bodies={"order": here})

    assert sorted(turn.page.executions, key=str) == [
        ("order", {"item": "rice", "number": 3}),
        ("order", {"item": "tea", "number": 1}),
    ]


class Cut(Streaming):
    """A model whose second call is cut off in the middle of its arguments, as at a limit of tokens."""

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        message = self.answer(messages)
        if not message.tool_calls:
            yield ChatGenerationChunk(message=AIMessageChunk(content=message.content))
            return
        for index, (call_id, args) in enumerate((("good", '{"item": "tea"}'), ("cut", '{"item": "te'))):
            chunk: Any = {"name": "order", "args": args, "id": call_id, "index": index, "type": "tool_call_chunk"}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))


def cut_whole(messages: list[BaseMessage]) -> AIMessage:
    """The same in one piece: LangChain keeps such a call apart from the others."""
    if messages[-1].type == "tool":
        return AIMessage("done")
    cut = InvalidToolCall(type="invalid_tool_call", name="order", args='{"item": "te', id="cut", error=None)
    return AIMessage("", tool_calls=[call("order", "good", item="tea")], invalid_tool_calls=[cut])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["whole", "streamed"])
async def test_f22_truncated_arguments_never_reach_the_body(take: Any, how: str, kind: str) -> None:
    """The good call of the message is executed; only ``create_agent`` tells the model of the one that was cut off."""
    model = Whole(script=cut_whole) if how == "whole" else Cut(script=once(call("order", "good", item="tea")))
    order = tool(name="order", args_schema=Order, timeout=600)
    turn = await take(mixed(kind, model, [order]), bodies={"order": lambda item, number: f"{number} {item}"})

    assert turn.page.executions == [("order", {"item": "tea", "number": 1})]
    assert turn.ended["event"] == "completed"
    assert told(model)["good"] == "1 tea"
    if kind == "agent":
        assert "malformed or truncated" in told(model)["cut"]
    else:
        assert "cut" not in told(model)
