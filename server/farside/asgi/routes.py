"""The routes of a farside app, relative to where it is mounted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from farside.asgi import states, threads
from farside.asgi.answers import answer, refusal
from farside.asgi.bodies import body_of, client_of
from farside.asgi.names import thread_id
from farside.asgi.sockets import Socket
from farside.asgi.streams import EventStream
from farside.engine import Engine, post
from farside.errors import FarsideError
from farside.wire.codec import JSON

EngineSource = Callable[[], Awaitable[Engine]]
"""Gives the engine, started."""

_Endpoint = Callable[[Engine, Request], Awaitable[ASGIApp]]


def routes(engine: EngineSource) -> list[BaseRoute]:
    """The routes of an app.

    Paths, bodies and status codes are those that the official clients use. Whatever else they may ask a LangGraph
    server for is answered 404 with a sentence.
    """

    def served(endpoint: _Endpoint) -> Callable[[Request], Awaitable[ASGIApp]]:
        async def serve(request: Request) -> ASGIApp:
            try:
                return await endpoint(await engine(), request)
            except FarsideError as error:
                return refusal(error)

        return serve

    async def stream(socket: WebSocket) -> None:
        await Socket(socket).serve(await engine())

    return [
        Route("/ok", served(_ok)),
        Route("/threads", served(threads.create), methods=["POST"]),
        Route("/threads/search", served(threads.search), methods=["POST"]),
        Route("/threads/count", served(threads.count), methods=["POST"]),
        Route("/threads/{thread_id}", served(threads.read)),
        Route("/threads/{thread_id}", served(threads.change), methods=["PATCH"]),
        Route("/threads/{thread_id}", served(threads.delete), methods=["DELETE"]),
        Route("/threads/{thread_id}/state", served(states.state)),
        Route("/threads/{thread_id}/state/checkpoint", served(states.state_at), methods=["POST"]),
        Route("/threads/{thread_id}/state/{checkpoint_id}", served(states.state_at)),
        Route("/threads/{thread_id}/history", served(states.history), methods=["POST"]),
        Route("/assistants/{assistant_id}/graph", served(states.graph)),
        Route("/threads/{thread_id}/runs/{run_id}/cancel", served(_cancel), methods=["POST"]),
        Route("/threads/{thread_id}/commands", served(_command), methods=["POST"]),
        Route("/threads/{thread_id}/stream/events", served(EventStream.open), methods=["POST"]),
        WebSocketRoute("/threads/{thread_id}/stream/events", stream),
        Route("/{path:path}", _nothing_here, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
    ]


async def _ok(engine: Engine, request: Request) -> Response:
    return answer({"ok": True})


async def _cancel(engine: Engine, request: Request) -> Response:
    """What a hook's ``stop()`` asks for. A run that has ended stays as it is."""
    await engine.runs.cancel(thread_id(request.path_params["thread_id"]), request.path_params["run_id"])
    return Response(status_code=204)


async def _command(engine: Engine, request: Request) -> Response:
    """One command and its reply, which is an error where the command is refused."""
    thread, client_id = thread_id(request.path_params["thread_id"]), client_of(request) or ""
    message = JSON.decode(await body_of(request, engine.limits), engine.limits)
    return answer(await post(engine, thread, message, client_id))


async def _nothing_here(request: Request) -> Response:
    message = (
        f"expected a path that farside serves, got {request.method} {request.url.path}; there are runs by the commands "
        "of a thread's stream only, and agents by their names: no /runs/stream, /runs/wait, /crons"
    )
    return refusal(FarsideError("not_found", message))
