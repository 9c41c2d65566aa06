"""Files of the user's device, which only the user can choose. The page has ``openFile`` and ``saveFile`` for them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments, Bytes
from farside.tools import tool

FileType = Annotated[str, Field(max_length=100, pattern=r"^(\.[A-Za-z0-9+.]{1,15}|[a-z]+/(\*|[A-Za-z0-9.+-]+))$")]
"""A MIME type (``text/csv``), a family of them (``image/*``) or an extension (``.csv``)."""


class OpenFileArgs(Arguments):
    accept: list[FileType] = Field(
        default=[], max_length=20, description="MIME types or extensions to choose among: image/*, text/csv, .md"
    )
    multiple: bool = Field(default=False, description="Whether the user may choose several files.")
    read_as: Literal["bytes", "text"] = Field(
        default="bytes", description="'text' for files that are read as text; 'bytes' for images, PDF and others."
    )


class OpenedFile(BaseModel):
    """A file as it is. A model is given images, PDF files and texts as such."""

    name: str
    mime_type: str
    data: Bytes


class OpenedText(BaseModel):
    name: str
    mime_type: str
    text: str


class OpenFileResult(BaseModel):
    files: list[OpenedFile | OpenedText]


class SaveFileArgs(Arguments):
    name: str = Field(
        min_length=1, max_length=200, pattern=r'^[^/\\:*?"<>|\x00-\x1f]+$', description="The suggested file name."
    )
    mime_type: str = Field(default="text/plain", max_length=100, pattern=r"^[a-z]+/[A-Za-z0-9.+-]+$")
    text: str | None = Field(default=None, description="What a text file holds.")
    base64: str | None = Field(default=None, description="What a binary file holds, in base64; instead of text.")


class SaveFileResult(BaseModel):
    name: str = Field(description="The name that the file has got.")
    size: int = Field(description="In bytes.")
    how: Literal["picked", "downloaded"] = Field(
        description="'picked': written where the user chose. 'downloaded': handed to the browser, which may ask first."
    )


open_file = tool(
    name="open_file",
    title="Open a file",
    description="Ask the user to choose a file of their device, and read it. The user may refuse.",
    args_schema=OpenFileArgs,
    result_schema=OpenFileResult,
    timeout=300,
    idempotent=True,
)

save_file = tool(
    name="save_file",
    title="Save a file",
    description="Save a file on the user's device. The user may refuse, or choose another name.",
    args_schema=SaveFileArgs,
    result_schema=SaveFileResult,
    timeout=300,
)
