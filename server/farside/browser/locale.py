"""How the user reads and counts: language, locale, time zone."""

from __future__ import annotations

from pydantic import BaseModel, Field

from farside.tools import tool


class Locale(BaseModel):
    languages: list[str] = Field(description="BCP 47 tags of what the user reads, the preferred first.")
    locale: str = Field(description="The BCP 47 tag by which dates and numbers are written.")
    time_zone: str = Field(description="IANA name, for example Europe/Vienna.")
    local_time: str = Field(description="The user's clock: ISO 8601 with the offset from UTC.")
    calendar: str
    numbering_system: str


get_locale = tool(
    name="get_locale",
    title="Get locale",
    description="Get the user's languages, time zone, local time and date conventions.",
    result_schema=Locale,
    timeout=30,
    idempotent=True,
)
