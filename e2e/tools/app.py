"""The app that the ready-made tools are tested with."""

from __future__ import annotations

import hashlib
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
from e2e.tools.agent import agent

HERE = Path(__file__).parent
HARNESS = HERE.parent / "browser/page"
CLIENT = HERE.parents[1] / "client-js/dist"


def described(data: bytes) -> dict[str, Any]:
    facts: dict[str, Any] = {"length": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    if data.startswith(PNG):
        picture = read_png(data)
        facts |= {"size": [picture.width, picture.height], "left": sorted(picture.colors(range(picture.width // 2)))}
    return facts


def file(path: Path) -> Callable[[Request], Response]:
    return lambda _request: FileResponse(path)


served = farside.Farside({"function": agent(described)}, store="sqlite:///farside.db")
app = Starlette(
    routes=[
        Mount("/farside", served),
        Mount("/client", StaticFiles(directory=CLIENT)),
        *(Route(f"/{name}", file(HERE / "page" / name)) for name in ("tools.js", "worker.js")),
        Mount("/", StaticFiles(directory=HARNESS, html=True)),
    ],
    lifespan=served.lifespan,
)
