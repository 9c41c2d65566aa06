"""Speaking to the user: the Web Speech API's synthesis."""

from __future__ import annotations

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments
from farside.tools import tool


class Speech(Arguments):
    text: str = Field(min_length=1, max_length=2000)
    language: str | None = Field(
        default=None, max_length=35, description="A BCP 47 tag, for example de-AT; none for the page's language."
    )
    rate: float = Field(default=1, ge=0.5, le=2, description="How fast; 1 is the voice's own speed.")


class Spoken(BaseModel):
    spoken: bool


say = tool(
    name="say",
    title="Say",
    description="Say a text aloud to the user. Answers when it has been said.",
    args_schema=Speech,
    result_schema=Spoken,
    timeout=300,
)
