"""The data model: which values may travel, in both encodings and both languages.

null, booleans, numbers, well-formed strings, arrays, objects with string keys, and bytes. A number is finite and
lies within ±(2^53-1): beyond that JavaScript cannot tell an integer from its neighbours, so a larger one is
refused where it is made instead of being rounded where it arrives.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from farside.errors import FarsideError

MAX_NUMBER = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """How large one message may be.

    ``frame_bytes`` counts the encoded frame, ``depth`` the nesting of arrays and objects, ``items`` all elements
    of all arrays and objects together.
    """

    frame_bytes: int = 48 * 1024 * 1024
    depth: int = 64
    items: int = 1_000_000


DEFAULT_LIMITS = Limits()
"""What a server takes from a client."""

OUTGOING_LIMITS = Limits(frame_bytes=2**31 - 1, depth=128, items=2**31 - 1)
"""What a server sends, and a client takes: room for what it once took, inside a larger message."""


class _Refused(Exception):  # noqa: N818 - internal, carries the path outwards
    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.path: list[str | int] = []


def check(value: Any, limits: Limits = DEFAULT_LIMITS, *, escaped: bool = False) -> bool:
    """Check that ``value`` lies in the data model.

    Args:
        escaped: the value was read from JSON and is to be unescaped: ``{"$bytes": ...}`` stands for bytes.

    Returns:
        True if the value needs :func:`escape` before it is written as JSON (it holds bytes, or an object that
        looks like escaped bytes).

    Raises:
        FarsideError: ``invalid_value``, ``too_deep`` or ``too_large``; the message names the place.
    """
    walk = _Walk(limits, escaped)
    try:
        walk.visit(value, limits.depth)
    except _Refused as refused:
        raise FarsideError(refused.code, f"at {_place(refused.path)}: {refused.reason}") from None
    return walk.escapes


def _place(path: list[str | int]) -> str:
    """Where in the value, outermost last; at most a line of well-formed text, whatever the keys are."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key[:100]}" for key in reversed(path))
    shown = text if len(text) <= 200 else f"{text[:100]}...{text[-100:]}"
    return "$" + shown.encode("utf-8", "backslashreplace").decode()


class _Walk:
    __slots__ = ("escaped", "escapes", "items")

    def __init__(self, limits: Limits, escaped: bool) -> None:
        self.items = limits.items
        self.escaped = escaped
        self.escapes = False

    def visit(self, value: Any, depth: int) -> None:
        kind = cast("type[Any]", type(value))
        if kind is str:
            if not value.isascii():
                _well_formed(value)
        elif kind is int:
            if not -MAX_NUMBER <= value <= MAX_NUMBER:
                shown = value if value.bit_length() <= 64 else f"one of {value.bit_length()} bits"
                raise _Refused("invalid_value", f"expected a number within ±(2^53-1), got {shown}; send it as a string")
        elif kind is float:
            if not isfinite(value):
                raise _Refused("invalid_value", f"expected a finite number, got {value}; send null or a string")
            if not -MAX_NUMBER <= value <= MAX_NUMBER:
                raise _Refused("invalid_value", f"expected a number within ±(2^53-1), got {value}; send it as a string")
        elif kind is dict:
            if len(value) == 1 and is_escape_key(key := next(iter(value))):
                self.escapes = True
                if self.escaped and key == "$bytes":
                    return  # bytes are no level of nesting; what they hold is unescape's to check
            self.enter(len(value), depth)
            for key, item in value.items():
                if type(key) is not str:
                    raise _Refused("invalid_value", f"expected string keys, got a key of type {type(key).__name__}")
                if key == "__proto__":
                    raise _Refused("invalid_value", "the key __proto__ is refused; rename it")
                try:
                    if not key.isascii():
                        _well_formed(key)
                    self.visit(item, depth - 1)
                except _Refused as refused:
                    refused.path.append(key)
                    raise
        elif kind is list:
            self.enter(len(value), depth)
            for index, item in enumerate(value):
                try:
                    self.visit(item, depth - 1)
                except _Refused as refused:
                    refused.path.append(index)
                    raise
        elif kind is bytes:
            self.escapes = True
        elif value is not None and kind is not bool:
            raise _Refused(
                "invalid_value",
                f"expected null, boolean, number, string, array, object or bytes, got {kind.__name__}",
            )

    def enter(self, size: int, depth: int) -> None:
        if depth <= 0:
            raise _Refused("too_deep", "arrays and objects are nested too deeply; flatten the value")
        self.items -= size
        if self.items < 0:
            raise _Refused("too_large", "the value has too many elements; send less, or bytes")


def _well_formed(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _Refused("invalid_value", "expected a well-formed string, got one with a lone surrogate") from None


def is_escape_key(key: Any) -> bool:
    """Whether an object whose only key this is would be read as bytes, or as an escaped object, in JSON."""
    return type(key) is str and key.startswith("$") and key.lstrip("$") == "bytes"


def escape(value: Any) -> Any:
    """Rewrite a checked value for JSON: bytes become ``{"$bytes": "<base64url>"}``.

    A real object with the single key ``$bytes`` (or ``$$bytes`` ...) gets one more ``$``.
    """
    match value:
        case bytes():
            text = binascii.b2a_base64(value, newline=False).decode("ascii")
            return {"$bytes": text.rstrip("=").replace("+", "-").replace("/", "_")}
        case list():
            return [escape(item) for item in cast("list[Any]", value)]
        case dict():
            members = cast("dict[str, Any]", value)
            more = "$" if len(members) == 1 and is_escape_key(next(iter(members))) else ""
            return {more + key: escape(item) for key, item in members.items()}
        case _:
            return value


def unescape(value: Any) -> Any:
    """Undo :func:`escape` on a value read from JSON, in place where nothing changes.

    Raises:
        FarsideError: ``invalid_value`` when ``$bytes`` does not hold unpadded base64url.
    """
    match value:
        case list():
            items = cast("list[Any]", value)
            for index, item in enumerate(items):
                if type(item) is list or type(item) is dict:
                    items[index] = unescape(item)
        case dict():
            members = cast("dict[str, Any]", value)
            if len(members) == 1 and is_escape_key(key := next(iter(members))):
                return _bytes(members[key]) if key == "$bytes" else {key[1:]: unescape(members[key])}
            for key, item in members.items():
                if type(item) is list or type(item) is dict:
                    members[key] = unescape(item)
            return members
        case _:
            pass
    return cast("Any", value)


def _bytes(text: Any) -> bytes:
    if type(text) is not str or not text.isascii() or any(char in text for char in "+/=") or len(text) % 4 == 1:
        raise FarsideError("invalid_value", "expected unpadded base64url text in $bytes")
    try:
        padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
        return binascii.a2b_base64(padded, strict_mode=True)
    except binascii.Error:
        raise FarsideError("invalid_value", "expected unpadded base64url text in $bytes") from None
