"""LangGraph's v3 event stream."""

from __future__ import annotations

import warnings
from typing import Any, cast

from langchain_core._api import LangChainBetaWarning
from langchain_core.runnables import RunnableConfig
from langgraph.stream import (  # pyright: ignore[reportMissingTypeStubs]
    AsyncGraphRunStream,
    ProtocolEvent,
    StreamChannel,
    StreamTransformer,
)

from farside.langgraph.graph import Graph

__all__ = ["TASKS", "ProtocolEvent", "open_stream"]

_TASKS = "farside.tasks"

TASKS = f"custom:{_TASKS}"
"""The method of events that carry a task as ``(namespace, task)``. LangGraph makes the life of inner graphs of the
channel ``tasks`` and then keeps it to itself."""


class _Channels(StreamTransformer):
    """Asks LangGraph for the channels that it does not stream by itself, and passes on the tasks.

    All of them, although most runs need few: who listens may change while a run goes on, and asking costs a few percent
    of a step at most (``server/benchmarks/channels.py``). What costs is making them plain, which is left until somebody
    wants one.
    """

    required_stream_modes = ("tools", "custom", "updates", "checkpoints", "tasks")

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._tasks: StreamChannel[tuple[list[str], Any]] = StreamChannel(_TASKS)

    def init(self) -> dict[str, Any]:
        return {_TASKS: self._tasks}

    def process(self, event: ProtocolEvent) -> bool:
        if event["method"] == "tasks" and not self.scope:  # inner graphs have a transformer each, with the same events
            self._tasks.push((event["params"]["namespace"], event["params"]["data"]))
        return True


async def open_stream(graph: Graph, entry: Any, config: RunnableConfig, context: Any) -> AsyncGraphRunStream:
    """Enter the graph and stream what happens; ``abort()`` the stream when done with it.

    Args:
        entry: the input, a ``Command``, or None to go on where the thread stands.
        context: the run's context; LangGraph keeps none across a pause.
    """
    with warnings.catch_warnings():
        # Nothing in here waits, so no other task's warnings are caught.
        warnings.simplefilter("ignore", LangChainBetaWarning)
        return await cast("Any", graph).astream_events(
            entry, config, context=context, version="v3", durability="sync", transformers=[_Channels]
        )
