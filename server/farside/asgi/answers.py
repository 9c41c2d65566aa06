"""What HTTP requests are answered with."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from farside.errors import FarsideError
from farside.wire.codec import JSON
from farside.wire.values import OUTGOING_LIMITS

_STATUS = {
    **dict.fromkeys(("not_found", "no_such_run", "no_such_checkpoint", "no_such_namespace"), 404),
    "thread_exists": 409,
    "unavailable": 503,
}


def answer(body: Any, status: int = 200) -> Response:
    """A value as JSON, bytes in it as the protocol writes them."""
    return Response(JSON.encode(body, OUTGOING_LIMITS), status, media_type="application/json")


def refusal(error: FarsideError) -> Response:
    """An error as ``{error, message}``, with the status that says who can do something about it."""
    return answer({"error": error.code, "message": error.message}, _STATUS.get(error.code, 400))
