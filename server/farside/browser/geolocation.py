"""Where the user is: the Geolocation API."""

from __future__ import annotations

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments
from farside.tools import tool


class LocationRequest(Arguments):
    high_accuracy: bool = Field(
        default=False, description="Ask for the most exact position (GPS), which takes longer and more energy."
    )
    max_age: float = Field(
        default=0, ge=0, le=86_400, description="Seconds. A position that was measured this long ago is good enough."
    )


class Position(BaseModel):
    latitude: float = Field(description="Degrees north.")
    longitude: float = Field(description="Degrees east.")
    accuracy: float = Field(description="Meters: the true position is within this radius, at 95 % confidence.")
    altitude: float | None = Field(default=None, description="Meters above the WGS 84 ellipsoid.")
    altitude_accuracy: float | None = Field(default=None, description="Meters.")
    heading: float | None = Field(default=None, description="Degrees clockwise from north; none when standing still.")
    speed: float | None = Field(default=None, description="Meters per second.")
    measured_at: str = Field(description="ISO 8601, UTC.")


class WatchRequest(Arguments):
    high_accuracy: bool = Field(default=False, description="Ask for the most exact positions (GPS).")
    duration: float = Field(default=30, ge=1, le=300, description="Seconds to watch for.")
    max_positions: int = Field(default=20, ge=1, le=100, description="End as soon as there are this many positions.")


class Track(BaseModel):
    positions: list[Position] = Field(description="In the order in which they were measured.")


get_location = tool(
    name="get_location",
    title="Get location",
    description="Get the user's current position. The browser may ask the user for permission.",
    args_schema=LocationRequest,
    result_schema=Position,
    timeout=60,
    idempotent=True,
)

watch_location = tool(
    name="watch_location",
    title="Watch location",
    description=(
        "Watch the user's position for a while, and get every change of it. The browser may ask the user for "
        "permission. For the current position alone call get_location."
    ),
    args_schema=WatchRequest,
    result_schema=Track,
    timeout=330,
    idempotent=True,
)
