"""Server tools that fail, each beside a headless tool: what handles it does not touch the pause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware, ToolRetryMiddleware
from langchain_core.messages import BaseMessage
from langchain_core.tools import ToolException

from farside import ToolError
from farside.langgraph import ToolNode, tool
from server.tests.langgraph.scripted import Streaming, call, hand_built, once
from server.tests.langgraph.table.beside import ANY_ARGS, ASK, beside, here, told


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("no luck")


def broken() -> None:
    """The body of a tool that fails in the page."""
    raise ToolError("permission_denied", "the user said no")


async def test_an_error_that_nobody_handles(take: Any) -> None:
    """It ends the run, as LangChain has it: the page is never asked, and the history is whole."""
    model = beside(call("fail", "f"))
    turn = await take(create_agent(model, [ASK, fail]))

    assert (turn.ended["event"], turn.ended["code"]) == ("failed", "agent_failed")
    assert turn.asked == []
    assert turn.page.calls("opened") == []
    assert [message.status for message in turn.results.values()] == ["error", "error"]
    assert (await turn.page.ask("again")).strip() == "done: again"


async def test_an_unknown_tool(take: Any) -> None:
    model = beside(call("nonsense", "n"))
    await take(create_agent(model, [ASK, fail]))

    assert told(model)["ask"] == "here"
    assert told(model)["n"] == "Error: nonsense is not a valid tool, try one of [ask, fail]."


async def test_handle_tool_error_of_a_tool(take: Any) -> None:
    """LangChain's own, for a ``ToolException``."""

    @tool
    def refuse() -> str:
        """Refuse."""
        raise ToolException("not today")

    refuse.handle_tool_error = True
    model = beside(call("refuse", "r"))
    await take(create_agent(model, [ASK, refuse]))

    assert told(model) == {"ask": "here", "r": "not today"}


def say(error: ValueError) -> str:
    """Handles one kind of error."""
    return f"it said {error}"


FORMS: dict[str, tuple[Any, str]] = {
    "true": (True, "Error: ValueError('no luck')\n Please fix your mistakes."),
    "text": ("try something else", "try something else"),
    "type": (ValueError, "Error: ValueError('no luck')\n Please fix your mistakes."),
    "types": ((KeyError, ValueError), "Error: ValueError('no luck')\n Please fix your mistakes."),
    "function": (say, "it said no luck"),
}


def graph(model: Streaming, handle: Any) -> Any:
    async def think(state: Any) -> dict[str, list[BaseMessage]]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return hand_built(think, ToolNode([ASK, fail], handle_tool_errors=handle)).compile()


@pytest.mark.parametrize("form", FORMS)
async def test_handle_tool_errors_of_a_tool_node(take: Any, form: str) -> None:
    handle, content = FORMS[form]
    model = beside(call("fail", "f"))
    turn = await take(graph(model, handle))

    assert told(model) == {"ask": "here", "f": content}
    assert turn.asked == ["ask"]


@pytest.mark.parametrize("handle", [False, KeyError], ids=["false", "another type"])
async def test_handle_tool_errors_that_do_not_apply(take: Any, handle: Any) -> None:
    model = beside(call("fail", "f"))
    turn = await take(graph(model, handle))

    assert (turn.ended["event"], turn.ended["code"]) == ("failed", "agent_failed")
    assert turn.asked == []
    assert (await turn.page.ask("again")).strip() == "done: again"


@pytest.mark.parametrize("body", [here, broken])
async def test_tool_error_middleware(take: Any, body: Callable[..., Any]) -> None:
    """It hears of the server tool's error, not of the pause, and not of a failure in the page."""
    heard: list[str] = []

    def on_error(error: Exception, request: Any) -> str:
        heard.append(f"{request.tool_call['name']}: {error!r}")
        return "failed, go on"

    model = beside(call("fail", "f"))
    await take(create_agent(model, [ASK, fail], middleware=[ToolErrorMiddleware(on_error)]), bodies={"ask": body})

    expected = "here" if body is here else "Error (permission_denied): the user said no"
    assert told(model) == {"ask": expected, "f": "failed, go on"}
    assert heard == ["fail: ValueError('no luck')"]


@pytest.mark.parametrize("body", [here, broken])
async def test_tool_retry_middleware(take: Any, body: Callable[..., Any]) -> None:
    """It tries the server tool again; the page is asked once, whether it succeeds or fails."""
    tries: list[int] = []

    @tool
    def unsteady() -> str:
        """Succeed at the third try."""
        tries.append(len(tries))
        if len(tries) < 3:
            raise ConnectionError("gone")
        return "at last"

    retry = ToolRetryMiddleware(max_retries=5, initial_delay=0)
    model = beside(call("unsteady", "u"))
    turn = await take(create_agent(model, [ASK, unsteady], middleware=[retry]), bodies={"ask": body})

    expected = "here" if body is here else "Error (permission_denied): the user said no"
    assert told(model) == {"ask": expected, "u": "at last"}
    assert turn.asked == ["ask"]
    assert len(tries) == 3


async def test_retries_that_are_used_up(take: Any) -> None:
    tries: list[str] = []

    @tool
    def never() -> str:
        """Fail."""
        tries.append("once")
        raise ConnectionError("gone")

    model = beside(call("never", "n"))
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0)
    turn = await take(create_agent(model, [ASK, never], middleware=[retry]))

    assert told(model)["ask"] == "here"
    assert told(model)["n"].startswith("Tool 'never' failed after 2 attempts with ConnectionError")
    assert turn.asked == ["ask"]
    assert tries == ["once", "once"], "resuming the page's call does not try it again"


async def test_errors_and_retries_together(take: Any) -> None:
    """As LangChain's documentation composes them: retries within, errors without."""
    middleware = [
        ToolErrorMiddleware(lambda error, request: f"gave up: {error}"),
        ToolRetryMiddleware(max_retries=1, initial_delay=0, on_failure="error"),
    ]
    model = beside(call("fail", "f"))
    turn = await take(create_agent(model, [ASK, fail], middleware=middleware))

    assert told(model) == {"ask": "here", "f": "gave up: no luck"}
    assert turn.asked == ["ask"]


async def test_a_failure_in_the_page(take: Any) -> None:
    """It is an error message to the model, with its code, and no exception."""
    model = Streaming(script=once(call("show", "s")))
    show = tool(name="show", args_schema=ANY_ARGS)
    turn = await take(create_agent(model, [show]), bodies={"show": broken})

    assert turn.results["s"].status == "error"
    assert told(model) == {"s": "Error (permission_denied): the user said no"}
