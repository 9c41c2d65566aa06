"""The config with which a run's legs enter its graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from farside.core.ports import Leg
from farside.errors import FarsideError
from farside.langgraph.served import CONFIG_KEY, RUN_ID, Served

_OURS = frozenset({"thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "run_id"})
"""Keys of ``configurable`` and ``metadata`` that a client does not choose: LangGraph finds its place by them."""


def run_config(leg: Leg, lent: Served) -> RunnableConfig:
    """What the client has asked for, the keys that it does not choose, and what is lent to the leg.

    Raises:
        FarsideError: ``invalid_argument``: what the client has sent is malformed.
    """
    given = leg.config
    config = RunnableConfig(
        configurable={
            **{key: value for key, value in _dict(given, "configurable").items() if not _is_ours(key)},
            "thread_id": leg.thread_id,
            CONFIG_KEY: lent,
        },
        metadata={
            **{key: value for key, value in _dict(given, "metadata").items() if key not in _OURS},
            RUN_ID: leg.run_id,
        },
    )
    if "recursion_limit" in given:
        limit = given["recursion_limit"]
        if type(limit) is not int or limit < 1:
            raise FarsideError(
                "invalid_argument", f"config.recursion_limit: expected an integer above 0, got {limit!r}"
            )
        config["recursion_limit"] = limit
    return config


def _dict(given: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = given.get(key, {})
    if not isinstance(value, dict):
        raise FarsideError("invalid_argument", f"config.{key}: expected an object, got {value!r}")
    return cast("dict[str, Any]", value)


def _is_ours(key: str) -> bool:
    return key in _OURS or key.startswith("__")
