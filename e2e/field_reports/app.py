"""The app of the field reports: the browser tests' agents, which can be made to think and whose steps are counted.

In a plan, ``"think": name`` has the agent wait until the gate of that name is opened before it calls its tools, and
``"count": name`` counts the steps that it takes: ``GET /steps/{name}`` tells how many.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import farside
import farside.langgraph
from e2e.browser import app as browser

ROOT = Path(__file__).parents[2]
SOON: dict[str, Any] = {"name": "hold_soon", "args_schema": {"properties": {"name": {"type": "string"}}}, "timeout": 3}

browser.DECLARED["hold_soon"] = farside.tool(**SOON)
steps: Counter[str] = Counter()


def count_step(plan: dict[str, Any]) -> None:
    if "count" in plan:
        steps[plan["count"]] += 1


async def think(plan: dict[str, Any]) -> None:
    if "think" in plan:
        await browser.gates[plan["think"]].acquire()


# --- the agents ---


async def function(turn: farside.Turn, value: Any) -> None:
    plan = json.loads(turn.text)
    count_step(plan)
    await think(plan)
    await browser.function(turn, value)
    count_step(plan)


class Model(browser.Model):
    """Thinks before it answers the user."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        plan = json.loads(next(message for message in reversed(messages) if message.type == "human").text)
        count_step(plan)
        if messages[-1].type == "human":
            await think(plan)
        async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
            yield chunk


TOOLS = [farside.langgraph.tool(**each) for each in [*browser.TOOLS, SOON]]
graph = create_agent(Model(script=browser.script), TOOLS)


# --- the app ---


async def count_steps(request: Request) -> Response:
    return JSONResponse(steps[request.path_params["name"]])


async def wait(request: Request) -> Response:
    """Answers when the gate is opened."""
    await browser.gates[request.path_params["name"]].acquire()
    return Response(status_code=204)


def make_app(settings: farside.Settings) -> Starlette:
    served = farside.Farside({"function": function, "graph": graph}, store="sqlite:///farside.db", settings=settings)
    routes = [
        Mount("/farside", served),
        Route("/gates/{name}", browser.open_gate, methods=["POST"]),
        Route("/gates/{name}", wait),
        Route("/steps/{name}", count_steps),
        Mount("/client", StaticFiles(directory=ROOT / "client-js/dist")),
        Mount("/", StaticFiles(directory=ROOT / "e2e/browser/page", html=True)),
    ]
    return Starlette(routes=routes, lifespan=served.lifespan)


app = make_app(farside.Settings())
watchful = make_app(farside.Settings(ping_ms=1000))
"""Notices soon that a connection is silent, and has its pages notice."""
impatient = make_app(farside.Settings(claim_ms=1000, grace_ms=300))
"""Asks the next page soon, and gives up soon one that is gone."""
