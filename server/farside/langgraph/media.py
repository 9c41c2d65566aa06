"""Media of a page as content blocks for a model."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from farside.core.media import Medium

_PREFIX = "farside_"


def block_of(medium: Medium) -> dict[str, Any] | None:
    """One of LangChain's standard content blocks; None where a model cannot take the medium."""
    if (kind := medium.kind) is None:
        return None if (text := medium.text) is None else {"type": "text", "text": text}
    block = {"id": f"{_PREFIX}{uuid4()}", "base64": base64.b64encode(medium.data).decode(), "mime_type": kind}
    if kind.startswith("image/"):
        return {"type": "image", **block}
    return {"type": "file", **block, "filename": medium.name or "file.pdf"}


def is_of_page(block: Mapping[str, Any]) -> bool:
    """Whether a content block is one that :func:`block_of` has made of bytes."""
    return str(block.get("id", "")).startswith(_PREFIX)
