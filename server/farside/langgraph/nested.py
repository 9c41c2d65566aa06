"""The lives of the graphs within a graph, as the data of ``lifecycle``.

LangGraph tells of them itself, from the tasks that it runs. It does not know the tool call behind a graph where a
``ToolNode`` runs each call as a task of its own, and takes such a graph for completed when it has paused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from farside.langgraph.plain import plain

Namespace = tuple[str, ...]
Life = tuple[Namespace, dict[str, Any]]
"""A graph's namespace, and what happened to it."""


class Nested:
    """Follows the graphs within the graph, for one leg."""

    def __init__(self) -> None:
        self._open: set[Namespace] = set()
        self._calls: dict[str, str] = {}
        """The tool calls that tasks carry out, by the task's id."""

    def task(self, data: Mapping[str, Any]) -> Iterator[Life]:
        """A task began, or ended: what is within it has ended then too, the innermost first."""
        task_id = str(data["id"])
        if "result" not in data:
            if (call_id := _tool_call(data.get("input"))) is not None:
                self._calls[task_id] = call_id
            return
        self._calls.pop(task_id, None)
        event = "interrupted" if data["interrupts"] else "failed" if data["error"] else "completed"
        within = [graph for graph in self._open if any(_task_of(segment) == task_id for segment in graph)]
        for graph in sorted(within, key=len, reverse=True):
            self._open.discard(graph)
            yield graph, {"event": event}

    def told(self, data: Mapping[str, Any]) -> Iterator[Life]:
        """LangGraph tells of a graph; each start and each end is told once."""
        graph = tuple(cast("Sequence[str]", data.get("namespace", ())))
        if not graph:
            return  # the root's life is the engine's
        if data["event"] != "started":
            if graph in self._open:
                self._open.discard(graph)
                yield graph, {"event": "interrupted" if data["event"] == "drained" else data["event"]}
            return
        self._open.add(graph)
        shown = {key: plain(data[key]) for key in ("event", "graph_name", "cause") if key in data}
        call_id = self._calls.get(_task_of(graph[-1]))
        if call_id is not None:
            shown["cause"] = {"type": "toolCall", "tool_call_id": call_id}
        yield graph, shown


def _task_of(segment: str) -> str:
    """The task's id in a segment of a namespace, ``node:task``."""
    return segment.partition(":")[2]


def _tool_call(given: Any) -> str | None:
    """The id of the tool call that a task was given, in any of the forms in which a tool node takes one."""
    if isinstance(given, tuple):  # the arguments of a function that is decorated with @task
        return next((found for item in cast("tuple[Any, ...]", given) if (found := _tool_call(item)) is not None), None)
    if isinstance(given, list):
        items = cast("list[Any]", given)
        return _tool_call(items[0]) if len(items) == 1 else None
    if not isinstance(given, dict):
        return None
    fields = cast("dict[str, Any]", given)
    call = cast("dict[str, Any]", fields["tool_call"]) if isinstance(fields.get("tool_call"), dict) else fields
    return call["id"] if call.get("type") == "tool_call" and isinstance(call.get("id"), str) else None
