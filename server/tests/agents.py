"""Small agents that several tests use."""

from __future__ import annotations

import asyncio
from typing import Any

from farside import ToolError, Turn, tool

ANY_ARGS = {"type": "object", "additionalProperties": True}

locate = tool(
    name="locate",
    description="Where the user is.",
    args_schema={"type": "object", "properties": {"high": {"type": "boolean"}}},
    result_schema={"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]},
    timeout=30,
    idempotent=True,
)
pay = tool(name="pay", description="Pays, once.", args_schema=ANY_ARGS, timeout=60)


async def guide(turn: Turn, value: Any) -> None:
    """Asks where the user is and says it."""
    try:
        found = await turn.call(locate, high=True)
    except ToolError as error:
        await turn.say(f"No position: {error.code}")
    else:
        await turn.say(f"You are at {found['lat']}.")


async def pair(turn: Turn, value: Any) -> None:
    """Makes two calls at once."""
    one, two = await asyncio.gather(turn.call(pay, n=1), turn.call(pay, n=2))
    await turn.say(f"{one} {two}")


async def echo(turn: Turn, value: Any) -> None:
    """Says what the user said."""
    await turn.say(f"You said {turn.text}.")
