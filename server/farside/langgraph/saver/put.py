"""What is stored of a checkpoint and of its writes, taken when it was handed over: it may change afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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

from farside.langgraph.saver import large
from farside.langgraph.saver.items import Encode, Item
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
    large: Mapping[str, bytes]
    """The large values of the row."""
    encode: Encode

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
        transaction.store_large(thread_id, self.large)
        put(transaction, self.row._replace(lists=dump(stored)))

    def _anew(self, split: Split) -> Split:
        items = [Item(message, self.encode(message)) for message in split.messages]
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
    encode = partial(large.encode, serde)
    values = dict(checkpoint.get("channel_values") or {})
    seen = known.written.get((place.checkpoint_ns, place.checkpoint_id or ""), set())
    lists: dict[str, tuple[bool, Split]] = {}
    for channel, value in values.items():
        delta = isinstance(value, DeltaSnapshot)
        messages = cast("list[Any]", value.value if delta else value)
        if type(messages) is list and messages and isinstance(messages[0], BaseMessage):
            wary = channel in new_versions and channel not in seen
            split = known.split((place.checkpoint_ns, channel), messages, encode, wary=wary)
            if split is not None:
                lists[channel] = delta, split
    for channel in lists:
        values[channel] = None
    kind, encoded, digests, contents = encode({**checkpoint, "channel_values": values})
    described = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
    row = Row(*place[:2], checkpoint["id"], place.checkpoint_id, kind, encoded, described, None, digests, None)
    return Put(row, known, lists, contents, encode)


@dataclass(frozen=True, slots=True)
class PutWrites:
    """What a task wrote. Calling it stores it."""

    thread_id: str
    rows: Sequence[tuple[Any, ...]]
    large: Mapping[str, bytes]
    replacing: bool

    def __call__(self, transaction: Transaction) -> None:
        transaction.store_large(self.thread_id, self.large)
        put_writes(transaction, self.rows, replacing=self.replacing)


def take_writes(
    serde: SerializerProtocol, place: Place, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
) -> PutWrites:
    """Encode what a task wrote. How it ended replaces what was stored of that; its other writes are stored once."""
    rows: list[tuple[Any, ...]] = []
    contents: dict[str, bytes] = {}
    for index, (channel, value) in enumerate(writes):
        encoded = large.encode(serde, value)
        number = WRITES_IDX_MAP.get(channel, index)
        rows.append((*place, task_id, task_path, number, channel, *encoded[:3]))
        contents.update(encoded.values)
    return PutWrites(place.thread_id, rows, contents, all(channel in WRITES_IDX_MAP for channel, _ in writes))
