"""What LangGraph's delta channels are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.checkpoint.base import DeltaChannelHistory, PendingWrite
from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver.place import Place
from farside.langgraph.saver.tuples import Tuples


def delta_history(
    tuples: Tuples, serde: SerializerProtocol, place: Place, channels: Sequence[str]
) -> Mapping[str, DeltaChannelHistory]:
    """By channel: its value at the nearest ancestor that has one, and what was written from there on, oldest first."""
    steps: dict[str, list[list[PendingWrite]]] = {channel: [] for channel in channels}
    seeds: dict[str, Any] = {}
    row = tuples.row(*place)
    visited: set[str] = set()
    while len(seeds) < len(steps) and row and row.parent_checkpoint_id and row.checkpoint_id not in visited:
        visited.add(row.checkpoint_id)
        row = tuples.row(row.thread_id, row.checkpoint_ns, row.parent_checkpoint_id)
        if row is None:
            break
        pending = tuples.pending(row, serde)
        values = tuples.checkpoint(row, serde)["channel_values"]
        for channel in steps.keys() - seeds.keys():
            steps[channel].append([write for write in pending if write[1] == channel])
            if channel in values:
                seeds[channel] = values[channel]
    histories: dict[str, DeltaChannelHistory] = {}
    for channel, found in steps.items():
        histories[channel] = {"writes": [write for step in reversed(found) for write in step]}
        if channel in seeds:
            histories[channel]["seed"] = seeds[channel]
    return histories
