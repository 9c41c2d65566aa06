"""What HTTP requests about threads say, as LangGraph's clients ask for them (``langgraph_sdk``, ``client.threads``).

A member that is null counts as absent, unknown ones are ignored. What these clients can ask for and farside does not
have is refused with a sentence.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from farside.wire.commands import explain
from farside.wire.metadata import Metadata
from farside.wire.nouns import Model, whole

ThreadStatus = Literal["idle", "busy", "interrupted", "error"]
ThreadSort = Literal["thread_id", "status", "created_at", "updated_at", "state_updated_at"]
ThreadField = Literal[
    "thread_id",
    "created_at",
    "updated_at",
    "state_updated_at",
    "metadata",
    "config",
    "context",
    "status",
    "values",
    "interrupts",
]
"""What may be selected. ``config`` and ``context`` belong to runs here, a thread has none."""

MAX_LISTED = 1000
"""How many threads one search may give, or name."""


def _refused(why: str) -> BeforeValidator:
    def refuse(value: Any) -> None:
        if value not in (None, {}, []):
            raise ValueError(why)

    return BeforeValidator(refuse)


_NoValues = Annotated[None, _refused("threads are found by their metadata, not by their values; put it there too")]
_NoExtract = Annotated[None, _refused("nothing is extracted; select values, and take what you need")]
_NoTtl = Annotated[None, _refused("no thread is deleted by time; delete it when it is not needed any more")]
_NoSteps = Annotated[None, _refused("a thread begins empty; start a run on it")]

_Offset = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(whole)]
_Limit = Annotated[int, Field(ge=1, le=MAX_LISTED), BeforeValidator(whole)]


class CreateThread(Model):
    """``POST /threads``. Without ``thread_id`` the server makes one."""

    thread_id: str | None = None
    metadata: Metadata | None = None
    if_exists: Literal["raise", "do_nothing"] | None = None
    supersteps: _NoSteps = None
    ttl: _NoTtl = None


class ChangeThread(Model):
    """``PATCH /threads/{thread_id}``: members to be merged into the metadata."""

    metadata: Metadata | None = None
    ttl: _NoTtl = None


class CountThreads(Model):
    """``POST /threads/count``."""

    metadata: Metadata | None = None
    status: ThreadStatus | None = None
    values: _NoValues = None


class SearchThreads(CountThreads):
    """``POST /threads/search``."""

    ids: Annotated[list[str], Field(fail_fast=True, max_length=MAX_LISTED)] | None = None
    limit: _Limit = 10
    offset: _Offset = 0
    sort_by: ThreadSort | None = None
    sort_order: Literal["asc", "desc"] | None = None
    select: Annotated[list[ThreadField], Field(fail_fast=True, max_length=64)] | None = None
    extract: _NoExtract = None


_M = TypeVar("_M", bound=Model)


def parse(shape: type[_M], value: Any) -> _M:
    """Check a request's body.

    Raises:
        FarsideError: ``invalid_argument``; ``too_large`` for metadata.
    """
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise explain("a body as LangGraph's clients send it", error) from None
