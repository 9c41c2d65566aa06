"""What an agent wants to know again in this browser: a small memory in IndexedDB."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from farside.browser.shapes import Arguments
from farside.tools import tool

Key = Annotated[str, Field(min_length=1, max_length=200)]
Tag = Annotated[str, Field(min_length=1, max_length=100)]


class Remember(Arguments):
    key: Key = Field(description="What to find it by. A memory of the same key is replaced.")
    value: str = Field(max_length=20_000, description="What to remember, as text.")
    tags: list[Tag] = Field(default=[], max_length=20, description="Words to group memories by.")
    ttl: float | None = Field(
        default=None, gt=0, le=315_360_000, description="Seconds until it is forgotten by itself; none for never."
    )


class Stored(BaseModel):
    key: str
    expires_at: str | None = Field(default=None, description="ISO 8601, UTC; none for never.")


class Recall(Arguments):
    key: Key


class Memory(BaseModel):
    key: str
    value: str
    tags: list[str]
    stored_at: str = Field(description="ISO 8601, UTC.")
    expires_at: str | None = Field(default=None, description="ISO 8601, UTC; none for never.")


class Recalled(BaseModel):
    memory: Memory | None = Field(description="None when there is no memory of that key, or no longer.")


class ListMemories(Arguments):
    tag: Tag | None = Field(default=None, description="Only those with this tag.")
    limit: int = Field(default=50, ge=1, le=1000, description="How many at most, the newest first.")


class Heading(BaseModel):
    """A memory without its value."""

    key: str
    tags: list[str]
    stored_at: str = Field(description="ISO 8601, UTC.")
    expires_at: str | None = Field(default=None, description="ISO 8601, UTC; none for never.")


class Headings(BaseModel):
    memories: list[Heading]
    total: int = Field(description="How many there are, whatever the limit.")


class SearchMemories(Arguments):
    query: str = Field(min_length=1, max_length=200, description="Words that all have to occur, in key, value or tags.")
    tag: Tag | None = Field(default=None, description="Only those with this tag.")
    limit: int = Field(default=10, ge=1, le=100, description="How many at most, the newest first.")


class Found(BaseModel):
    memories: list[Memory]
    total: int = Field(description="How many fit, whatever the limit.")


class Forget(Arguments):
    key: Key | None = Field(default=None, description="Forget the memory of this key.")
    tag: Tag | None = Field(default=None, description="Forget the memories with this tag. Give exactly one of both.")


class Forgotten(BaseModel):
    forgotten: int = Field(description="How many memories there were to forget.")


remember = tool(
    name="remember",
    title="Remember",
    description=(
        "Remember a text in the user's browser, for later conversations too. It stays there until it is forgotten, "
        "expires, or the user deletes the site's data."
    ),
    args_schema=Remember,
    result_schema=Stored,
    timeout=30,
    idempotent=True,
)

recall = tool(
    name="recall",
    title="Recall",
    description="Get what was remembered under a key in the user's browser.",
    args_schema=Recall,
    result_schema=Recalled,
    timeout=30,
    idempotent=True,
)

list_memories = tool(
    name="list_memories",
    title="List memories",
    description="List what is remembered in the user's browser: keys and tags, without the values.",
    args_schema=ListMemories,
    result_schema=Headings,
    timeout=30,
    idempotent=True,
)

search_memories = tool(
    name="search_memories",
    title="Search memories",
    description="Search what is remembered in the user's browser for words.",
    args_schema=SearchMemories,
    result_schema=Found,
    timeout=30,
    idempotent=True,
)

forget = tool(
    name="forget",
    title="Forget",
    description="Forget what is remembered in the user's browser under a key, or all that has a tag.",
    args_schema=Forget,
    result_schema=Forgotten,
    timeout=30,
    idempotent=True,
)
