"""The routes of a list of conversations, as LangGraph's clients use it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar, get_args

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from farside.asgi.answers import answer
from farside.asgi.bodies import body_of
from farside.asgi.names import thread_id
from farside.core.model import ThreadInfo
from farside.core.ports import ThreadQuery
from farside.engine import Engine
from farside.engine.directory import Directory
from farside.wire.codec import JSON
from farside.wire.nouns import Model
from farside.wire.threads import ChangeThread, CountThreads, CreateThread, SearchThreads, ThreadField, parse
from farside.wire.values import OUTGOING_LIMITS

NEXT_HEADER = "X-Pagination-Next"
"""The header of a search's answer that says which ``offset`` goes on; there is none when nothing follows."""

_ALL = frozenset[str](get_args(ThreadField)) | {"error"}

_M = TypeVar("_M", bound=Model)


async def create(engine: Engine, request: Request) -> Response:
    """``POST /threads``: the thread, new or there before; 409 when it may not have been there."""
    body = await _body(engine, request, CreateThread)
    name = None if body.thread_id is None else thread_id(body.thread_id)
    may_exist = body.if_exists == "do_nothing"
    made = await engine.directory.create(name, body.metadata or {}, may_exist=may_exist)
    return answer(await _shown(engine.directory, made, _ALL))


async def read(engine: Engine, request: Request) -> Response:
    """``GET /threads/{thread_id}``."""
    found = await engine.directory.get(_named(request))
    return answer(await _shown(engine.directory, found, _ALL))


async def change(engine: Engine, request: Request) -> Response:
    """``PATCH /threads/{thread_id}``: the thread; 204 where the request prefers that."""
    body = await _body(engine, request, ChangeThread)
    changed = await engine.directory.describe(_named(request), body.metadata or {})
    if "return=minimal" in request.headers.get("prefer", ""):
        return Response(status_code=204)
    return answer(await _shown(engine.directory, changed, _ALL))


async def delete(engine: Engine, request: Request) -> Response:
    """``DELETE /threads/{thread_id}``."""
    await engine.directory.delete(_named(request))
    return Response(status_code=204)


async def count(engine: Engine, request: Request) -> Response:
    """``POST /threads/count``: a number."""
    body = await _body(engine, request, CountThreads)
    return answer(await engine.directory.count(ThreadQuery(metadata=body.metadata or {}, status=body.status)))


async def search(engine: Engine, request: Request) -> Response:
    """``POST /threads/search``: the threads, one after the other, so that only one state is in memory at a time."""
    body = await _body(engine, request, SearchThreads)
    query = ThreadQuery(
        metadata=body.metadata or {},
        status=body.status,
        ids=None if body.ids is None else tuple(body.ids),
        sort_by=body.sort_by or "updated_at",
        descending=body.sort_order != "asc",
        limit=body.limit + 1,
        offset=body.offset,
    )
    found = await engine.directory.search(query)
    headers = {NEXT_HEADER: str(body.offset + body.limit)} if len(found) > body.limit else {}
    fields = _ALL if body.select is None else frozenset(body.select)
    array = _array(engine.directory, found[: body.limit], fields)
    return StreamingResponse(array, headers=headers, media_type="application/json")


async def _array(directory: Directory, found: Iterable[ThreadInfo], fields: Collection[str]) -> AsyncGenerator[str]:
    before = "["
    for info in found:
        yield before + JSON.encode(await _shown(directory, info, fields, in_list=True), OUTGOING_LIMITS)
        before = ","
    yield "[]" if before == "[" else "]"


async def _shown(
    directory: Directory, info: ThreadInfo, fields: Collection[str], *, in_list: bool = False
) -> dict[str, Any]:
    """The fields of a thread. In a list, a state that cannot be read is null: the others can be."""
    shown: dict[str, Any] = {
        "thread_id": info.id,
        "created_at": _iso(info.created_at),
        "updated_at": _iso(info.updated_at),
        "state_updated_at": _iso(info.state_updated_at),
        "metadata": info.metadata,
        "status": info.status,
    }
    shown = {name: value for name, value in shown.items() if name in fields}
    if "values" in fields:
        shown["values"] = await (directory.values_if_readable if in_list else directory.values)(info)
    if "interrupts" in fields:
        shown["interrupts"] = await directory.interrupts(info)
    if "error" in fields and (error := await directory.error(info)) is not None:
        shown["error"] = error
    return shown


async def _body(engine: Engine, request: Request, shape: type[_M]) -> _M:
    """The request's body, checked; no body counts as an empty object."""
    return parse(shape, JSON.decode(await body_of(request, engine.limits) or "{}", engine.limits))


def _named(request: Request) -> str:
    return thread_id(request.path_params["thread_id"])


def _iso(milliseconds: int) -> str:
    """A time as RFC 3339, in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
