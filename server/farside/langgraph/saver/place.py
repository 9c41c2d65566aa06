"""Where a checkpoint is, in LangGraph's config."""

from __future__ import annotations

from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig


class Place(NamedTuple):
    """A thread, a namespace in it, and a checkpoint in that; None for the newest."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None

    @staticmethod
    def of(config: RunnableConfig) -> Place:
        """The place that a config names.

        Raises:
            ValueError: it names no thread.
        """
        configurable: dict[str, Any] = config.get("configurable") or {}
        if configurable.get("thread_id") is None:
            raise ValueError(
                "config: expected configurable.thread_id, got none; "
                'pass config={"configurable": {"thread_id": "..."}} when you run a graph with a checkpointer'
            )
        checkpoint_id = configurable.get("checkpoint_id")
        return Place(
            str(configurable["thread_id"]),
            str(configurable.get("checkpoint_ns") or ""),
            str(checkpoint_id) if checkpoint_id else None,
        )

    def config(self) -> RunnableConfig:
        """The config that names it."""
        return {"configurable": self._asdict()}
