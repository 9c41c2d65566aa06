"""Handing something to another app of the user's: the Web Share API."""

from __future__ import annotations

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments
from farside.tools import tool


class ShareRequest(Arguments):
    title: str | None = Field(default=None, max_length=300)
    text: str | None = Field(default=None, max_length=20_000)
    url: str | None = Field(default=None, max_length=2000, description="Give at least one of title, text and url.")


class Shared(BaseModel):
    shared: bool


share = tool(
    name="share",
    title="Share",
    description="Let the user share a text or a link with an app or a person of their choice. The user has to click.",
    args_schema=ShareRequest,
    result_schema=Shared,
    timeout=180,
)
