"""LangGraph's snapshot of a delta channel's value, which has no public name."""

from __future__ import annotations

from langgraph.checkpoint.serde import types

DeltaSnapshot = types._DeltaSnapshot  # pyright: ignore[reportPrivateUsage]
