"""The data model: which values may travel, in both encodings and both languages.

null, booleans, numbers, well-formed strings, arrays, objects with string keys, and bytes. A number is finite and
lies within ±(2^53-1): beyond that JavaScript cannot tell an integer from its neighbours, so a larger one is
refused where it is made instead of being rounded where it arrives.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from math import isfinite
from typing import Any

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


class _Refused(Exception):  # noqa: N818 - internal, carries the path outwards
    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.path: list[str | int] = []


def check(value: Any, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Check that ``value`` lies in the data model.

    Returns:
        True if the value needs :func:`escape` before it is written as JSON (it holds bytes, or an object that
        looks like escaped bytes).

    Raises:
        FarsideError: ``invalid_value``, ``too_deep`` or ``too_large``; the message names the place.
    """
    walk = _Walk(limits)
    try:
        walk.visit(value, limits.depth)
    except _Refused as refused:
        place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in reversed(refused.path))
        raise FarsideError(refused.code, f"at ${place}: {refused.reason}") from None
    return walk.escapes


class _Walk:
    __slots__ = ("escapes", "items")

    def __init__(self, limits: Limits) -> None:
        self.items = limits.items
        self.escapes = False

    def visit(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind is str:
            if not value.isascii():
                _well_formed(value)
        elif kind is int:
            if not -MAX_NUMBER <= value <= MAX_NUMBER:
                raise _Refused("invalid_value", f"expected a number within ±(2^53-1), got {value}; send it as a string")
        elif kind is float:
            if not isfinite(value):
                raise _Refused("invalid_value", f"expected a finite number, got {value}; send null or a string")
            if not -MAX_NUMBER <= value <= MAX_NUMBER:
                raise _Refused("invalid_value", f"expected a number within ±(2^53-1), got {value}; send it as a string")
        elif kind is dict:
            self.enter(len(value), depth)
            if len(value) == 1 and is_escape_key(next(iter(value))):
                self.escapes = True
            for key, item in value.items():
                if type(key) is not str:
                    raise _Refused("invalid_value", f"expected string keys, got the key {key!r}")
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
    if type(value) is bytes:
        text = binascii.b2a_base64(value, newline=False).decode("ascii")
        return {"$bytes": text.rstrip("=").replace("+", "-").replace("/", "_")}
    if type(value) is list:
        return [escape(item) for item in value]
    if type(value) is dict:
        if len(value) == 1:
            key, item = next(iter(value.items()))
            return {("$" + key if is_escape_key(key) else key): escape(item)}
        return {key: escape(item) for key, item in value.items()}
    return value


def unescape(value: Any) -> Any:
    """Undo :func:`escape` on a value read from JSON, in place where nothing changes.

    Raises:
        FarsideError: ``invalid_value`` when ``$bytes`` does not hold unpadded base64url.
    """
    if type(value) is list:
        for index, item in enumerate(value):
            if type(item) is list or type(item) is dict:
                value[index] = unescape(item)
    elif type(value) is dict:
        if len(value) == 1:
            key, item = next(iter(value.items()))
            if is_escape_key(key):
                return _bytes(item) if key == "$bytes" else {key[1:]: unescape(item)}
        for key, item in value.items():
            if type(item) is list or type(item) is dict:
                value[key] = unescape(item)
    return value


def _bytes(text: Any) -> bytes:
    if type(text) is not str or not text.isascii() or any(char in text for char in "+/=") or len(text) % 4 == 1:
        raise FarsideError("invalid_value", "expected unpadded base64url text in $bytes")
    try:
        padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
        return binascii.a2b_base64(padded, strict_mode=True)
    except binascii.Error:
        raise FarsideError("invalid_value", "expected unpadded base64url text in $bytes") from None
