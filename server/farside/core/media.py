"""Bytes in a tool's result, as what a model can take: images, PDF files, texts. Pure.

A page's ``Blob`` or ``File`` arrives as ``{"mime_type": string, "name"?: string, "data": bytes}``, anything else that
is binary as bytes. What they are is read from the bytes: a provider refuses a request with an image that is none, and
a page may claim what it likes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

MAX_BYTES = 5 * 1024 * 1024
"""The size of the largest image or file that a model is given; the smallest limit of the large providers."""

_MAGIC: dict[str, Callable[[bytes], bool]] = {
    "image/png": lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda data: data.startswith(b"\xff\xd8\xff"),
    "image/gif": lambda data: data.startswith((b"GIF87a", b"GIF89a")),
    "image/webp": lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP",
    "application/pdf": lambda data: data.startswith(b"%PDF-"),
}
_TEXTS = ("text/", "application/json", "application/xml", "image/svg+xml")
_FIELDS = {"data", "mime_type", "name"}


@dataclass(frozen=True, slots=True)
class Medium:
    """Bytes of a result. ``mime_type`` and ``name`` are what the page has said."""

    data: bytes
    mime_type: str | None = None
    name: str | None = None

    @property
    def kind(self) -> str | None:
        """The MIME type of an image or a PDF file that a model can take; None for anything else."""
        if len(self.data) > MAX_BYTES:
            return None
        return next((kind for kind, fits in _MAGIC.items() if fits(self.data)), None)

    @property
    def text(self) -> str | None:
        """The text of a text file, None for anything else."""
        if self.mime_type is None or not self.mime_type.startswith(_TEXTS) or len(self.data) > MAX_BYTES:
            return None
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            return None

    def __str__(self) -> str:
        """What a model reads of it."""
        said = [part for part in (self.name, self.mime_type) if part]
        large = [f"too large to be shown, the limit is {MAX_BYTES}"] if len(self.data) > MAX_BYTES else []
        return f"<{', '.join([*said, f'{len(self.data)} bytes', *large])}>"


def medium(value: Any) -> Medium | None:
    """The value as a medium, None when it is none."""
    if type(value) is bytes:
        return Medium(value)
    if type(value) is not dict:
        return None
    fields = cast("dict[str, Any]", value)
    if type(fields.get("data")) is not bytes or not {"data", "mime_type"} <= fields.keys() <= _FIELDS:
        return None
    name = fields.get("name")
    if not isinstance(fields["mime_type"], str) or not isinstance(name, str | None):
        return None
    return Medium(fields["data"], fields["mime_type"] or None, name or None)


def legible(value: Any, replaced: Callable[[Medium], str]) -> Any:
    """The plain value with a text in the place of each medium, in the order in which they come."""
    if (found := medium(value)) is not None:
        return replaced(found)
    if type(value) is list:
        return [legible(item, replaced) for item in cast("list[Any]", value)]
    if type(value) is dict:
        return {key: legible(item, replaced) for key, item in cast("dict[str, Any]", value).items()}
    return value
