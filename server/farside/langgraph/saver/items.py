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
    as much memory. A message whose state cannot be copied is compared
    by its encoding instead, which is kept for that.
    """

    __slots__ = ("encoded", "message", "seq", "state", "weight")

    def __init__(self, message: BaseMessage, encoded: Encoded, seq: int | None = None) -> None:
        self.message = message
        self.state = _frozen(message)
        self.encoded: Encoded | None = encoded
        self.weight = 1 + sum(map(len, encoded.values.values())) // _WEIGHT
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
            return state_of(self.message) == self.state
        return encode(self.message) == self.encoded


def _frozen(message: BaseMessage) -> Any:
    """A copy of the message's state that nobody else can change, None for one that holds what cannot be copied."""
    try:
        return tuple(map(_copied, state_of(message)))
    except _OpaqueError:
        return None


def _copied(value: Any) -> Any:
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN:
        return value
    if kind is dict:
        return {key: _copied(each) for key, each in cast("dict[Any, Any]", value).items()} if value else _EMPTY_DICT
    if kind is list:
        return [_copied(each) for each in cast("list[Any]", value)] if value else _EMPTY_LIST
    if kind is tuple:
        return tuple(_copied(each) for each in cast("tuple[Any, ...]", value))
    raise _OpaqueError
