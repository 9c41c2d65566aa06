"""What the device can tell and do: battery, network, storage, screen, vibration."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments
from farside.tools import tool


class Battery(BaseModel):
    level: float = Field(description="0 is empty, 1 is full.")
    charging: bool
    charging_time: float | None = Field(default=None, description="Seconds until it is full, where known.")
    discharging_time: float | None = Field(default=None, description="Seconds until it is empty, where known.")


class Network(BaseModel):
    online: bool = Field(description="Whether the device has a network; it may lead nowhere.")
    effective_type: str | None = Field(default=None, description="slow-2g, 2g, 3g or 4g, by its speed, where known.")
    downlink: float | None = Field(default=None, description="Megabits per second, estimated.")
    rtt: float | None = Field(default=None, description="Milliseconds, estimated.")
    save_data: bool | None = Field(default=None, description="Whether the user wants to use little data.")


class StorageEstimate(BaseModel):
    usage: int = Field(description="Bytes that this site uses.")
    quota: int = Field(description="Bytes that this site may use.")
    persisted: bool = Field(description="Whether the browser keeps them when space gets short.")


class WakeLockRequest(Arguments):
    duration: float = Field(
        ge=0, le=14_400, description="Seconds from now. Replaces an earlier duration; 0 lets the screen turn off again."
    )


class WakeLock(BaseModel):
    held_until: str | None = Field(description="ISO 8601, UTC; none when the screen may turn off.")


class Vibration(Arguments):
    pattern: list[Annotated[int, Field(ge=0, le=5000)]] = Field(
        min_length=1, max_length=20, description="Milliseconds to vibrate, to pause, to vibrate, and so on."
    )


class Vibrated(BaseModel):
    vibrated: bool


get_battery = tool(
    name="get_battery",
    title="Get battery",
    description="Get the charge of the battery of the user's device.",
    result_schema=Battery,
    timeout=30,
    idempotent=True,
)

get_network = tool(
    name="get_network",
    title="Get network",
    description="Get how the user's device is connected: online or not, and how fast.",
    result_schema=Network,
    timeout=30,
    idempotent=True,
)

estimate_storage = tool(
    name="estimate_storage",
    title="Estimate storage",
    description="Get how much this site stores in the user's browser, and how much it may store.",
    result_schema=StorageEstimate,
    timeout=30,
    idempotent=True,
)

hold_wake_lock = tool(
    name="hold_wake_lock",
    title="Keep screen on",
    description=(
        "Keep the screen of the user's device on for a while, for example while they cook by a recipe. Answers at "
        "once; the screen stays on while the page is in front."
    ),
    args_schema=WakeLockRequest,
    result_schema=WakeLock,
    timeout=30,
    idempotent=True,
)

vibrate = tool(
    name="vibrate",
    title="Vibrate",
    description="Let the user's device vibrate, to draw their attention.",
    args_schema=Vibration,
    result_schema=Vibrated,
    timeout=30,
)
