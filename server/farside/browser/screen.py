"""What the user sees of the page."""

from __future__ import annotations

from pydantic import Field

from farside.browser.shapes import Arguments, Image
from farside.tools import tool


class TakeScreenshotArgs(Arguments):
    element: str = Field(
        default="page", max_length=100, description="The part of the page, by the name that the page has for it."
    )
    max_width: int = Field(default=1280, ge=16, le=4096, description="In pixels; what is wider is scaled down.")


take_screenshot = tool(
    name="take_screenshot",
    title="Take a screenshot",
    description="Get a picture of the page that the user looks at, or of a part of it, as a PNG image.",
    args_schema=TakeScreenshotArgs,
    result_schema=Image,
    timeout=60,
    idempotent=True,
)
