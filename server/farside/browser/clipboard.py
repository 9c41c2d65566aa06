"""The clipboard, as text and as an image: the Async Clipboard API."""

from __future__ import annotations

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments, Image
from farside.tools import tool


class ClipboardText(BaseModel):
    text: str


class TextToCopy(Arguments):
    text: str = Field(max_length=1_000_000, description="Replaces what is on the clipboard.")


class Copied(BaseModel):
    copied: bool


class ImageToCopy(Arguments):
    image: str = Field(
        max_length=10_000_000,
        description="An SVG document, or a data: URL of a PNG, JPEG, GIF or WebP image. It is copied as PNG.",
    )


read_clipboard_text = tool(
    name="read_clipboard_text",
    title="Read clipboard",
    description="Read the text on the user's clipboard. The user has to click, and the browser may ask for permission.",
    result_schema=ClipboardText,
    timeout=120,
    idempotent=True,
)

write_clipboard_text = tool(
    name="write_clipboard_text",
    title="Copy text",
    description="Put a text on the user's clipboard, so that they can paste it elsewhere. The user has to click.",
    args_schema=TextToCopy,
    result_schema=Copied,
    timeout=120,
    idempotent=True,
)

read_clipboard_image = tool(
    name="read_clipboard_image",
    title="Read image from clipboard",
    description=(
        "Look at the image on the user's clipboard, for example a screenshot that they have copied. The user has to "
        "click, and the browser may ask for permission."
    ),
    result_schema=Image,
    timeout=120,
    idempotent=True,
)

write_clipboard_image = tool(
    name="write_clipboard_image",
    title="Copy image",
    description="Put an image on the user's clipboard, so that they can paste it elsewhere. The user has to click.",
    args_schema=ImageToCopy,
    result_schema=Copied,
    timeout=120,
    idempotent=True,
)
