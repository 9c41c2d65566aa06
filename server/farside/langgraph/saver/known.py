"""What one process knows of a thread's messages: which objects are stored, under which numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from operator import is_not
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langgraph.types import Overwrite

from farside.langgraph.saver.items import Encode, Item, same, state_of
from farside.langgraph.saver.ranges import Ranges, joined, spread

_WATCHED = 4
"""How many messages at the end of a list are compared with what was stored, even if nobody said that they changed."""

_LINES = 8
_STEPS = 16

Channel = tuple[str, str]
"""A checkpoint namespace, and a channel in it."""


@dataclass(slots=True)
class Line:
    """The list that a channel held last.

    ``ranges`` tell where its first messages are stored, ``rest`` are the others: their numbers were not known when the
    line was made.
    """

    messages: list[BaseMessage]
    states: list[Any]
    ranges: Ranges
    rest: list[Item]

    def settle(self) -> None:
        """Move what has a number by now from the rest to the ranges."""
        stored = next((n for n, item in enumerate(self.rest) if item.seq is None), len(self.rest))
        if stored:
            self.ranges = joined((cast("int", item.seq) for item in self.rest[:stored]), self.ranges)
            del self.rest[:stored]


@dataclass(frozen=True, slots=True)
class Split:
    """A list as it is to be stored: ranges of stored items, then items of which some are new."""

    messages: Sequence[BaseMessage]
    ranges: Ranges
    rest: Sequence[Item]


@dataclass(slots=True)
class Known:
    """The stored messages of one thread that are in memory.

    Not safe for use by several threads at once. ``number``: which incarnation of the thread it is about; items are
    numbered anew when a thread is deleted or pruned, so that what is known of the old ones can never be mistaken.
    """

    number: int | None = None
    by_seq: dict[int, Item] = field(default_factory=dict[int, Item])
    by_id: dict[int, Item] = field(default_factory=dict[int, Item])
    """By the identity of the message, which stays alive as long as it is in here."""
    lines: dict[Channel, Line] = field(default_factory=dict[Channel, Line])
    written: dict[tuple[str, str], set[str]] = field(default_factory=dict[tuple[str, str], set[str]])
    """By checkpoint: the channels that its tasks were seen to write."""
    weight: int = 0
    """That of all messages that are in here."""
    outdated: bool = False
    """Whether the thread has another number by now."""

    # --- writing ---

    def split(self, where: Channel, messages: list[Any], encode: Encode, *, wary: bool) -> Split | None:
        """How to store a list; None if it holds something else than messages.

        Args:
            encode: makes the bytes of a message; called for new ones.
            wary: whether any message may have changed in place, not only the last ones.
        """
        line = self._line(where, messages)
        shared = 0 if line is None else len(line.messages)
        start = 0 if wary else max(0, shared - _WATCHED)
        changed = [item for item in self._items(messages[start:shared]) if item and not item.unchanged(encode)]
        for item in changed:
            self.forget(item)
        if line is None or changed:
            return self._split_anew(where, messages, encode, wary=wary)
        added = [self._item(message, encode) for message in messages[shared:]]
        if None in added:
            return None
        items = cast("list[Item]", added)
        line.settle()
        rest = [*line.rest, *items]
        self._draw(where, Line(list(messages), [*line.states, *(item.state for item in items)], line.ranges, rest))
        return Split(self.lines[where].messages, line.ranges, tuple(rest))

    def written_to(self, checkpoint: tuple[str, str], writes: Iterable[tuple[str, Any]], encode: Encode) -> None:
        """A task of a checkpoint wrote these values: a message among them may be one that it changed in place."""
        channels = self.written.pop(checkpoint, set())
        self.written[checkpoint] = channels
        if len(self.written) > _STEPS:
            del self.written[next(iter(self.written))]
        for channel, value in writes:
            channels.add(channel)
            for item in self._items(_messages_in(value)):
                if item and not item.unchanged(encode):
                    self.forget(item)

    def stored(self, number: int, seqs: Mapping[Item, int]) -> None:
        """These items have been stored under these numbers."""
        if self.number is None:
            self.number = number
        for item, seq in seqs.items():
            item.stored(seq)
            if self.by_id.get(id(item.message)) is item:
                self.by_seq[seq] = item

    # --- reading ---

    def missing(self, ranges: Ranges) -> list[int]:
        """The numbers of the messages that are not here, or are not any more what was stored."""
        missing: list[int] = []
        for seq in spread(ranges):
            item = self.by_seq.get(seq)
            if item is None:
                missing.append(seq)
            elif item.state is None or not same(state_of(item.message), item.state):
                self.forget(item)
                missing.append(seq)
        return missing

    def whole(self, where: Channel, ranges: Ranges) -> list[BaseMessage] | None:
        """The list of these ranges, if it is the channel's last one and nobody changed it since."""
        line = self.lines.get(where)
        if line is None:
            return None
        line.settle()
        if line.rest or line.ranges != ranges or not same(list(map(state_of, line.messages)), line.states):
            return None
        return list(line.messages)

    def read(self, where: Channel, ranges: Ranges, loaded: Mapping[int, Item]) -> list[BaseMessage]:
        """The list of these ranges. What a serializer made something else of than a message is not kept.

        Args:
            loaded: the items that were missing.
        """
        items: list[Item] = []
        whole = True
        for seq in spread(ranges):
            item = self.by_seq.get(seq)
            if item is None:
                item = loaded[seq]
                if isinstance(item.message, BaseMessage):
                    self.by_seq[seq] = item
                    self._keep(item)
                else:
                    whole = False
            items.append(item)
        messages = [item.message for item in items]
        if whole:
            self._draw(where, Line(messages, [item.state for item in items], ranges, []))
        return list(messages)

    def forget(self, item: Item) -> None:
        """The message is not what was stored: it is a new one from now on."""
        if self.by_id.get(id(item.message)) is item:
            del self.by_id[id(item.message)]
            self.weight -= item.weight
        if item.seq is not None and self.by_seq.get(item.seq) is item:
            del self.by_seq[item.seq]
        self.lines.clear()

    # --- inside ---

    def _line(self, where: Channel, messages: list[Any]) -> Line | None:
        """The last line that this list goes on with: its own, or the one that was drawn last in any channel."""
        candidates = [self.lines.get(where), next(reversed(self.lines.values()), None)]
        return next((line for line in candidates if line and _goes_on(line.messages, messages)), None)

    def _draw(self, where: Channel, line: Line) -> None:
        self.lines.pop(where, None)
        self.lines[where] = line
        if len(self.lines) > _LINES:
            del self.lines[next(iter(self.lines))]

    def _items(self, messages: Iterable[Any]) -> Iterable[Item | None]:
        return map(self.by_id.get, map(id, messages))

    def _item(self, message: Any, encode: Encode) -> Item | None:
        """The item of a message; a new one unless it is known; None if it is no message."""
        item = self.by_id.get(id(message))
        if item is None and isinstance(message, BaseMessage):
            item = Item(message, encode(message))
            self._keep(item)
        return item

    def _keep(self, item: Item) -> None:
        self.by_id[id(item.message)] = item
        self.weight += item.weight

    def _split_anew(self, where: Channel, messages: list[Any], encode: Encode, *, wary: bool) -> Split | None:
        watched = messages if wary else messages[-_WATCHED:]
        for item in list(self._items(watched)):
            if item and not item.unchanged(encode):
                self.forget(item)
        items: list[Item] = []
        for message in messages:
            item = self._item(message, encode)
            if item is None:
                return None
            items.append(item)
        line = Line(list(messages), [item.state for item in items], (), items)
        line.settle()
        self._draw(where, line)
        return Split(line.messages, line.ranges, tuple(line.rest))


def _goes_on(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Whether the new list begins with the very objects of the old one."""
    return len(old) <= len(new) and next(compress(count(), map(is_not, old, new)), None) is None


def _messages_in(value: Any) -> Sequence[Any]:
    """The messages of what a task wrote to one channel: one, several, several in place of all, or those in a dict."""
    if isinstance(value, Overwrite):
        value = value.value
    if isinstance(value, dict):
        return [message for each in cast("dict[Any, Any]", value).values() for message in _several(each)]
    return _several(value)


def _several(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
