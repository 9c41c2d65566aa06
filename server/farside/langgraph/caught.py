"""Pauses that something between a headless tool and LangGraph has caught, as an error of the tool.

LangGraph's pause is an ``Exception``, so a ``wrap_tool_call`` with ``except Exception`` catches it: LangChain's
documentation has such a one as the example of error handling. Its answer is in the state then, where the browser's
should be. The call is made once more where nothing can catch it, and takes the place of that answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from langchain_core.messages import AnyMessage, BaseMessage, ToolCall, ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.func import task  # pyright: ignore[reportMissingTypeStubs]

from farside.langgraph.headless import HeadlessTool
from farside.langgraph.outcomes import outcomes
from farside.langgraph.private import write_if_task_ends
from farside.langgraph.served import served
from farside.langgraph.tool import tool
from farside.langgraph.watching import Pause

KEY = "farside_caught"
"""Where the state has the calls whose pauses were caught."""


class Noted(TypedDict):
    """A call whose pause was caught.

    ``interrupt_id``: that of the pause; what catches it may try the call several times, and then they are one.
    ``call``: with the arguments that the page is asked with, which have been checked. ``fingerprint`` and
    ``result_schema`` are those of its tool's declaration, for a process that does not know the tool.
    """

    interrupt_id: str
    call: ToolCall
    fingerprint: str
    result_schema: dict[str, Any] | None


def collected(noted: list[Noted] | None, new: list[Noted]) -> list[Noted]:
    """The reducer of the key: calls of one step come together, an empty list clears."""
    return list({each["interrupt_id"]: each for each in [*(noted or []), *new]}.values()) if new else []


def note(tool_call_id: str | None, pause: Pause) -> None:
    """The call has paused: note it, unless LangGraph learns of the pause."""
    call = ToolCall(type="tool_call", name=pause.tool.name, args=pause.args, id=tool_call_id)
    declared = pause.tool.declaration
    noted = Noted(
        interrupt_id=pause.error.args[0][0].id,
        call=call,
        fingerprint=declared.fingerprint,
        result_schema=declared.result_json_schema,
    )
    write_if_task_ends(KEY, [noted])


def ask_again(
    noted: Sequence[Noted], known: Mapping[str, HeadlessTool], messages: Sequence[AnyMessage]
) -> list[ToolMessage]:
    """Pause for the calls, all at once; their tool messages, with the ids of those whose place they take.

    Args:
        noted: the calls.
        known: headless tools by fingerprint, as far as this process has seen them pause.
        messages: where the tool messages are that take the answers' place.

    Raises:
        GraphInterrupt: with the pauses of all that have no answer yet.
    """
    return _placed(outcomes([_again(_tool(each, known), each["call"]) for each in noted]), messages)


async def aask_again(
    noted: Sequence[Noted], known: Mapping[str, HeadlessTool], messages: Sequence[AnyMessage]
) -> list[ToolMessage]:
    """As :func:`ask_again`."""
    running = [_aagain(_tool(each, known), each["call"]) for each in noted]
    return _placed(await asyncio.gather(*running, return_exceptions=True), messages)


def without_caught(messages: Sequence[BaseMessage], noted: Sequence[Noted]) -> list[BaseMessage]:
    """The messages without those that what has caught the pauses answered with: the calls are open."""
    left = list(messages)
    for each in noted:
        places = [i for i, message in enumerate(left) if _answers(message, each["call"]["id"])]
        if places:
            del left[places[-1]]
    return left


@task(name="tool_call")
def _again(tool: HeadlessTool, call: ToolCall) -> ToolMessage:
    return tool.invoke(call)


@task(name="tool_call")
async def _aagain(tool: HeadlessTool, call: ToolCall) -> ToolMessage:
    return await tool.ainvoke(call)


def _tool(noted: Noted, known: Mapping[str, HeadlessTool]) -> HeadlessTool:
    """The tool of a call: as this process knows it, as farside's server does, or else as it was noted."""
    name = noted["call"]["name"]
    found = known.get(noted["fingerprint"])
    if found is None:
        found = tool(name=name, result_schema=noted["result_schema"])
        declared = None if (lent := served()) is None else lent.declarations.get(name)
        if declared is not None:
            found = found.model_copy(update={"declaration": declared})
    return found.taking_checked()


def _placed(ended: Sequence[Any], messages: Sequence[AnyMessage]) -> list[ToolMessage]:
    if pauses := [each for outcome in ended if isinstance(outcome, GraphInterrupt) for each in outcome.args[0]]:
        raise GraphInterrupt(pauses)
    places = [message for message in messages if isinstance(message, ToolMessage)]
    answers: list[ToolMessage] = []
    for outcome in reversed(ended):
        if isinstance(outcome, BaseException):
            raise outcome
        taken = next((i for i in reversed(range(len(places))) if _answers(places[i], outcome.tool_call_id)), None)
        answers.append(outcome.model_copy(update={"id": None if taken is None else places.pop(taken).id}))
    return answers[::-1]


def _answers(message: BaseMessage, tool_call_id: str | None) -> bool:
    return isinstance(message, ToolMessage) and message.tool_call_id == tool_call_id
