"""Rows to store, and values and ids that are not easy to store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from farside.core.model import Call, Event, JournalEntry, Run, Thread, ThreadUpdate
from farside.core.ports import Store, ThreadQuery

NOW = 1_700_000_000_000


def a_thread(**changes: Any) -> Thread:
    """A thread to store."""
    return replace(Thread("t1", "assistant", NOW, 1000), **changes)


def a_run(**changes: Any) -> Run:
    """A run to store."""
    return replace(Run("r1", "t1", "assistant", {"messages": []}, {}, "running", NOW), **changes)


def a_call(**changes: Any) -> Call:
    """A call to store for the first time."""
    made = Call("t1", "r1", "i1", "tool", "call_1", "get_location", {"high": True}, NOW, version=1)
    return replace(made, **changes)


def an_event(seq: int, **changes: Any) -> Event:
    """An event to store."""
    return replace(Event("t1", "r1", seq, "messages", (), NOW + seq, {"event": "message-finish"}), **changes)


def an_entry(position: str, **changes: Any) -> JournalEntry:
    """A journal entry to store."""
    return replace(JournalEntry("t1", "r1", position, "step", "fetch", 1), **changes)


async def ids(store: Store, **query: Any) -> list[str]:
    """The threads that the store finds, which are as many as it counts."""
    many: dict[str, Any] = {"limit": 1000, **query}
    found = [info.id for info in await store.search(ThreadQuery(**many))]
    assert await store.count(ThreadQuery(**query)) == len(found)
    return found


async def described(store: Store, metadata: dict[str, Any], **changes: Any) -> None:
    """Store a thread with metadata."""
    thread = a_thread(**changes)
    await store.commit([thread, ThreadUpdate(thread.id, thread.created_at, metadata)])


VALUES: dict[str, Any] = {
    "null": None,
    "booleans": [True, False],
    "integers": [0, 1, -1, 2**31, 2**53 - 1, -(2**53 - 1)],
    "floats": [0.5, -0.1, 5e-324, 1e15],
    "strings": ["", "a", "\x00", "é€😀", "e\u0301", "'\"\\%_;--", "\u2028\ufeff"],
    "bytes": [b"", b"\x00", b"\xff\xfe", bytes(range(256))],
    "bytes alone": b"\x00\xff",
    "arrays": [[], [[]], [[[1], None]]],
    "objects": {"": {}, "a b": {"é": 1}, "constructor": 1, "$bytes": "AA", "😀": [b"a"]},
    "what looks like bytes": {"$bytes": "AA"},
    "depth": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],
}
"""Values of every kind."""

UNUSUAL = [
    "é",
    "e\u0301",
    "日本語",
    "😀",
    " a",
    "a ",
    "A",
    "a",
    "%",
    "_",
    "a'b",
    'a"b',
    "a;--",
    "a/b",
    "a:b",
    "\\",
    "x" * 256,
]
"""Ids that a store may not mix up, cut or fold."""
