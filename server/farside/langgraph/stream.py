"""LangGraph's v3 event stream."""

from __future__ import annotations

import warnings
from typing import Any, cast

from langchain_core._api import LangChainBetaWarning
from langchain_core.runnables import RunnableConfig
from langgraph.stream import (  # pyright: ignore[reportMissingTypeStubs]
    AsyncGraphRunStream,
    ProtocolEvent,
    StreamTransformer,
)

from farside.langgraph.graph import Graph

__all__ = ["ProtocolEvent", "open_stream"]


class _Channels(StreamTransformer):
    """Asks LangGraph for the channels that it does not stream by itself.

    It has no projection of its own, so it goes together with whatever transformers a graph brings.
    """

    required_stream_modes = ("tools", "custom")

    def init(self) -> dict[str, Any]:
        return {}

    def process(self, event: ProtocolEvent) -> bool:
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
