"""Which graphs a run has entered, and how they stand, folded from its events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from farside.core.model import Event, Run

_STATUS = {"queued": "started", "cancelled": "interrupted"}
"""How a run's status reads as that of a graph, where the two differ."""


def tree(run: Run, events: Iterable[Event]) -> dict[str, Any]:
    """The run's graph, ``{namespace, status, graph_name, children?}``, in it those that it has entered, in order.

    Args:
        events: the thread's; those of other runs are left out.
    """
    nodes: dict[tuple[str, ...], dict[str, Any]] = {(): _node((), run.agent)}
    nodes[()]["status"] = _STATUS.get(run.status, run.status)
    for event in events:
        if event.run_id != run.id or not event.namespace:
            continue
        node = _within(nodes, event.namespace)
        if event.method == "lifecycle":
            node["status"] = event.data["event"]
            node["graph_name"] = event.data.get("graph_name") or node["graph_name"]
    return nodes[()]


def statuses(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The graphs of a tree, ``{namespace, status}``, the outer ones first."""
    within = [entry for child in node.get("children", ()) for entry in statuses(child)]
    return [{"namespace": node["namespace"], "status": node["status"]}, *within]


def _within(nodes: dict[tuple[str, ...], dict[str, Any]], namespace: tuple[str, ...]) -> dict[str, Any]:
    found = nodes.get(namespace)
    if found is None:
        found = nodes[namespace] = _node(namespace, namespace[-1].partition(":")[0])
        _within(nodes, namespace[:-1]).setdefault("children", []).append(found)
    return found


def _node(namespace: tuple[str, ...], graph_name: str) -> dict[str, Any]:
    return {"namespace": list(namespace), "status": "started", "graph_name": graph_name}
