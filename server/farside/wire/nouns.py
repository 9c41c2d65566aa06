"""What several messages share: the base of all models, identifiers, and the nouns that travel."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import MISSING, BaseModel, BeforeValidator, ConfigDict, Field


def whole(value: Any) -> Any:
    """1.0 equals 1: which of them arrives is the other side's encoder's affair."""
    return int(value) if type(value) is float and value.is_integer() else value


Id = Annotated[str, Field(min_length=1, max_length=256)]
"""An identifier: an opaque string."""

CommandId = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(whole)]
Seq = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(whole)]
Namespace = Annotated[list[str], Field(fail_fast=True)]
Channel = Annotated[
    str, Field(pattern=r"^(values|updates|messages|tools|lifecycle|input|checkpoints|tasks|calls|custom(:.+)?)$")
]


class Model(BaseModel):
    """Base of all wire models: strict types, unknown fields ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class ErrorBody(Model):
    """Why a tool call has no value. ``code`` is one of the family "tool" in errors.json."""

    code: str
    message: str
    details: dict[str, Any] | MISSING = MISSING


class Success(Model):
    """A tool result with a value."""

    status: Literal["success"]
    value: Any


class Failure(Model):
    """A tool result without a value."""

    status: Literal["error"]
    error: ErrorBody


ToolResult = Annotated[Success | Failure, Field(discriminator="status")]


class Call(Model):
    """An unsettled tool call as the subscribe reply and the event ``opened`` carry it.

    ``interrupt_id`` names the call in every command; ``tool_call_id`` is the model's id, which may repeat.
    ``client_id``: whom it is offered to, or who claimed it. ``deadline`` is in milliseconds of the server's clock since
    the epoch.
    """

    interrupt_id: Id
    tool_call_id: str
    run_id: Id
    name: str
    args: dict[str, Any]
    state: Literal["open", "offered", "claimed"]
    client_id: Id | MISSING = MISSING
    deadline: int | MISSING = MISSING
    title: str | MISSING = MISSING


class Interrupt(Model):
    """A pause that is no tool call: the payload is the agent's own."""

    interrupt_id: Id
    payload: Any


class ToolDeclaration(Model):
    """A tool that a page implements. ``fingerprint`` is that of the schema it was built against; ``permissions`` names
    those of the browser that it cannot do without."""

    name: str
    fingerprint: str | MISSING = MISSING
    permissions: Annotated[list[str], Field(fail_fast=True, max_length=16)] | MISSING = MISSING
