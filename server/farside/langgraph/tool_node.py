"""``ToolNode``: LangGraph's own, in which every call of a message is a task of its own.

The stock node runs all calls of a message in one task: a pause of one makes it run the others again, only one pause
shows at a time, and answers are handed out by their position. As tasks of their own the calls all pause at once, each
with an interrupt id that stays, and what has finished is in the checkpoint and never runs again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from langgraph.func import task  # pyright: ignore[reportMissingTypeStubs]
from langgraph.prebuilt import ToolNode as StockToolNode
from langgraph.types import Command, Interrupt, Send

from farside.langgraph.handing import handed_over, hands_over, withdrawn
from farside.langgraph.history import messages_in, tool_messages
from farside.langgraph.outcomes import outcomes
from farside.langgraph.private import call_in_state, is_call_in_state, may_call_tasks


class ToolNode(StockToolNode):
    """LangGraph's ``ToolNode``, for graphs in which some tools pause; takes the same arguments, inputs and wrappers.

    Called outside of a graph, or for a single call, it is LangGraph's. A call that hands over to the graph around its
    own (``Command(graph=Command.PARENT)``) does not wait for those that pause: they are withdrawn.

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
        return self._joined(outcomes(running), _is_list(input))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """As :meth:`invoke`."""
        parts = self._parts(input)
        if len(parts) < 2 or not may_call_tasks():
            return await super().ainvoke(input, config, **kwargs)
        alone = super().ainvoke
        running = [_arun(alone, part, kwargs) for part in parts]
        return self._joined(await asyncio.gather(*running, return_exceptions=True), _is_list(input))

    def _parts(self, input: Any) -> list[Any]:
        """The input once for each of its calls, as LangGraph's node takes one call."""
        if is_call_in_state(input):
            return [input]
        if isinstance(input, list) and not _is_list(input):
            return [[call] for call in cast("list[Any]", input)]
        messages = messages_in(input, self._key)
        asking = next((i for i in reversed(range(len(messages))) if isinstance(messages[i], AIMessage)), None)
        if asking is None:
            return []
        calls: list[ToolCall] = messages[asking].tool_calls
        if not _is_list(input):
            return [call_in_state(call, input) for call in calls]
        return [
            [*messages[:asking], messages[asking].model_copy(update={"tool_calls": [call]}), *messages[asking + 1 :]]
            for call in calls
        ]

    def _joined(self, ended: Sequence[Any], is_list: bool) -> Any:
        """The output of LangGraph's node for all calls, from those for each."""
        pauses: list[Interrupt] = []
        items: list[Any] = []
        for outcome in ended:
            if isinstance(outcome, GraphInterrupt):
                pauses.extend(outcome.args[0])
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                items.extend(self._items(outcome))
        staying = [item for item in items if not hands_over(item)]
        if len(staying) < len(items):
            told = {message.tool_call_id: message for item in staying for message in tool_messages(item)}
            items = [self._handed_over(item, told) for item in items if hands_over(item) or not pauses]
        elif pauses:
            raise GraphInterrupt(pauses)
        if not any(isinstance(item, Command) for item in items):
            return items if is_list else {self._key: items}
        return _merged([item if isinstance(item, Command) else self._update(item, is_list) for item in items])

    def _handed_over(self, item: Any, told: Mapping[str, ToolMessage]) -> Any:
        """A hand-over with the answers of those calls that have ended; LangGraph drops all else."""
        if not hands_over(item):
            return item
        return handed_over(item, self._key, lambda call: told.get(call["id"] or "") or withdrawn(call))

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


def _is_list(input: Any) -> bool:
    """Whether the input is a list of messages, and so is the output."""
    if not isinstance(input, list):
        return False
    last = cast("list[Any]", input)[-1:]
    return not any(isinstance(item, dict) and cast("dict[str, Any]", item).get("type") == "tool_call" for item in last)


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
