"""The app that the ready-made tools are tested with.

Its agent calls what the message says, as those of ``e2e.browser.app`` do.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import farside
from e2e.browser.png import PNG, read_png
from farside import browser

HERE = Path(__file__).parent
HARNESS = HERE.parent / "browser/page"
CLIENT = HERE.parents[1] / "client-js/dist"

DECLARED: dict[str, farside.HeadlessTool] = {name: getattr(browser, name) for name in browser.__all__}


async def function(turn: farside.Turn, _input: Any) -> None:
    calls = (_outcome(turn, each["name"], each["args"]) for each in json.loads(turn.text)["calls"])
    await turn.say(json.dumps(await asyncio.gather(*calls)))


async def _outcome(turn: farside.Turn, name: str, args: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"status": "success", "value": _shown(await turn.call(DECLARED[name], **args))}
    except farside.ToolError as error:
        return {"status": "error", "code": error.code, "message": error.message}


def _shown(value: Any) -> Any:
    """The value, with what there is to say about its bytes in their place."""
    if isinstance(value, dict):
        return {key: _shown(each) for key, each in value.items()}
    if not isinstance(value, bytes):
        return value
    facts: dict[str, Any] = {"length": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if value.startswith(PNG):
        picture = read_png(value)
        facts |= {"size": [picture.width, picture.height], "left": sorted(picture.colors(range(picture.width // 2)))}
    return facts


def file(path: Path) -> Callable[[Request], Response]:
    return lambda _request: FileResponse(path)


served = farside.Farside({"function": function}, store="sqlite:///farside.db")
app = Starlette(
    routes=[
        Mount("/farside", served),
        Mount("/client", StaticFiles(directory=CLIENT)),
        *(Route(f"/{name}", file(HERE / "page" / name)) for name in ("tools.js", "worker.js")),
        Mount("/", StaticFiles(directory=HARNESS, html=True)),
    ],
    lifespan=served.lifespan,
)
