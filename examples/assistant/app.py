"""Serves the assistant and its page: ``make demo``.

Environment:
    FARSIDE_MODEL: a model as LangChain's ``init_chat_model`` names it (``openai:gpt-5``); without it a script answers.
    FARSIDE_STORE: where conversations are kept; ``sqlite:///.farside/assistant.db`` if not set.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from examples.assistant.agent import ModelUnavailableError, choose_model, make_agent
from examples.assistant.scripted_model import SENTENCES
from farside import Farside

PAGE = Path(__file__).parent / "web" / "dist"
POLICY = "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'"


class Page(StaticFiles):
    """The built page. It loads nothing from other hosts, and browsers are told so."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["Cache-Control"] = "no-cache"
        return response


def make_app() -> Starlette:
    """The page at ``/``, the agent under ``/farside``, and who answers at ``/about``."""
    model_name, model = choose_model()
    farside = Farside({"assistant": make_agent(model)}, store=_store())

    async def about(request: Request) -> Response:
        """What the page tells about the model."""
        return JSONResponse({"model": model_name, "scripted": model_name is None, "sentences": SENTENCES})

    async def not_built(request: Request) -> Response:
        return PlainTextResponse("The page is not built yet. `make demo` builds and serves it.", 503)

    page: BaseRoute = Mount("/", Page(directory=PAGE, html=True)) if PAGE.is_dir() else Route("/", not_built)
    return Starlette(routes=[Route("/about", about), Mount("/farside", farside), page], lifespan=farside.lifespan)


def _store() -> str:
    """The store's address; the folder of an SQLite file is made."""
    store = os.environ.get("FARSIDE_STORE", "sqlite:///.farside/assistant.db")
    if store.startswith("sqlite:///"):
        Path(store.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    return store


try:
    app = make_app()
except ModelUnavailableError as error:
    sys.exit(str(error))
