"""The commands that need no connection: whoever speaks for a thread may send them, whatever carries them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from farside.core.ports import AgentState
from farside.engine.engine import Engine
from farside.errors import FarsideError
from farside.wire import messages as wire
from farside.wire.messages import MISSING

logger = logging.getLogger("farside.connection")

_T = TypeVar("_T")

_NOT_INJECTED = (
    "a message cannot be put into a run that is under way: it would come between a tool call and its result; "
    "send run.start, with multitask_strategy 'enqueue' to have it heard after the run, or 'interrupt' for at once"
)

Outcome = tuple[dict[str, Any], int]
"""A command's result, and the seq that it takes account of."""


async def attempt(engine: Engine, method: str, work: Callable[[], Awaitable[_T]]) -> _T:
    """Do what a command asks for.

    Raises:
        FarsideError: what the work raises; ``internal`` with a trace id for anything that nobody expected.
    """
    try:
        return await work()
    except FarsideError:
        raise
    except Exception as error:
        trace_id = engine.new_id()
        logger.exception("%s failed (trace id %s)", method, trace_id)
        message = f"an unexpected error; the server's log has it under trace id {trace_id}"
        raise FarsideError("internal", message) from error


async def carry_out(engine: Engine, thread_id: str, params: wire.Model, client_id: str, *, plain: bool) -> Outcome:
    """Carry out a command.

    Args:
        client_id: who sends it.
        plain: whether the client speaks the Agent Streaming Protocol alone.

    Raises:
        FarsideError: as the protocol says; ``not_supported`` for a command that needs a connection.
    """
    result: dict[str, Any] = {}
    match params:
        case wire.RunStartParams():
            result = {"run_id": await engine.runs.start(thread_id, params, client_id)}
        case wire.RunCancelParams():
            await engine.runs.cancel(thread_id, optional(params.run_id))
        case wire.InputRespondParams():
            await engine.answers.respond(thread_id, params, client_id, is_plain=plain)
        case wire.InputInjectParams():
            raise FarsideError("not_supported", _NOT_INJECTED)
        case wire.StateGetParams():
            return await _state(engine, thread_id, params, plain=plain)
        case wire.ListCheckpointsParams():
            found = await engine.histories.checkpoints(
                thread_id, params.namespace, params.limit, optional(params.before)
            )
            result = {"checkpoints": [_summary(state) for state in found]}
        case wire.StateForkParams():
            result = {"run_id": await engine.runs.fork(thread_id, params, client_id), "thread_id": thread_id}
        case wire.AgentGetTreeParams():
            result = {"tree": await engine.histories.tree(thread_id, optional(params.run_id))}
        case wire.ReconnectParams():
            result = await engine.histories.missed(thread_id, params.run_id, optional(params.last_event_id))
        case _:
            raise FarsideError("not_supported", "this command needs a WebSocket; connect with one")
    return result, await engine.seq(thread_id)


def optional(value: Any) -> Any:
    """A parameter, None where it is absent."""
    return None if value is MISSING else value


def _summary(state: AgentState) -> dict[str, Any]:
    """A checkpoint as ``state.listCheckpoints`` lists it."""
    summary: dict[str, Any] = {
        "id": state.checkpoint_id,
        "timestamp": state.created_at or "",
        "step": state.metadata.get("step", -1),
        "metadata": dict(state.metadata),
    }
    return summary


async def _state(engine: Engine, thread_id: str, params: wire.StateGetParams, *, plain: bool) -> Outcome:
    found = await engine.state(thread_id, params.namespace)
    values = found.state.values
    if params.keys is not MISSING:
        values = {key: value for key, value in values.items() if key in params.keys}
    result: dict[str, Any] = {"values": values}
    if found.state.checkpoint_id is not None:
        result["checkpoint"] = {"id": found.state.checkpoint_id}
        if params.namespace:
            result["checkpoint"]["ns"] = "|".join(params.namespace)
    if not plain:
        result["calls"] = [call.snapshot() for call in found.calls if call.kind == "tool"]
        result["queued"] = [{"run_id": run.id, "assistant_id": run.agent, "input": run.input} for run in found.queued]
        if found.run is not None:
            run = {"run_id": found.run.id, "assistant_id": found.run.agent, "status": found.run.status}
            result["run"] = run if found.run.error is None else {**run, "error": found.run.error.model_dump()}
    return result, found.seq
