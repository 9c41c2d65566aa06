"""The app of the tools for files, media and the page: their page, under the strictest Content-Security-Policy.

``/?library`` is the same page without the policy, which finds the library for screenshots by an import map.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import farside
from e2e.browser.png import PNG, read_png
from e2e.tools.agent import agent

HERE = Path(__file__).parent / "media_page"
ROOT = Path(__file__).parents[2]
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ]
)


def _described(data: bytes) -> dict[str, Any]:
    facts: dict[str, Any] = {"sha256": hashlib.sha256(data).hexdigest(), "begins": data[:8].hex()}
    if data.startswith(b"\xff\xd8\xff"):
        facts["size"] = _jpeg_size(data)
    elif data.startswith(PNG):
        picture = read_png(data)
        middle = picture.rows[picture.height // 2]
        channels = len(middle) // picture.width
        colors = [f"#{middle[at : at + 3].hex()}" for at in range(0, len(middle), channels)]
        facts |= {"size": [picture.width, picture.height], "middle": colors}
    return facts


def _jpeg_size(data: bytes) -> list[int]:
    """Width and height, from the segment that says them."""
    at = 2
    while data[at + 1] not in (0xC0, 0xC2):
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    height, width = int.from_bytes(data[at + 5 : at + 7]), int.from_bytes(data[at + 7 : at + 9])
    return [width, height]


def show(request: Request) -> Response:
    text = (HERE / "index.html").read_text()
    if "library" in request.query_params:
        return HTMLResponse(text)
    start, end = text.index("<!-- import map -->"), text.index("<!-- end -->")
    return HTMLResponse(text[:start] + text[end:], headers={"Content-Security-Policy": POLICY})


def redirect(request: Request) -> Response:
    return RedirectResponse(f"/account/login?{request.url.query}")


served = farside.Farside({"function": agent(_described)}, store="sqlite:///farside.db")
app = Starlette(
    routes=[
        Mount("/farside", served),
        Mount("/client", StaticFiles(directory=ROOT / "client-js/dist")),
        Mount("/libraries", StaticFiles(directory=ROOT / "node_modules", follow_symlink=True)),
        Route("/harness.js", lambda _request: FileResponse(ROOT / "e2e/browser/page/harness.js")),
        Route("/tools.js", lambda _request: FileResponse(HERE / "tools.js")),
        Route("/account/private", redirect),
        Route("/{path:path}", show),
    ],
    lifespan=served.lifespan,
)
