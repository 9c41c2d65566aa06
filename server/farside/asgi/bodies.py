"""What HTTP requests say."""

from __future__ import annotations

from starlette.requests import Request

from farside.asgi.names import client_name
from farside.errors import FarsideError
from farside.wire.values import Limits

CLIENT_HEADER = "farside-client"
"""The request header by which a page says which one it is, across its requests and streams.

Ours, and optional. The official hooks send it when ``defaultHeaders`` has it."""


async def body_of(request: Request, limits: Limits) -> str:
    """A request's body, no more of it than a frame may have.

    Raises:
        FarsideError: ``too_large``, or ``malformed_frame`` for what is no UTF-8.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limits.frame_bytes:
            raise FarsideError("too_large", f"expected a body of at most {limits.frame_bytes} bytes, got more")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise FarsideError("malformed_frame", "expected a body of JSON in UTF-8") from None


def client_of(request: Request) -> str | None:
    """Who sends the request; None where it does not say.

    Raises:
        FarsideError: ``invalid_argument``.
    """
    name = request.headers.get(CLIENT_HEADER)
    return None if name is None else f"page:{client_name(name)}"
