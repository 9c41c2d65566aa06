"""LangGraph's compiled graph, as far as this package needs it; its loose types end here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeGuard, cast

from langgraph.channels import BinaryOperatorAggregate, LastValue  # pyright: ignore[reportMissingTypeStubs]
from langgraph.channels.delta import DeltaChannel  # pyright: ignore[reportMissingTypeStubs]
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START  # pyright: ignore[reportMissingTypeStubs]
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs]

__all__ = [
    "COPY",
    "END",
    "START",
    "Graph",
    "has_breakpoints",
    "has_saver",
    "is_graph",
    "lasting_subgraphs",
    "nodes_of",
    "runnables",
    "saver_of",
    "state_keys",
    "writing",
]

Graph = Pregel[Any, Any, Any, Any]

COPY = "__copy__"
"""The node as whose act LangGraph copies a checkpoint to the end of its thread."""


def is_graph(obj: object) -> TypeGuard[Graph]:
    """Whether the object is a compiled LangGraph graph, ``create_agent``'s included."""
    return isinstance(obj, Pregel)


def has_saver(graph: Graph) -> bool:
    """Whether the graph brings a checkpointer of its own."""
    return isinstance(cast("Any", graph).checkpointer, BaseCheckpointSaver)


def saver_of(graph: Graph) -> BaseCheckpointSaver[Any]:
    """The graph's own checkpointer, which it must have."""
    return cast("BaseCheckpointSaver[Any]", cast("Any", graph).checkpointer)


def has_breakpoints(graph: Graph) -> bool:
    """Whether the graph may stop without a pause, because it was compiled to."""
    return bool(graph.interrupt_before_nodes or graph.interrupt_after_nodes)


def runnables(graph: Graph) -> Iterator[Any]:
    """What the graph's nodes run, and the graphs that LangGraph finds in them."""
    for node in graph.nodes.values():
        yield node.bound
        for subgraph in cast("list[Any]", cast("Any", node).subgraphs or []):
            if subgraph is not node.bound:
                yield subgraph


def nodes_of(graph: Graph) -> list[str]:
    """The names of the nodes that a graph can be told to go to; the end, where nothing happens, is one."""
    return [*(name for name in graph.nodes if name != START), END]


def state_keys(graph: Graph) -> list[str]:
    """The keys of the graph's state that clients see."""
    keys = graph.output_channels
    return [keys] if isinstance(keys, str) else list(keys)


def lasting_subgraphs(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """The graphs within the graph whose state outlives a run (``checkpointer=True``), by namespace."""
    subgraphs = cast("Iterator[tuple[str, Any]]", cast("Any", graph).get_subgraphs(recurse=True))
    for namespace, subgraph in subgraphs:
        if is_graph(subgraph) and cast("Any", subgraph).checkpointer is True:
            yield namespace, subgraph


def writing(graph: Graph, key: str) -> Literal["replaces", "adds", "other"]:
    """What a write to a key of the state does with what is there."""
    channel = cast("Any", graph.channels.get(key))  # pyright: ignore[reportUnknownMemberType]
    if isinstance(channel, LastValue):
        return "replaces"
    return "adds" if isinstance(channel, (BinaryOperatorAggregate, DeltaChannel)) else "other"
