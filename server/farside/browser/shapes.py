"""What the schemas of several tools share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Bytes = Annotated[bytes, Field(strict=True)]
"""Binary data as a page sends it: bytes and nothing that could be made into some."""


class Arguments(BaseModel):
    """Arguments of a tool. Those that it does not know are refused, so that a model learns of its mistake."""

    model_config = ConfigDict(extra="forbid")


class Image(BaseModel):
    """An image, as a page's ``Blob`` arrives. The model is shown it as an image."""

    mime_type: str
    data: Bytes
