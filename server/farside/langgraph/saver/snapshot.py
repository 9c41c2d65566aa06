"""LangGraph's snapshot of a delta channel's value, which has no public name."""

from __future__ import annotations

from langgraph.checkpoint.serde.types import _DeltaSnapshot as DeltaSnapshot  # pyright: ignore[reportPrivateUsage]

__all__ = ["DeltaSnapshot"]
