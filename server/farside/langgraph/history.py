"""A history in which every tool call has its one tool message, directly after the call (L6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langgraph.types import Command

Answer = Callable[[ToolCall], ToolMessage]
"""Makes the tool message for a call that has none."""


def closed(messages: Sequence[BaseMessage], answer: Answer) -> list[BaseMessage]:
    """The messages, with a tool message for each call that has none.

    The tool messages of a batch follow its AI message in the order in which they came; those that ``answer`` makes are
    the last, in the order of the calls. A tool message that stands elsewhere is moved to its call.
    """
    whole: list[BaseMessage] = []
    moved: set[int] = set()
    for index, message in enumerate(messages):
        if index in moved:
            continue
        whole.append(message)
        if not isinstance(message, AIMessage) or not message.tool_calls:
            continue
        open_calls = list(message.tool_calls)  # a model may give two of them one id
        for later, candidate in _until_next_calls(messages, index + 1):
            if isinstance(candidate, ToolMessage) and _take(open_calls, candidate.tool_call_id):
                moved.add(later)
                whole.append(candidate)
        whole.extend(answer(call) for call in open_calls)
    return whole


def has_open_calls(state: Any) -> bool:
    """Whether a call has no tool message directly after it, in any list of messages of a state."""
    lists = cast("dict[str, Any]", state).values() if isinstance(state, dict) else [state]
    return any(_is_open(cast("list[Any]", each)) for each in lists if isinstance(each, list))


def _is_open(messages: list[Any]) -> bool:
    are_messages = all(isinstance(message, BaseMessage) for message in messages)
    return are_messages and closed(messages, lambda call: ToolMessage("", tool_call_id=call["id"] or "")) != messages


def left_behind(before: Any, after: Iterable[Any]) -> list[str]:
    """The ids of the messages in a state that none of the others, states or inputs, has."""
    kept = {message_id for each in after for message_id in _ids(each)}
    return [message_id for message_id in _ids(before) if message_id not in kept]


def _ids(state: Any) -> list[str]:
    messages = cast("dict[str, Any]", state).get("messages") if isinstance(state, dict) else None
    each_id = (
        cast("dict[str, Any]", each).get("id") if isinstance(each, dict) else getattr(each, "id", None)
        for each in (cast("list[Any]", messages) if isinstance(messages, list) else ())
    )
    return [found for found in each_id if isinstance(found, str)]


def ends_open(state: Any) -> bool:
    """Whether a call that was made after the last message of a human has no tool message, in any list of a state."""
    lists = cast("dict[str, Any]", state).values() if isinstance(state, dict) else [state]
    return any(_ends_open(cast("list[Any]", each)) for each in lists if isinstance(each, list))


def _ends_open(messages: list[Any]) -> bool:
    answered: list[str] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage) or not isinstance(message, BaseMessage):
            break
        if isinstance(message, ToolMessage):
            answered.append(message.tool_call_id)
        elif isinstance(message, AIMessage):
            for call in message.tool_calls:
                if (call["id"] or "") not in answered:
                    return True
                answered.remove(call["id"] or "")
    return False


def messages_in(state: Any, key: str) -> list[Any]:
    """The messages of a state: a list of them, or what a dict or an object has under the key; empty without any."""
    if isinstance(state, list):
        return cast("list[Any]", state)
    found: Any = cast("dict[str, Any]", state).get(key) if isinstance(state, dict) else getattr(state, key, None)
    return found or []


def tool_messages(output: Any) -> Iterator[ToolMessage]:
    """The tool messages in what a node with tools has returned: messages, updates with them, and commands."""
    if isinstance(output, ToolMessage):
        yield output
    elif isinstance(output, Command):
        yield from tool_messages(cast("Any", output).update)
    elif isinstance(output, dict):
        for value in cast("dict[str, Any]", output).values():
            yield from tool_messages(value)
    elif isinstance(output, list):
        for item in cast("list[Any]", output):
            yield from tool_messages(item)


def _take(open_calls: list[ToolCall], tool_call_id: str) -> bool:
    """Take the first call of that id out of the list; whether there was one."""
    for index, call in enumerate(open_calls):
        if (call["id"] or "") == tool_call_id:
            del open_calls[index]
            return True
    return False


def _until_next_calls(messages: Sequence[BaseMessage], start: int) -> list[tuple[int, BaseMessage]]:
    """The messages from ``start`` up to the next one with tool calls, with their places."""
    found: list[tuple[int, BaseMessage]] = []
    for index in range(start, len(messages)):
        message = messages[index]
        if isinstance(message, AIMessage) and message.tool_calls:
            break
        found.append((index, message))
    return found
