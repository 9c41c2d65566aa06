"""The app of the crash matrix: the browser tests' agents, a page that ends at a point, and a record of what it did.

Pages die here, so they tell what they do while they do it: ``POST /records/{thread}`` takes an entry, and
``GET /records/{thread}?has={what}`` returns all of them as soon as one has that key or value. ``/never`` does not
answer.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import farside
from e2e.browser.app import function, graph

HERE = Path(__file__).parent
LONG_MS = 600_000


class Record:
    """What the pages of a thread told, in order."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._changed = asyncio.Event()

    def add(self, entry: dict[str, Any]) -> None:
        self.entries.append(entry)
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, what: str) -> None:
        """Wait for an entry with a key, or a value, that is this."""
        while not any(what in (*entry, *entry.values()) for entry in self.entries):
            await self._changed.wait()


records: defaultdict[str, Record] = defaultdict(Record)


async def add(request: Request) -> Response:
    records[request.path_params["thread"]].add(await request.json())
    return Response(status_code=204)


async def read(request: Request) -> Response:
    record = records[request.path_params["thread"]]
    await record.until(request.query_params["has"])
    return JSONResponse(record.entries)


async def never(request: Request) -> Response:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response(status_code=204)


async def harness(_request: Request) -> Response:
    return FileResponse(HERE.parent / "browser/page/harness.js")


def make_app() -> Starlette:
    """Gives nobody up: a call goes on only because of what the next page does."""
    settings = farside.Settings(
        lease_ms=LONG_MS, claim_ms=LONG_MS, ping_ms=LONG_MS, default_timeout=LONG_MS / 1000, grace_ms=LONG_MS
    )
    served = farside.Farside({"function": function, "graph": graph}, store="sqlite:///farside.db", settings=settings)
    routes = [
        Mount("/farside", served),
        Route("/records/{thread}", add, methods=["POST"]),
        Route("/records/{thread}", read),
        Route("/never", never),
        Route("/harness.js", harness),
        Mount("/client", StaticFiles(directory=HERE.parents[1] / "client-js/dist")),
        Mount("/", StaticFiles(directory=HERE / "page", html=True)),
    ]
    return Starlette(routes=routes, lifespan=served.lifespan)


app = make_app()
