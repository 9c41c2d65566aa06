"""``ToolNode``: LangGraph's own, in which every call of a message is a task of its own.

The stock node runs all calls of a message in one task: a pause of one makes it run the others again, only one pause
shows at a time, and answers are handed out by their position. As tasks of their own the calls all pause at once, each
with an interrupt id that stays, and what has finished is in the checkpoint and never runs again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from langgraph.func import task  # pyright: ignore[reportMissingTypeStubs]
from langgraph.prebuilt import ToolNode as StockToolNode
from langgraph.types import Command, Interrupt, Send

from farside.langgraph.private import may_call_tasks


class ToolNode(StockToolNode):
    """LangGraph's ``ToolNode``, for graphs in which some tools pause; takes the same arguments, inputs and wrappers.

    Called outside of a graph, or for a single call, it is LangGraph's.

    Args:
        tools: tools and functions.
        messages_key: where the state has its messages.
        options: the other arguments of LangGraph's: ``name``, ``tags``, ``handle_tool_errors``, ``wrap_tool_call``,
            ``awrap_tool_call``.
    """

    def __init__(
        self, tools: Sequence[BaseTool | Callable[..., Any]], *, messages_key: str = "messages", **options: Any
    ) -> None:
        super().__init__(tools, messages_key=messages_key, **options)  # pyright: ignore[reportUnknownMemberType]
        self._key = messages_key

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the calls, each as a task. Raises ``GraphInterrupt`` with the pauses of all that wait."""
        parts = self._parts(input)
        if len(parts) < 2 or not may_call_tasks():
            return super().invoke(input, config, **kwargs)
        alone = super().invoke
        running = [_run(alone, part, kwargs) for part in parts]
        outcomes: list[Any] = []
        for future in running:
            try:
                outcomes.append(future.result())
            except Exception as error:
                outcomes.append(error)
        return self._joined(outcomes, isinstance(parts[0], list) and not _is_call(parts[0][-1]))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """As :meth:`invoke`."""
        parts = self._parts(input)
        if len(parts) < 2 or not may_call_tasks():
            return await super().ainvoke(input, config, **kwargs)
        alone = super().ainvoke
        running = [_arun(alone, part, kwargs) for part in parts]
        outcomes = await asyncio.gather(*running, return_exceptions=True)
        return self._joined(outcomes, isinstance(parts[0], list) and not _is_call(parts[0][-1]))

    def _parts(self, input: Any) -> list[Any]:
        """The input once for each of its calls, as LangGraph's node takes one call."""
        if isinstance(input, list):
            items = cast("list[Any]", input)
            if items and _is_call(items[-1]):
                return [[call] for call in items]
            asking = _latest(items)
            return [_with(items, asking, call) for call in _calls(items, asking)]
        if isinstance(input, dict) and "__type" in input:
            return [input]
        fields = cast("dict[str, Any]", input)
        messages = fields.get(self._key) if isinstance(input, dict) else getattr(input, self._key, None)
        asking = _latest(messages or [])
        return [
            {"__type": "tool_call_with_context", "tool_call": call, "state": input}
            for call in _calls(messages or [], asking)
        ]

    def _joined(self, outcomes: Sequence[Any], is_list: bool) -> Any:
        """The output of LangGraph's node for all calls, from those for each."""
        pauses: list[Interrupt] = []
        for outcome in outcomes:
            if isinstance(outcome, GraphInterrupt):
                pauses.extend(outcome.args[0])
            elif isinstance(outcome, BaseException):
                raise outcome
        if pauses:
            raise GraphInterrupt(pauses)
        items = [item for outcome in outcomes for item in self._items(outcome)]
        if not any(isinstance(item, Command) for item in items):
            return items if is_list else {self._key: items}
        return _merged([item if isinstance(item, Command) else self._update(item, is_list) for item in items])

    def _update(self, message: Any, is_list: bool) -> Any:
        return [message] if is_list else {self._key: [message]}

    def _items(self, output: Any) -> Iterable[Any]:
        """The messages and commands in an output."""
        if isinstance(output, dict):
            yield from cast("dict[str, Any]", output)[self._key]
        elif isinstance(output, list):
            for item in cast("list[Any]", output):
                yield from self._items(item)
        else:
            yield output


@task(name="tool_call")
def _run(alone: Callable[..., Any], part: Any, options: dict[str, Any]) -> Any:
    return alone(part, **options)


@task(name="tool_call")
async def _arun(alone: Callable[..., Any], part: Any, options: dict[str, Any]) -> Any:
    return await alone(part, **options)


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and cast("dict[str, Any]", item).get("type") == "tool_call"


def _latest(messages: Sequence[Any]) -> int | None:
    """Where the newest message of the model is."""
    found = (index for index in reversed(range(len(messages))) if isinstance(messages[index], AIMessage))
    return next(found, None)


def _calls(messages: Sequence[Any], asking: int | None) -> list[ToolCall]:
    return [] if asking is None else list(messages[asking].tool_calls)


def _with(messages: list[Any], asking: int | None, call: ToolCall) -> list[Any]:
    """The messages, of which the model's asks for this call only."""
    if asking is None:
        return messages
    only = cast("AIMessage", messages[asking]).model_copy(update={"tool_calls": [call]})
    return [*messages[:asking], only, *messages[asking + 1 :]]


def _merged(items: list[Any]) -> list[Any]:
    """Commands that send to the parent graph become one, at the end: LangGraph takes only one."""
    sends: list[Send] = []
    others: list[Any] = []
    for item in items:
        if _sends_to_parent(item):
            sends.extend(item.goto)
        else:
            others.append(item)
    return [*others, Command(graph=Command.PARENT, goto=sends)] if sends else others


def _sends_to_parent(item: Any) -> bool:
    if not isinstance(item, Command) or item.graph is not Command.PARENT:
        return False
    goto = cast("Any", item).goto
    return isinstance(goto, list) and all(isinstance(each, Send) for each in cast("list[Any]", goto))
