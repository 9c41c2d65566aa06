"""The app that the browser tests serve: an agent of each kind, which all do what the user's message says.

A message is a plan in JSON. ``{"calls": [{"name", "args", "id"?}]}`` calls browser tools, all at once, and says as JSON
how each of them ended; ``id`` is the call's id where a model chooses it. ``{"say": [piece, ...], "gate": name}`` says
the pieces, each after the first when the gate was opened (``POST /gates/{name}``). The models refuse a history in which
a call has not exactly one answer.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic import BaseModel, Field
from pydantic_ai import BinaryContent, ModelMessage, ModelResponse
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import farside
import farside.langgraph
from e2e.browser.png import PNG, read_png
from farside.pydantic_ai import HeadlessToolset
from server.tests.langgraph.scripted import Streaming, calling, check_history
from server.tests.pydantic_ai import scripted as pydantic_ai

HERE = Path(__file__).parent


class LocationRequest(BaseModel):
    """What ``getCurrentPosition`` takes."""

    timeout: int | None = None


class Position(BaseModel):
    latitude: float
    longitude: float
    accuracy: float


class Drawing(BaseModel):
    """The left half in a color, the right half noise."""

    width: int = Field(ge=1, le=1000)
    height: int = Field(ge=1, le=1000)
    color: str


def _strings(*names: str) -> dict[str, Any]:
    return {"properties": {name: {"type": "string"} for name in names}, "required": list(names)}


TOOLS: list[dict[str, Any]] = [
    {"name": "get_location", "args_schema": LocationRequest, "result_schema": Position, "timeout": 30},
    {"name": "get_location_soon", "args_schema": LocationRequest, "result_schema": Position, "timeout": 1},
    {"name": "copy_text", "args_schema": _strings("text")},
    {"name": "copy_text_on_click", "args_schema": _strings("text")},
    {"name": "open_window"},
    {"name": "paste_text"},
    {"name": "remember", "args_schema": _strings("key", "value")},
    {"name": "recall", "args_schema": _strings("key"), "idempotent": True},
    {"name": "draw", "args_schema": Drawing},
    {"name": "give", "args_schema": _strings("form")},
    {"name": "hold", "args_schema": _strings("name")},
    {"name": "hold_again", "args_schema": _strings("name"), "idempotent": True},
    {"name": "throw", "args_schema": _strings("message")},
    {"name": "mislead", "result_schema": Position},
    {"name": "ping", "args_schema": _strings("word")},  # the page takes only the word "ping"
    {"name": "nowhere", "timeout": 1},  # no page has it
]

gates: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))


async def pieces(plan: dict[str, Any]) -> AsyncGenerator[str]:
    first, *others = plan["say"]
    yield first
    for piece in others:
        await gates[plan["gate"]].acquire()
        yield piece


def succeeded(value: Any) -> dict[str, Any]:
    return {"status": "success", "value": _shown(value)}


def failed(code: str, message: str) -> dict[str, Any]:
    return {"status": "error", "code": code, "message": message}


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shown(each) for key, each in value.items()}
    return _described(value) if isinstance(value, bytes) else value


def _described(data: bytes) -> dict[str, Any]:
    """What of the bytes arrived on the server."""
    facts: dict[str, Any] = {"length": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    if data.startswith(PNG):
        picture = read_png(data)
        facts |= {"size": [picture.width, picture.height], "left": sorted(picture.colors(range(picture.width // 2)))}
    return facts


# --- an async function ---

DECLARED = {each["name"]: farside.tool(**each) for each in TOOLS}


async def function(turn: farside.Turn, _input: Any) -> None:
    plan = json.loads(turn.text)
    if "say" in plan:
        await turn.say(pieces(plan))
        return
    calls = (_outcome(turn, each["name"], each["args"]) for each in plan["calls"])
    await turn.say(json.dumps(await asyncio.gather(*calls)))


async def _outcome(turn: farside.Turn, name: str, args: dict[str, Any]) -> dict[str, Any]:
    try:
        return succeeded(await turn.call(DECLARED[name], **args))
    except farside.ToolError as error:
        return failed(error.code, error.message)


# --- a LangGraph agent ---


class Model(Streaming):
    """Streams the pieces of a plan when its gate lets them through, everything else word by word."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        if messages[-1].type == "human" and "say" in (plan := json.loads(messages[-1].text)):
            check_history(messages)
            async for piece in pieces(plan):
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            return
        for chunk in self._stream(messages):
            yield chunk


def script(messages: list[BaseMessage]) -> AIMessage:
    """Calls what the plan says, or says how it ended."""
    if messages[-1].type == "human":
        planned = json.loads(messages[-1].text)["calls"]
        return calling(*(_tool_call(each, f"call_{len(messages)}_{at}") for at, each in enumerate(planned)))
    last = max(at for at, message in enumerate(messages) if message.type == "ai")
    return AIMessage(json.dumps([_told(message) for message in messages[last + 1 :]]))


def _tool_call(planned: dict[str, Any], call_id: str) -> ToolCall:
    return ToolCall(type="tool_call", id=planned.get("id", call_id), name=planned["name"], args=planned["args"])


def _told(message: BaseMessage) -> dict[str, Any]:
    """What a tool message tells a model."""
    assert isinstance(message, ToolMessage)
    if message.status == "error":
        told = re.fullmatch(r"Error \((\w+)\): (.*)", message.text, re.DOTALL)
        return failed(*told.groups()) if told else failed("", message.text)
    if isinstance(message.content, list):
        (image,) = (block for block in message.content if isinstance(block, dict) and block["type"] == "image")
        return succeeded(base64.b64decode(image["base64"]))
    try:
        return succeeded(json.loads(message.text))
    except json.JSONDecodeError:
        return succeeded(message.text)


graph = create_agent(Model(script=script), [farside.langgraph.tool(**each) for each in TOOLS])


# --- a Pydantic AI agent ---


class Talker(pydantic_ai.Scripted):
    """Streams the pieces of a plan when its gate lets them through, everything else word by word."""

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncGenerator[Any]:
        plan = _plan_in(messages)
        if plan is None or "say" not in plan:
            async for each in super().stream(messages, info):
                yield each
            return
        pydantic_ai.check_history(messages)
        async for piece in pieces(plan):
            yield piece


def pydantic_ai_script(messages: list[ModelMessage]) -> ModelResponse:
    """Calls what the plan says, or says how it ended."""
    plan = _plan_in(messages)
    if plan is None:
        parts = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        order = [call.tool_call_id for call in pydantic_ai.calls_before(messages)]
        parts.sort(key=lambda part: order.index(part.tool_call_id))
        return pydantic_ai.saying(json.dumps([_returned(part) for part in parts]))
    return pydantic_ai.calling(
        *(
            pydantic_ai.call(each["name"], each.get("id", f"call_{len(messages)}_{at}"), **each["args"])
            for at, each in enumerate(plan["calls"])
        )
    )


def _plan_in(messages: list[ModelMessage]) -> dict[str, Any] | None:
    """The plan in the user's message, None when tools have spoken since."""
    last = messages[-1].parts[-1]
    return json.loads(str(last.content)) if isinstance(last, UserPromptPart) else None


def _returned(part: ToolReturnPart) -> dict[str, Any]:
    """What a tool's return tells a model."""
    if part.outcome != "success":
        told = re.fullmatch(r"Error \((\w+)\): (.*)", str(part.content), re.DOTALL)
        return failed(*told.groups()) if told else failed("", str(part.content))
    content: Any = part.content
    return succeeded(content.data if isinstance(content, BinaryContent) else content)


talker = Talker(pydantic_ai_script).agent(toolsets=[HeadlessToolset(list(DECLARED.values()))])


# --- the app ---


async def open_gate(request: Request) -> Response:
    gates[request.path_params["name"]].release()
    return Response(status_code=204)


async def page(request: Request) -> Response:
    """The page, with the Content-Security-Policy that its address asks for."""
    policy = request.query_params.get("policy", "")
    return FileResponse(HERE / "page/index.html", headers={"content-security-policy": policy})


def make_app(settings: farside.Settings | None = None) -> Starlette:
    agents = {"function": function, "graph": graph, "pydantic_ai": talker}
    served = farside.Farside(agents, store="sqlite:///farside.db", settings=settings)
    routes = [
        Mount("/farside", served),
        Route("/gates/{name}", open_gate, methods=["POST"]),
        Route("/", page),
        Mount("/client", StaticFiles(directory=HERE.parents[1] / "client-js/dist")),
        Mount("/", StaticFiles(directory=HERE / "page", html=True)),
    ]
    return Starlette(routes=routes, lifespan=served.lifespan)


app = make_app()
hasty = make_app(farside.Settings(lease_ms=1000))
"""Gives up a page soon after it has gone."""
