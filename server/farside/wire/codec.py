"""The two encodings of a message: JSON text frames and MessagePack binary frames."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol, cast

import msgpack  # pyright: ignore[reportMissingTypeStubs]
from pydantic_core import from_json, to_json

from farside.errors import FarsideError
from farside.wire.values import DEFAULT_LIMITS, Limits, check, escape, unescape

_pack = cast("Callable[[Any], bytes]", msgpack.packb)  # pyright: ignore[reportUnknownMemberType]
_unpack = cast("Callable[..., Any]", msgpack.unpackb)  # pyright: ignore[reportUnknownMemberType]
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)

Frame = str | bytes
"""What one WebSocket frame carries: text or binary."""


class Codec(Protocol):
    """Turns a message (a dict of plain values) into a frame and back."""

    name: str

    def encode(self, message: Any, limits: Limits = DEFAULT_LIMITS) -> Frame:
        """Raises FarsideError ``invalid_value``, ``too_deep`` or ``too_large``."""
        ...

    def decode(self, frame: Frame, limits: Limits = DEFAULT_LIMITS) -> Any:
        """Raises FarsideError ``malformed_frame``, ``invalid_value``, ``too_deep`` or ``too_large``."""
        ...


class JsonCodec:
    """JSON in text frames; bytes travel as ``{"$bytes": "<base64url>"}``."""

    name = "json"

    def encode(self, message: Any, limits: Limits = DEFAULT_LIMITS) -> str:
        needs_escape = check(message, limits)
        encoded = to_json(escape(message) if needs_escape else message)
        _fits(len(encoded), limits)
        return encoded.decode()

    def decode(self, frame: Frame, limits: Limits = DEFAULT_LIMITS) -> Any:
        if not isinstance(frame, str):
            raise FarsideError("malformed_frame", "expected a text frame with JSON, got a binary frame")
        try:
            encoded = frame.encode()
        except UnicodeEncodeError:
            raise FarsideError("malformed_frame", "expected well-formed text, got a lone surrogate") from None
        _fits(len(encoded), limits)
        _few(encoded, limits)
        try:
            value: Any = from_json(encoded, allow_inf_nan=False)
        except ValueError as error:
            raise _bad_json(str(error)) from None
        if check(value, limits, escaped=True):
            value = unescape(value)
        return value


class MessagePackCodec:
    """MessagePack in binary frames; bytes travel as bytes. Extension types are refused."""

    name = "msgpack"

    def encode(self, message: Any, limits: Limits = DEFAULT_LIMITS) -> bytes:
        check(message, limits)
        encoded = _pack(message)
        _fits(len(encoded), limits)
        return encoded

    def decode(self, frame: Frame, limits: Limits = DEFAULT_LIMITS) -> Any:
        if isinstance(frame, str):
            raise FarsideError("malformed_frame", "expected a binary frame with MessagePack, got a text frame")
        _fits(len(frame), limits)
        try:
            few = _Few(limits)
            value = _unpack(frame, strict_map_key=False, list_hook=few, object_hook=few, ext_hook=_no_extension)
        except msgpack.StackError:
            raise FarsideError("too_deep", "arrays and objects are nested too deeply; flatten the value") from None
        except UnicodeDecodeError:
            raise FarsideError("invalid_value", "expected well-formed UTF-8 in every string") from None
        except (ValueError, TypeError) as error:
            if "timestamp" in str(error).lower():
                _no_extension(-1, b"")
            raise FarsideError("malformed_frame", f"expected one MessagePack value: {error}") from None
        check(value, limits)
        return value


def _bad_json(problem: str) -> FarsideError:
    if "recursion limit" in problem:
        return FarsideError("too_deep", "arrays and objects are nested too deeply; flatten the value")
    if "number out of range" in problem:
        return FarsideError("invalid_value", "expected numbers within ±(2^53-1); send a larger one as a string")
    return FarsideError("malformed_frame", f"expected JSON, got something else: {problem}")


def _few(encoded: bytes, limits: Limits) -> None:
    """Refuse JSON with far too many elements before memory is spent on it; ``check`` counts exactly, later."""

    def too_many(text: bytes) -> bool:
        return text.count(b",") > limits.items or text.count(b"[") + text.count(b"{") > limits.items + 1

    if too_many(encoded) and too_many(_STRING.sub(b"", encoded)):
        raise _crowded()


class _Few:
    """Refuses MessagePack with far too many elements while it is read; ``check`` counts exactly, later."""

    def __init__(self, limits: Limits) -> None:
        self._containers = limits.items + 1
        self._items = limits.items

    def __call__(self, container: Any) -> Any:
        self._containers -= 1
        self._items -= len(container)
        if self._containers < 0 or self._items < 0:
            raise _crowded()
        return container


def _no_extension(code: int, data: bytes) -> Any:
    raise FarsideError("invalid_value", f"expected no extension types, got type {code}")


def _crowded() -> FarsideError:
    return FarsideError("too_large", "the value has too many elements; send less, or bytes")


def _fits(size: int, limits: Limits) -> None:
    if size > limits.frame_bytes:
        raise FarsideError("too_large", f"expected a frame of at most {limits.frame_bytes} bytes, got {size}")


JSON = JsonCodec()
MESSAGEPACK = MessagePackCodec()
