"""The user's camera and microphone. The browser asks the user first, and shows while they are on."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments, Bytes, Image
from farside.tools import tool


class Recording(BaseModel):
    """Sound, in the format in which the browser records: WebM or MP4."""

    mime_type: str
    data: Bytes


class TakePhotoArgs(Arguments):
    facing: Literal["user", "environment"] = Field(
        default="environment", description="'user': the camera that looks at the user, where there are two."
    )
    max_width: int = Field(default=1280, ge=16, le=4096, description="In pixels; a wider photo is scaled down.")


class RecordAudioArgs(Arguments):
    seconds: float = Field(ge=0.1, le=60, description="How long to record.")


take_photo = tool(
    name="take_photo",
    title="Take a photo",
    description="Take a photo with the user's camera and get it as a JPEG image.",
    args_schema=TakePhotoArgs,
    result_schema=Image,
    timeout=60,
)

record_audio = tool(
    name="record_audio",
    title="Record sound",
    description="Record a clip with the user's microphone. Tell the user before what to say and for how long.",
    args_schema=RecordAudioArgs,
    result_schema=Recording,
    timeout=150,
)
