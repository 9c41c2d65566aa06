"""Runs that begin at a checkpoint, and not where their thread stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from farside.core.ports import AgentGraph, Runtime
from farside.errors import FarsideError
from farside.wire.messages import MISSING, RunStartParams


def checkpoint_of(config: Mapping[str, Any]) -> str | None:
    """The checkpoint at which a run with this config begins."""
    return _configurable(config).get("checkpoint_id") or None


def beginning_at(config: Mapping[str, Any], checkpoint_id: str | None) -> dict[str, Any]:
    """The config for a run that begins at the checkpoint, None for where its thread stands."""
    rest = {key: value for key, value in _configurable(config).items() if key != "checkpoint_id"}
    if checkpoint_id is not None:
        return {**config, "configurable": {**rest, "checkpoint_id": checkpoint_id}}
    return {**config, "configurable": rest} if "configurable" in config else dict(config)


def fork_of(params: RunStartParams) -> str | None:
    """The checkpoint at which a client wants its run to begin.

    Raises:
        FarsideError: ``invalid_argument``; ``not_supported`` for a checkpoint of a graph within the agent.
    """
    config = {} if params.config is MISSING else params.config
    found = params.fork_from if params.fork_from is not MISSING else _configurable(config).get("checkpoint_id")
    if found is not None and not isinstance(found, str):
        message = f"config.configurable.checkpoint_id: expected the id of a checkpoint, got {found!r}"
        raise FarsideError("invalid_argument", message)
    if found and _configurable(config).get("checkpoint_ns"):
        message = "config.configurable.checkpoint_ns: expected none, a run begins at a checkpoint of the agent itself"
        raise FarsideError("not_supported", f"{message}; leave it out")
    return found or None


def graph_of(runtime: Runtime | None, agent: str) -> AgentGraph:
    """The agent as a graph.

    Raises:
        FarsideError: ``not_supported``.
    """
    if runtime is None or runtime.graph is None:
        message = f"expected an agent that is a LangGraph graph, {agent!r} is none and keeps no checkpoints"
        raise FarsideError("not_supported", f"{message}; start a run without one")
    return runtime.graph


def _configurable(config: Mapping[str, Any]) -> dict[str, Any]:
    found = config.get("configurable")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
