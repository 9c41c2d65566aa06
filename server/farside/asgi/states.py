"""The states of a thread over HTTP, in the shape in which LangGraph's clients read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from farside.asgi.answers import answer
from farside.asgi.bodies import body_of
from farside.asgi.names import thread_id
from farside.core.ports import AgentState
from farside.engine import Engine
from farside.errors import FarsideError
from farside.wire.codec import JSON
from farside.wire.messages import MAX_CHECKPOINTS


async def state(engine: Engine, request: Request) -> Response:
    """The thread as a hook wants it when it is mounted.

    There is no ``tasks``: a hook would execute the interrupts in it in every tab, and not those that come later.
    """
    now = await _now(engine, _thread(request), ())
    now.pop("tasks", None)
    return answer(now)


async def state_at(engine: Engine, request: Request) -> Response:
    """The state at the checkpoint that is named by the path, or by the body:
    ``{checkpoint: {checkpoint_id?, checkpoint_ns?}}``."""
    thread = _thread(request)
    if request.method == "GET":
        return answer(_shape(thread, await engine.histories.at(thread, (), request.path_params["checkpoint_id"])))
    place = _object(await _body(engine, request), "checkpoint")
    namespace, checkpoint_id = _namespace(place), _text(place, "checkpoint_id")
    if checkpoint_id is not None:
        return answer(_shape(thread, await engine.histories.at(thread, namespace, checkpoint_id)))
    return answer(await _now(engine, thread, namespace))


async def history(engine: Engine, request: Request) -> Response:
    """The states at the thread's checkpoints, the newest first; none where none are kept.

    The body: ``{limit?, before?, metadata?, checkpoint?: {checkpoint_ns?}}``; ``before`` is the id of a checkpoint,
    alone or where a checkpoint or a config has it.
    """
    thread, body = _thread(request), await _body(engine, request)
    limit = body.get("limit", 10)
    if type(limit) is not int or not 0 < limit <= MAX_CHECKPOINTS:
        raise FarsideError("invalid_argument", f"limit: expected an integer from 1 to {MAX_CHECKPOINTS}, got {limit!r}")
    namespace, metadata = _namespace(_object(body, "checkpoint")), _object(body, "metadata")
    before = _before(body)
    found: Sequence[AgentState] = ()
    try:
        found = await engine.histories.checkpoints(thread, namespace, limit, before, metadata or None)
    except FarsideError as error:
        if error.code not in ("not_supported", "no_such_namespace"):
            raise
    return answer([_shape(thread, each) for each in found])


async def graph(engine: Engine, request: Request) -> Response:
    """An agent's graph, ``{nodes, edges}``; ``xray``: with the graphs within it."""
    agent, xray = request.path_params["assistant_id"], request.query_params.get("xray", "false").lower()
    found = engine.runtime(agent).graph
    if found is None:
        raise FarsideError("not_found", f"expected an agent that is a LangGraph graph, {agent!r} is none")
    if xray not in ("true", "false") and not (xray.isascii() and xray.isdigit()):
        raise FarsideError("invalid_argument", f"xray: expected true, false or a depth, got {xray[:20]!r}")
    return answer(found.drawing(int(xray) if xray.isdigit() else xray == "true"))


async def _now(engine: Engine, thread: str, namespace: Sequence[str]) -> dict[str, Any]:
    found = await engine.state(thread, namespace)
    body = _shape(thread, found.state)
    if not body["next"] and not namespace and found.is_under_way:
        # What has been stored does not tell of the run yet, or not any more: a hook would not listen to it.
        body["next"] = [task["name"] for task in found.state.tasks] or ["__start__"]
    if body["next"]:
        del body["tasks"]
    return body


def _shape(thread: str, state: AgentState) -> dict[str, Any]:
    return {
        "values": state.values,
        "next": list(state.next),
        "tasks": list(state.tasks),
        "metadata": dict(state.metadata),
        "created_at": state.created_at,
        "checkpoint": _place(thread, state, state.checkpoint_id),
        "parent_checkpoint": _place(thread, state, state.parent_id),
        "checkpoint_id": state.checkpoint_id,
        "parent_checkpoint_id": state.parent_id,
    }


def _place(thread: str, state: AgentState, checkpoint_id: str | None) -> dict[str, Any] | None:
    if checkpoint_id is None:
        return None
    return {"thread_id": thread, "checkpoint_ns": "|".join(state.namespace), "checkpoint_id": checkpoint_id}


def _thread(request: Request) -> str:
    return thread_id(request.path_params["thread_id"])


async def _body(engine: Engine, request: Request) -> dict[str, Any]:
    text = await body_of(request, engine.limits)
    body: Any = JSON.decode(text, engine.limits) if text else {}
    if not isinstance(body, dict):
        raise FarsideError("invalid_argument", f"expected a body that is an object, got {type(body).__name__}")
    return cast("dict[str, Any]", body)


def _namespace(place: Mapping[str, Any]) -> list[str]:
    """The segments of a ``checkpoint_ns``; the hooks join them with a NUL."""
    return [part for part in (_text(place, "checkpoint_ns") or "").replace("\0", "|").split("|") if part]


def _before(body: Mapping[str, Any]) -> str | None:
    if not isinstance(body.get("before"), dict):
        return _text(body, "before")
    before = _object(body, "before")
    return _text(before, "checkpoint_id") or _text(_object(before, "configurable"), "checkpoint_id")


def _object(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = body.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise FarsideError("invalid_argument", f"{key}: expected an object, got {type(found).__name__}")
    return cast("dict[str, Any]", found)


def _text(body: Mapping[str, Any], key: str) -> str | None:
    found = body.get(key)
    if found is not None and not isinstance(found, str):
        raise FarsideError("invalid_argument", f"{key}: expected a string, got {type(found).__name__}")
    return found or None
