"""Messages beside the page: the Notifications API."""

from __future__ import annotations

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments
from farside.tools import tool


class Notification(Arguments):
    title: str = Field(min_length=1, max_length=200)
    body: str = Field(default="", max_length=2000, description="A few words; the system may cut it.")
    tag: str | None = Field(
        default=None, max_length=100, description="A notification replaces an earlier one of the same tag."
    )


class Shown(BaseModel):
    shown: bool


show_notification = tool(
    name="show_notification",
    title="Show notification",
    description=(
        "Show the user a notification of the system, which they see in other windows too. The browser may ask the user "
        "for permission."
    ),
    args_schema=Notification,
    result_schema=Shown,
    timeout=60,
    idempotent=True,
)
