"""What is stored of a checkpoint and of its writes, taken when it was handed over: it may change afterwards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver.items import Item
from farside.langgraph.saver.known import Known, Split
from farside.langgraph.saver.place import Place
from farside.langgraph.saver.ranges import StoredList, dump
from farside.langgraph.saver.rows import Row, put, put_writes
from farside.langgraph.saver.snapshot import DeltaSnapshot
from farside.langgraph.saver.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Put:
    """A checkpoint whose lists of messages have been taken out of its row. Calling it stores it."""

    row: Row
    known: Known
    lists: dict[str, tuple[bool, Split]]
    """By channel: whether it holds LangGraph's delta snapshot, and the messages."""
    serde: SerializerProtocol

    def __call__(self, transaction: Transaction) -> None:
        thread_id = self.row.thread_id
        number, _ = transaction.thread(thread_id)
        known, lists = self.known, self.lists
        if known.number not in (None, number):  # deleted or pruned since, maybe by another process
            known.outdated, known = True, Known(number)
            lists = {channel: (delta, self._anew(split)) for channel, (delta, split) in lists.items()}
        stored = {
            channel: StoredList("snapshot" if delta else "list", transaction.store(thread_id, known, split))
            for channel, (delta, split) in lists.items()
        }
        put(transaction, self.row._replace(lists=dump(stored)))

    def _anew(self, split: Split) -> Split:
        items = [Item(message, self.serde.dumps_typed(message)) for message in split.messages]
        return Split(split.messages, (), items)


def take_checkpoint(
    known: Known,
    serde: SerializerProtocol,
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    new_versions: ChannelVersions,
) -> Put:
    """Encode what is new of a checkpoint.

    Args:
        known: what is known of its thread; it learns the new messages.
        config: names the thread and the checkpoint's parent.
        new_versions: the channels that were written since the parent. If nobody saw a task write one of them, any of
            its messages may have changed in place: with durability "exit", for example, only the end is seen.
    """
    place = Place.of(config)
    values = dict(checkpoint.get("channel_values") or {})
    seen = known.written.get((place.checkpoint_ns, place.checkpoint_id or ""), set())
    lists: dict[str, tuple[bool, Split]] = {}
    for channel, value in values.items():
        delta = isinstance(value, DeltaSnapshot)
        messages = cast("list[Any]", value.value if delta else value)
        if type(messages) is list and messages and isinstance(messages[0], BaseMessage):
            wary = channel in new_versions and channel not in seen
            split = known.split((place.checkpoint_ns, channel), messages, serde.dumps_typed, wary=wary)
            if split is not None:
                lists[channel] = delta, split
    for channel in lists:
        values[channel] = None
    kind, encoded = serde.dumps_typed({**checkpoint, "channel_values": values})
    described = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
    row = Row(*place[:2], checkpoint["id"], place.checkpoint_id, kind, encoded, described, None, None)
    return Put(row, known, lists, serde)


@dataclass(frozen=True, slots=True)
class PutWrites:
    """What a task wrote. Calling it stores it."""

    rows: Sequence[tuple[Any, ...]]
    replacing: bool

    def __call__(self, transaction: Transaction) -> None:
        put_writes(transaction, self.rows, replacing=self.replacing)


def take_writes(
    serde: SerializerProtocol, place: Place, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
) -> PutWrites:
    """Encode what a task wrote. How it ended replaces what was stored of that; its other writes are stored once."""
    rows = [
        (*place, task_id, task_path, WRITES_IDX_MAP.get(channel, index), channel, *serde.dumps_typed(value))
        for index, (channel, value) in enumerate(writes)
    ]
    return PutWrites(rows, all(channel in WRITES_IDX_MAP for channel, _ in writes))
