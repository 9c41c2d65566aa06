"""The agent and the pages of e2e/official, served from the store that FARSIDE_BENCH_STORE names."""

from __future__ import annotations

import os

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from e2e.official.app import chat
from farside import Farside

farside = Farside({"chat": chat}, store=os.environ["FARSIDE_BENCH_STORE"])
pages = StaticFiles(directory=os.environ["FARSIDE_BENCH_PAGES"], html=True)
app = Starlette(routes=[Mount("/farside", farside), Mount("/", pages)], lifespan=farside.lifespan)
