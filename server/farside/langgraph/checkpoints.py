"""A graph's saved states, and what else clients ask of an agent that is a graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import PregelTask, StateSnapshot

from farside.core.ports import AgentState, Directive
from farside.errors import FarsideError
from farside.langgraph.graph import Graph, nodes_of, saver_of, state_keys
from farside.langgraph.history import has_open_calls
from farside.langgraph.pauses import is_tool_call
from farside.langgraph.plain import plain
from farside.langgraph.served import RUN_ID


class CheckpointedGraph:
    """Implements :class:`farside.core.ports.AgentGraph`.

    Args:
        graph: the graph, with its checkpointer.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def at(self, thread_id: str, namespace: Sequence[str], checkpoint_id: str | None) -> AgentState:
        """The state at a checkpoint, or now; see :meth:`farside.core.ports.AgentGraph.at`."""
        snapshot = await self.snapshot(thread_id, namespace, checkpoint_id)
        return state_of(snapshot, namespace)

    async def snapshot(self, thread_id: str, namespace: Sequence[str], checkpoint_id: str | None) -> StateSnapshot:
        """As :meth:`at`, in LangGraph's own form."""
        snapshot = await self._graph.aget_state(_config(thread_id, namespace, checkpoint_id))
        if snapshot.metadata is None and checkpoint_id is not None:
            message = f"expected a checkpoint of thread {thread_id}, got {checkpoint_id!r}"
            raise FarsideError("no_such_checkpoint", f"{message}; state.listCheckpoints lists them")
        if snapshot.metadata is None and namespace:
            raise _no_namespace(namespace)
        return snapshot

    async def history(
        self,
        thread_id: str,
        namespace: Sequence[str],
        limit: int,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[AgentState]:
        """The checkpoints, the newest first; see :meth:`farside.core.ports.AgentGraph.history`."""
        found: list[AgentState] = []
        cursor = None if before is None else _config(thread_id, namespace, before)
        wanted = None if metadata is None else {_STORED.get(key, key): value for key, value in metadata.items()}
        snapshots = self._graph.aget_state_history(
            _config(thread_id, namespace, None), filter=wanted, before=cursor, limit=limit
        )
        async for snapshot in snapshots:
            found.append(state_of(snapshot, namespace))
            await asyncio.sleep(0)  # a long history takes a while: others get their turn
        if namespace and not found and before is None and not metadata:
            raise _no_namespace(namespace)
        return found

    async def start_of(self, thread_id: str, run_id: str) -> str | None:
        """The checkpoint with which a run began, None when it has stored none."""
        first: str | None = None
        async for saved in saver_of(self._graph).alist(_config(thread_id, (), None), filter={RUN_ID: run_id}):
            first = saved.checkpoint["id"]
        return first

    async def check(self, thread_id: str, directive: Directive) -> None:
        """Raises FarsideError ``invalid_argument``; see :meth:`farside.core.ports.AgentGraph.check`."""
        keys, nodes = state_keys(self._graph), nodes_of(self._graph)
        for key in directive.update:
            if key not in keys:
                raise _unknown("update: expected keys of the agent's state", keys, key)
        for target in directive.goto:
            node = target if isinstance(target, str) else str(target["node"])
            if node not in nodes:
                raise _unknown("goto: expected nodes of the agent's graph", nodes, node)
        if directive.update:
            values = cast("Any", (await self.snapshot(thread_id, (), None)).values)
            for key, update in directive.update.items():
                _check_order(key, update, cast("dict[str, Any]", values).get(key) if isinstance(values, dict) else None)

    def drawing(self, xray: bool | int) -> dict[str, Any]:
        """The graph's ``nodes`` and ``edges``; see :meth:`farside.core.ports.AgentGraph.drawing`."""
        return cast("dict[str, Any]", plain(self._graph.get_graph(xray=xray).to_json()))


_STORED = {"run_id": RUN_ID}
"""How metadata is called in a checkpoint where clients call it otherwise."""


def state_of(snapshot: StateSnapshot, namespace: Sequence[str] = ()) -> AgentState:
    """A snapshot in plain values."""
    values = cast("Any", snapshot.values)
    configurable = snapshot.config.get("configurable", {})
    parent = cast("dict[str, Any]", snapshot.parent_config or {}).get("configurable", {})
    return AgentState(
        values=plain(values if isinstance(values, dict) else {"__root__": values}),
        checkpoint_id=configurable.get("checkpoint_id"),
        next=snapshot.next,
        namespace=tuple(namespace),
        parent_id=parent.get("checkpoint_id"),
        created_at=snapshot.created_at,
        metadata=_metadata(cast("Mapping[str, Any] | None", snapshot.metadata)),
        tasks=[_task(task) for task in snapshot.tasks],
    )


def _metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    found = dict(metadata or {})
    if (run_id := found.pop(RUN_ID, None)) is not None:
        found["run_id"] = run_id
    return cast("dict[str, Any]", plain(found))


def _task(task: PregelTask) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": task.id,
        "name": task.name,
        "path": plain(cast("Any", task).path),
        "interrupts": [
            {"id": pause.id, "value": plain(pause.value)} for pause in task.interrupts if not is_tool_call(pause)
        ],
        "checkpoint": _within(task.state),
        "state": None,
        "result": plain(task.result),
    }
    # The text of an exception is for the log, not for a browser.
    return shown if task.error is None else {**shown, "error": "the task failed"}


def _within(state: Any) -> dict[str, Any] | None:
    """Where the state of a graph that the task has entered is."""
    if not isinstance(state, dict):
        return None
    place = cast("dict[str, Any]", state).get("configurable", {})
    return {key: place[key] for key in ("thread_id", "checkpoint_ns", "checkpoint_id") if key in place}


def _config(thread_id: str, namespace: Sequence[str], checkpoint_id: str | None) -> RunnableConfig:
    place: dict[str, Any] = {"thread_id": thread_id}
    if namespace:
        place["checkpoint_ns"] = "|".join(namespace)
    if checkpoint_id is not None:
        place["checkpoint_id"] = checkpoint_id
    return {"configurable": place}


def _no_namespace(namespace: Sequence[str]) -> FarsideError:
    message = f"expected [] or the namespace of a graph within the agent, got {list(namespace)}"
    return FarsideError("no_such_namespace", f"{message}; the events of such a graph have it")


def _unknown(expected: str, known: Sequence[str], got: str) -> FarsideError:
    return FarsideError("invalid_argument", f"{expected}, one of {', '.join(known)}; got {got[:100]!r}")


def _check_order(key: str, update: Any, messages: Any) -> None:
    if not has_open_calls(messages):
        return
    known = {message.id for message in messages}
    for message in cast("list[Any]", update if isinstance(update, list) else [update]):
        given: dict[str, Any] = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
        if given.get("type") not in ("tool", "remove") and given.get("id") not in known:
            message = f"update.{key}: expected no further message while tool calls before it have no results"
            raise FarsideError("invalid_argument", f"{message}; send it with the next run.start")
