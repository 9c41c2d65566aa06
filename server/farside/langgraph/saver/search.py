"""Which checkpoints ``list`` gives: conditions on the rows, as LangGraph's SQLite savers understand them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

_KEY = re.compile(r"[a-zA-Z0-9_.-]+")

Condition = tuple[str, list[Any]]
"""SQL on the columns of ``c``, and its parameters."""


def condition(
    config: RunnableConfig | None, filter: Mapping[str, Any] | None, before: RunnableConfig | None
) -> Condition:
    """The condition for what was asked.

    Args:
        config: the thread, and if it says so the namespace and the checkpoint.
        filter: what the metadata must be equal to, by key; a key with dots goes into objects.
        before: the checkpoints must be older than this one.

    Raises:
        ValueError: a key of the filter is malformed.
    """
    conditions: list[str] = ["1"]
    parameters: list[Any] = []
    if config is not None:
        configurable: Mapping[str, Any] = config.get("configurable") or {}
        for column, value in (
            ("thread_id", str(configurable["thread_id"])),
            ("checkpoint_ns", configurable.get("checkpoint_ns")),
            ("checkpoint_id", configurable.get("checkpoint_id") or None),
        ):
            if value is not None:
                conditions.append(f"c.{column} = ?")
                parameters.append(value)
    for key, value in (filter or {}).items():
        if not _KEY.fullmatch(key):
            raise ValueError(
                f"filter key {key!r}: expected letters, digits and _ . - only; name a key of the checkpoints' metadata"
            )
        conditions.append(f"json_extract(CAST(c.metadata AS TEXT), '$.{key}') IS ?")
        parameters.append(_comparable(value))
    if before is not None:
        conditions.append("c.checkpoint_id < ?")
        parameters.append((before.get("configurable") or {}).get("checkpoint_id"))
    return " AND ".join(conditions), parameters


def _comparable(value: Any) -> Any:
    """The value as ``json_extract`` gives it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"))
    return str(value)
