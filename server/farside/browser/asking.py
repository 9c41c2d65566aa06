"""The human step: a small form that the page shows in a dialog. Its fields are a subset of JSON Schema."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from farside.browser.shapes import Arguments
from farside.tools import tool


class AskedField(Arguments):
    """A JSON Schema of one value."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    type: Literal["string", "number", "integer", "boolean"]
    title: str | None = Field(default=None, max_length=200, description="The label; without one the name.")
    description: str | None = Field(default=None, max_length=500, description="Shown below the label.")
    enum: list[str] | None = Field(
        default=None, min_length=1, max_length=100, description="Of a string: what to choose among."
    )
    format: Literal["date", "date-time", "email", "uri", "multiline"] | None = None
    default: str | float | bool | None = Field(default=None, description="What the field holds at first.")
    min_length: int | None = Field(default=None, ge=0)
    max_length: int | None = Field(default=None, ge=0)
    minimum: float | None = None
    maximum: float | None = None


class AskedForm(Arguments):
    """A JSON Schema of a flat object."""

    type: Literal["object"] = "object"
    properties: dict[str, AskedField] = Field(min_length=1, max_length=20)
    required: list[str] = Field(default=[], description="The names of the fields that must not be left empty.")


class AskUserArgs(Arguments):
    title: str = Field(min_length=1, max_length=200, description="The question.")
    message: str | None = Field(default=None, max_length=2000, description="What the user should know to answer it.")
    form: AskedForm = Field(description="The fields to fill in, as a JSON Schema. Never ask for passwords.")
    submit: str | None = Field(default=None, min_length=1, max_length=40, description="The text of the button.")


class AskUserResult(BaseModel):
    answers: dict[str, str | float | bool] = Field(description="By name; a field that was left empty has none.")


ask_user = tool(
    name="ask_user",
    title="Ask the user",
    description="Ask the user in a small form, and wait for the answer. The user may refuse.",
    args_schema=AskUserArgs,
    result_schema=AskUserResult,
    timeout=600,
    idempotent=True,
)
