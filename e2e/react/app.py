"""The app that the React pages talk to: the agents of the browser tests, which do what the user's message says, and the
example's."""

from __future__ import annotations

import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import farside
from e2e.browser.app import function, graph, open_gate
from examples.hello.app import guide

PAGES = Path(os.environ.get("PAGES", Path(__file__).parent / "web/dist"))

served = farside.Farside({"function": function, "graph": graph, "guide": guide}, store="sqlite:///farside.db")
app = Starlette(
    routes=[
        Mount("/farside", served),
        Route("/gates/{name}", open_gate, methods=["POST"]),
        Mount("/", StaticFiles(directory=PAGES, html=True)),
    ],
    lifespan=served.lifespan,
)
