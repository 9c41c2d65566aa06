"""The app that the React page talks to: the agents of the browser tests, which do what the user's message says."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import farside
from e2e.browser.app import function, graph, open_gate

served = farside.Farside({"function": function, "graph": graph}, store="sqlite:///farside.db")
app = Starlette(
    routes=[
        Mount("/farside", served),
        Route("/gates/{name}", open_gate, methods=["POST"]),
        Mount("/", StaticFiles(directory=Path(__file__).parent / "web/dist", html=True)),
    ],
    lifespan=served.lifespan,
)
