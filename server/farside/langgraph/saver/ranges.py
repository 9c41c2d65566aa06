"""Which items make up a list: half-open ranges of their numbers, in the list's order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, starmap
from typing import Literal

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class StoredList:
    """A channel's list. ``kind``: whether the channel holds the list itself or LangGraph's delta snapshot of it."""

    kind: Literal["list", "snapshot"]
    ranges: Ranges


def joined(seqs: Iterable[int], onto: Ranges = ()) -> Ranges:
    """These numbers behind those ranges, consecutive ones in one range."""
    ranges = list(onto)
    for seq in seqs:
        if ranges and ranges[-1][1] == seq:
            ranges[-1] = (ranges[-1][0], seq + 1)
        else:
            ranges.append((seq, seq + 1))
    return tuple(ranges)


def spread(ranges: Ranges) -> list[int]:
    """Every number of the ranges, in order."""
    return list(chain.from_iterable(starmap(range, ranges)))


def shifted(lists: Mapping[str, StoredList], by: int) -> dict[str, StoredList]:
    """The same lists where every item has a number that is higher by as much."""
    return {
        channel: StoredList(each.kind, tuple((start + by, stop + by) for start, stop in each.ranges))
        for channel, each in lists.items()
    }


def dump(lists: Mapping[str, StoredList]) -> str | None:
    """The text of a checkpoint's row, ``{channel: [kind, [[start, stop], ...]]}``; None for none."""
    if not lists:
        return None
    return json.dumps({channel: [each.kind, each.ranges] for channel, each in lists.items()}, separators=(",", ":"))


def load(text: str | None) -> dict[str, StoredList]:
    """The lists of a checkpoint's row."""
    if text is None:
        return {}
    return {
        channel: StoredList(kind, tuple((start, stop) for start, stop in ranges))
        for channel, (kind, ranges) in json.loads(text).items()
    }
