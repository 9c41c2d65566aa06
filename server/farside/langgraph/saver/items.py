"""A message as it was stored, and whether it has changed since."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, cast

from langchain_core.messages import BaseMessage

from farside.langgraph.saver.large import Encoded

Encode = Callable[[Any], Encoded]

state_of: Callable[[BaseMessage], Any] = attrgetter("__dict__", "__pydantic_extra__")
"""All that is encoded of a message: its fields, and those that its class does not declare."""

_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})

_DEPTH = 64
"""How deep the values are that are copied."""

_WEIGHT = 2_048
"""About how many bytes a message of usual size takes in memory."""

_EMPTY_DICT: dict[Any, Any] = {}
_EMPTY_LIST: list[Any] = []
"""What empty values are compared with: most messages have several, and each would cost memory and time."""


class _OpaqueError(Exception):
    """A value that cannot be copied so that comparing tells whether it changed."""


class Item:
    """One message of a thread.

    Its number is given by the transaction that stores it, and stays. ``weight``: how many messages of usual size take
    as much memory. A message whose state cannot be copied is compared by its encoding instead, which is kept for that.
    What a serializer made of a message may be something else: the message's class may be gone, or not be allowed.
    """

    __slots__ = ("encoded", "message", "seq", "state", "weight")

    def __init__(self, message: Any, encoded: Encoded, seq: int | None = None) -> None:
        self.message = message
        self.state = _frozen(message) if isinstance(message, BaseMessage) else None
        self.encoded: Encoded | None = encoded
        self.weight = 1 + sum(map(len, encoded.values.values()), start=len(encoded.value)) // _WEIGHT
        self.seq: int | None = None
        if seq is not None:
            self.stored(seq)

    def stored(self, seq: int) -> None:
        """It has this number from now on."""
        self.seq = seq
        if self.state is not None:
            self.encoded = None

    def unchanged(self, encode: Encode) -> bool:
        """Whether the message is still what was stored."""
        if self.state is not None:
            return same(state_of(self.message), self.state)
        return encode(self.message) == self.encoded


def same(state: Any, stored: Any) -> bool:
    """Whether a state, or a list of them, is equal to what was copied of it.

    A field may hold anything by now, also what raises when it is compared, as arrays do.
    """
    try:
        return bool(state == stored)
    except Exception:  # what was copied can be compared: this is something else
        return False


def _frozen(message: BaseMessage) -> Any:
    """A copy of the message's state that nobody else can change, None for one that holds what cannot be copied."""
    try:
        return tuple(map(_copied, state_of(message)))
    except _OpaqueError:
        return None


def _copied(value: Any, depth: int = _DEPTH) -> Any:
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN:
        return value
    if not depth:
        raise _OpaqueError
    if kind is dict:
        entries = cast("dict[Any, Any]", value)
        return {key: _copied(each, depth - 1) for key, each in entries.items()} if entries else _EMPTY_DICT
    if kind is list:
        return [_copied(each, depth - 1) for each in cast("list[Any]", value)] if value else _EMPTY_LIST
    if kind is tuple:
        return tuple(_copied(each, depth - 1) for each in cast("tuple[Any, ...]", value))
    raise _OpaqueError
