"""The two encodings of a message: JSON text frames and MessagePack binary frames."""

from __future__ import annotations

from typing import Any, Protocol

import msgpack  # pyright: ignore[reportMissingTypeStubs]
from pydantic_core import from_json, to_json

from farside.errors import FarsideError
from farside.wire.values import DEFAULT_LIMITS, Limits, check, escape, unescape

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
        _fits(len(frame), limits)
        try:
            value = from_json(frame, allow_inf_nan=False)
        except ValueError as error:
            if "recursion limit" in str(error):
                raise FarsideError("too_deep", "arrays and objects are nested too deeply; flatten the value") from None
            raise FarsideError("malformed_frame", f"expected JSON, got something else: {error}") from None
        check(value, limits)
        return unescape(value)


class MessagePackCodec:
    """MessagePack in binary frames; bytes travel as bytes. Extension types are refused."""

    name = "msgpack"

    def encode(self, message: Any, limits: Limits = DEFAULT_LIMITS) -> bytes:
        check(message, limits)
        encoded: bytes = msgpack.packb(message)  # pyright: ignore
        _fits(len(encoded), limits)
        return encoded

    def decode(self, frame: Frame, limits: Limits = DEFAULT_LIMITS) -> Any:
        if isinstance(frame, str):
            raise FarsideError("malformed_frame", "expected a binary frame with MessagePack, got a text frame")
        _fits(len(frame), limits)
        try:
            value: Any = msgpack.unpackb(frame, strict_map_key=False)  # pyright: ignore
        except msgpack.StackError:
            raise FarsideError("too_deep", "arrays and objects are nested too deeply; flatten the value") from None
        except UnicodeDecodeError:
            raise FarsideError("invalid_value", "expected well-formed UTF-8 in every string") from None
        except (ValueError, TypeError) as error:
            raise FarsideError("malformed_frame", f"expected one MessagePack value: {error}") from None
        check(value, limits)
        return value


def _fits(size: int, limits: Limits) -> None:
    if size > limits.frame_bytes:
        raise FarsideError("too_large", f"expected a frame of at most {limits.frame_bytes} bytes, got {size}")


JSON = JsonCodec()
MESSAGEPACK = MessagePackCodec()
