"""The app of the bad network: each message has the agent call two browser tools at once and tell what they answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from farside import Farside, HeadlessTool, Settings, ToolError, Turn, tool

HERE = Path(__file__).parent
KEY = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}

look = tool(name="look", args_schema=KEY, idempotent=True, timeout=120)
pay = tool(name="pay", args_schema=KEY, timeout=120)


async def agent(turn: Turn, _input: object) -> None:
    answers = await asyncio.gather(*(_told(turn, each) for each in (look, pay)))
    await turn.say(" ".join([turn.text, *answers]))


async def _told(turn: Turn, asked: HeadlessTool) -> str:
    try:
        return await turn.call(asked, key=f"{turn.thread_id}/{turn.text}")
    except ToolError as error:
        return error.code


# Impatient, so that a silence is noticed within the patience of a test; but nobody is given up, for the page lives.
settings = Settings(ping_ms=1_000, claim_ms=2_000, lease_ms=600_000, grace_ms=600_000)
farside = Farside({"agent": agent}, settings=settings)
app = Starlette(
    routes=[
        Mount("/farside", farside),
        Mount("/client", StaticFiles(directory=HERE.parents[1] / "client-js/dist")),
        Mount("/", StaticFiles(directory=HERE / "page", html=True)),
    ],
    lifespan=farside.lifespan,
)
