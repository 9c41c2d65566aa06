"""Pauses that something between a headless tool and LangGraph has caught, as an error of the tool.

LangGraph's pause is an ``Exception``, so a ``wrap_tool_call`` with ``except Exception`` catches it: LangChain's
documentation has such a one as the example of error handling. Its answer is in the state then, where the browser's
should be. The call is made once more where nothing can catch it, and takes the place of that answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, ToolCall, ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.func import task  # pyright: ignore[reportMissingTypeStubs]

from farside.langgraph.headless import HeadlessTool
from farside.langgraph.outcomes import outcomes
from farside.langgraph.private import write_if_task_ends
from farside.langgraph.tool import tool

KEY = "farside_caught"
"""Where the state has the calls whose pauses were caught."""

_ANY: dict[str, Any] = {"type": "object", "additionalProperties": True}


def collected(noted: list[ToolCall] | None, new: list[ToolCall]) -> list[ToolCall]:
    """The reducer of the key: calls of one step come together, an empty list clears."""
    return [*(noted or []), *new] if new else []


def note(call: ToolCall) -> None:
    """The call has paused: note it, unless LangGraph learns of the pause."""
    write_if_task_ends(KEY, [call])


def ask_again(
    calls: Sequence[ToolCall], known: Mapping[str, HeadlessTool], messages: Sequence[AnyMessage]
) -> list[ToolMessage]:
    """Pause for the calls, all at once; their tool messages, with the ids of those whose place they take.

    Args:
        calls: those that were noted.
        known: headless tools by name. The arguments of the calls have been checked; the results of one that is not
            known here, after a restart without farside's server, are not.
        messages: where the tool messages are that take the answers' place.

    Raises:
        GraphInterrupt: with the pauses of all that have no answer yet.
    """
    return _placed(outcomes([_again(_tool(call, known), call) for call in calls]), messages)


async def aask_again(
    calls: Sequence[ToolCall], known: Mapping[str, HeadlessTool], messages: Sequence[AnyMessage]
) -> list[ToolMessage]:
    """As :func:`ask_again`."""
    running = [_aagain(_tool(call, known), call) for call in calls]
    return _placed(await asyncio.gather(*running, return_exceptions=True), messages)


@task(name="tool_call")
def _again(tool: HeadlessTool, call: ToolCall) -> ToolMessage:
    return tool.invoke(call)


@task(name="tool_call")
async def _aagain(tool: HeadlessTool, call: ToolCall) -> ToolMessage:
    return await tool.ainvoke(call)


def _tool(call: ToolCall, known: Mapping[str, HeadlessTool]) -> HeadlessTool:
    return known.get(call["name"]) or tool(name=call["name"], args_schema=_ANY)


def _placed(ended: Sequence[Any], messages: Sequence[AnyMessage]) -> list[ToolMessage]:
    if pauses := [each for outcome in ended if isinstance(outcome, GraphInterrupt) for each in outcome.args[0]]:
        raise GraphInterrupt(pauses)
    for outcome in ended:
        if isinstance(outcome, BaseException):
            raise outcome
    places = {message.tool_call_id: message.id for message in messages if isinstance(message, ToolMessage)}
    return [answer.model_copy(update={"id": places.get(answer.tool_call_id)}) for answer in ended]
