"""The page itself: where it is, what the user has selected in it, and its forms."""

from __future__ import annotations

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments
from farside.tools import tool


class NavigateArgs(Arguments):
    path: str = Field(max_length=2000, pattern=r"^/", description="A path within the app: /orders/42")


class NavigateResult(BaseModel):
    path: str = Field(description="Where the page is now.")
    title: str = Field(description="What the page is called there.")


class GetSelectionArgs(Arguments):
    max_length: int = Field(default=10_000, ge=1, le=100_000, description="In characters.")


class GetSelectionResult(BaseModel):
    text: str = Field(description="Empty when nothing is selected.")
    truncated: bool = Field(description="Whether more is selected than max_length.")


class FieldValue(Arguments):
    label: str = Field(max_length=200, description="The field's label as the user reads it.")
    value: str | float | bool = Field(
        description="Text or number; true or false for a checkbox; an option's text for a choice; YYYY-MM-DD of a date."
    )


class FillFormArgs(Arguments):
    fields: list[FieldValue] = Field(min_length=1, max_length=50)


class InvalidField(BaseModel):
    label: str
    message: str = Field(description="What the page says of it to the user.")


class FillFormResult(BaseModel):
    filled: list[str] = Field(description="The labels.")
    invalid: list[InvalidField] = Field(description="The fields among them whose new value the form does not take.")


navigate = tool(
    name="navigate",
    title="Go to a page",
    description="Take the user to another page of the app. The page says which paths are allowed.",
    args_schema=NavigateArgs,
    result_schema=NavigateResult,
    timeout=30,
    idempotent=True,  # who is there already stays
)

get_selection = tool(
    name="get_selection",
    title="Read the selected text",
    description="Get the text that the user has selected in the page.",
    args_schema=GetSelectionArgs,
    result_schema=GetSelectionResult,
    timeout=10,
    idempotent=True,
)

fill_form = tool(
    name="fill_form",
    title="Fill in a form",
    description=(
        "Fill in fields of a form that the user sees, by their labels. All fields are filled, or none. "
        "The form is not submitted: that is for the user."
    ),
    args_schema=FillFormArgs,
    result_schema=FillFormResult,
    timeout=30,
    idempotent=True,
)
