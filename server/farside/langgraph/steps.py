"""What a graph's steps make, as the data of ``values``, ``updates``, ``checkpoints``, ``tasks`` and ``custom``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from farside.langgraph.plain import plain

_NO_NODES = frozenset({"__interrupt__", "__metadata__"})
"""Keys of an update that name no node: of a pause ``input.requested`` tells, of a cached task there is nothing to."""

_FAILED = "the task failed"


def updates(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Of LangGraph's update, which maps nodes to what they wrote: ``{node, values}`` for each write."""
    for node, written in data.items():
        if node in _NO_NODES:
            continue
        for values in _writes(written):
            yield {"node": node, "values": state({} if values is None else values)}


def _writes(written: Any) -> list[Any]:
    """What a node wrote, once for each of its tasks: LangGraph makes a list of several, and leaves one as it is."""
    if isinstance(written, list) and all(isinstance(each, dict) for each in cast("list[Any]", written)):
        return cast("list[Any]", written)
    return [written]


def state(data: Any) -> dict[str, Any]:
    """A graph's state. One that is no object is under the key ``__root__``."""
    shown = plain(data)
    return cast("dict[str, Any]", shown) if isinstance(shown, dict) else {"__root__": shown}


def custom(data: Any) -> dict[str, Any]:
    """What was written to the stream; ``{"name": "x", "payload": ...}`` is for the channel ``custom:x`` too."""
    if isinstance(data, dict):
        fields = cast("dict[Any, Any]", data)
        if fields.keys() == {"name", "payload"} and isinstance(fields["name"], str) and fields["name"]:
            return cast("dict[str, Any]", plain(fields))
    return {"payload": plain(data)}


def checkpoint(data: Mapping[str, Any]) -> dict[str, Any]:
    """Of LangGraph's checkpoint: ``{id, parent_id?, step, source}``, without the state."""
    parent = cast("Mapping[str, Any]", data.get("parent_config") or {}).get("configurable", {}).get("checkpoint_id")
    return {
        "id": data["config"]["configurable"]["checkpoint_id"],
        **({} if parent is None else {"parent_id": parent}),
        "step": data["metadata"]["step"],
        "source": data["metadata"]["source"],
    }


def task(data: Mapping[str, Any]) -> dict[str, Any]:
    """Of a task's start ``{id, name, input, triggers, metadata?}``, or of its end ``{id, name, error, result,
    interrupts}``.

    The text of an exception, and what else a run's metadata holds, is not for browsers.
    """
    if "result" not in data:
        agent = cast("Mapping[str, Any]", data.get("metadata") or {}).get("lc_agent_name")
        shown = {key: plain(data[key]) for key in ("id", "name", "input", "triggers")}
        return shown if agent is None else {**shown, "metadata": {"lc_agent_name": plain(agent)}}
    pauses = cast("list[Mapping[str, Any]]", data["interrupts"])
    return {
        "id": data["id"],
        "name": data["name"],
        "error": None if data["error"] is None else _FAILED,
        "result": plain(data["result"]),
        "interrupts": [{"id": pause["id"], "value": plain(pause["value"])} for pause in pauses],
    }
