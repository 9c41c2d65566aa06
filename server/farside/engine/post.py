"""A command that comes by itself, without a connection."""

from __future__ import annotations

from functools import partial
from typing import Any

from farside.core.session import Request, Send, Session
from farside.engine.commands import attempt, carry_out
from farside.engine.engine import Engine
from farside.errors import FarsideError


async def post(engine: Engine, thread_id: str, message: Any, client_id: str) -> dict[str, Any]:
    """Carry out a decoded command of the Agent Streaming Protocol; returns its reply.

    Args:
        client_id: who sends it; empty where that is not known.
    """
    session = Session(client_id, plain=True)
    effects = session.receive(message)
    for request in effects:
        if isinstance(request, Request):
            work = partial(carry_out, engine, thread_id, request.params, client_id, plain=True)
            try:
                effects = session.succeeded(request.id, *await attempt(engine, request.method, work))
            except FarsideError as error:
                effects = session.failed(request.id, error)
    [reply] = [effect.message for effect in effects if isinstance(effect, Send)]
    return reply
