"""Ending a run that will not go on: drop what is pending, and leave a valid history (L6).

Nothing of the agent runs for it: no tool, no model, no code after a pause. Only the routing functions behind one node
are asked, because LangGraph writes state as the act of a node; where they lead is dropped too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import InvalidUpdateError
from langgraph.types import Overwrite, StateSnapshot

from farside.langgraph.caught import KEY as CAUGHT
from farside.langgraph.caught import Noted, without_caught
from farside.langgraph.graph import END, START, Graph, lasting_subgraphs, saver_of, writing
from farside.langgraph.history import Answer, closed, tool_messages
from farside.langgraph.private import returned_by_tasks

Answering = Callable[[], Answer]


async def close(graph: Graph, config: RunnableConfig, snapshot: StateSnapshot, answering: Answering) -> None:
    """End what is under way in a thread, and answer each tool call that has no tool message.

    What finished before the end stays: the output of a tool whose siblings did not finish is kept.

    Args:
        config: names the thread.
        snapshot: the thread's state now.
        answering: gives, for each list of messages, what makes the tool message for a call that has none there.
    """
    await _close_one(graph, graph, config, snapshot, answering)
    thread_id = config.get("configurable", {})["thread_id"]
    for namespace, subgraph in lasting_subgraphs(graph):  # the others begin anew in the next run
        inner: RunnableConfig = {**config, "configurable": {"thread_id": thread_id, "checkpoint_ns": namespace}}
        await _close_one(graph, subgraph, inner, await graph.aget_state(inner), answering)


async def add_messages(graph: Graph, config: RunnableConfig, messages: list[AIMessage]) -> None:
    """Add messages to the end of a closed thread's ``messages``."""
    await _write(graph, graph, config, {"messages": messages}, ())
    await graph.aupdate_state(config, None, as_node=END)


async def _close_one(
    root: Graph, graph: Graph, config: RunnableConfig, snapshot: StateSnapshot, answering: Answering
) -> None:
    finished: dict[str | None, ToolMessage] = {}
    if snapshot.tasks:  # not `next`, which leaves out tasks that have written and whose checkpoint is not stored
        finished = await _finished(root, config)
        try:
            await root.aupdate_state(config, None, as_node=END)
        except InvalidUpdateError:  # what the tasks had written contradicts itself: drop that too
            await root.aupdate_state(config, {}, as_node=START)
            await root.aupdate_state(config, None, as_node=END)
    changes = dict(_changes(graph, snapshot.values, finished, answering))
    if changes:
        await _write(root, graph, config, changes, snapshot.next)
        await root.aupdate_state(config, None, as_node=END)


async def _finished(root: Graph, config: RunnableConfig) -> dict[str | None, ToolMessage]:
    """The tool messages of calls that had ended within a ``ToolNode`` of ours, by call id."""
    saved = await saver_of(root).aget_tuple(config)
    found = [] if saved is None else [message for value in returned_by_tasks(saved) for message in tool_messages(value)]
    return {message.tool_call_id: message for message in found}


def _changes(
    graph: Graph, values: Any, finished: Mapping[str | None, ToolMessage], answering: Answering
) -> Iterator[tuple[str, Any]]:
    """The updates that close every list of messages in the state, and forget which pauses were caught."""
    if not isinstance(values, dict):
        return
    caught: list[Noted] = cast("dict[str, Any]", values).get(CAUGHT) or []
    if caught:
        yield CAUGHT, []
    for key, value in cast("dict[str, Any]", values).items():
        if not isinstance(value, list) or not all(isinstance(item, BaseMessage) for item in cast("list[Any]", value)):
            continue
        messages = cast("list[AnyMessage]", value)
        whole = closed(without_caught(messages, caught), _finished_first(finished, answering()))
        if whole == messages:
            continue
        match writing(graph, key):
            case "replaces":
                yield key, whole
            case "adds":
                added = whole[len(messages) :]
                yield key, added if whole[: len(messages)] == messages else Overwrite(whole)
            case _:
                pass


def _finished_first(finished: Mapping[str | None, ToolMessage], answer: Answer) -> Answer:
    """Tells what has finished, each once, and else what ``answer`` makes."""
    left = dict(finished)
    return lambda call: left.pop(call["id"], None) or answer(call)


async def _write(
    root: Graph, graph: Graph, config: RunnableConfig, changes: dict[str, Any], pending: tuple[str, ...]
) -> None:
    """Write the changes as the act of a node that was to answer the calls, or else of the start."""
    *others, last = dict.fromkeys([*(name for name in pending if name in graph.nodes), START])
    for name in others:
        try:
            await root.aupdate_state(config, changes, as_node=name)
        except Exception:  # noqa: S112 - the node's routing cannot cope with the state; another node's may
            continue
        return
    await root.aupdate_state(config, changes, as_node=last)
