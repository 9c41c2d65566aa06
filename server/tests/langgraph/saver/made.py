"""Checkpoints made by hand, and what is in the tables."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint

_numbers = itertools.count(1)


def message(text: str = "hi", **fields: Any) -> AIMessage:
    """A message with an id."""
    return AIMessage(text, id=f"message-{next(_numbers)}", **fields)


def config(thread_id: str = "t", *, ns: str = "", parent: str | None = None) -> Any:
    """Names a thread and maybe a checkpoint."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": parent}}


def checkpoint(messages: Sequence[BaseMessage], **values: Any) -> Checkpoint:
    """A checkpoint that is newer than those before."""
    return {
        **empty_checkpoint(),
        "id": f"{next(_numbers):012}",
        "channel_values": {"messages": list(messages), **values},
    }


def put(given: Sequence[BaseMessage], thread_id: str = "t", **place: Any) -> tuple[Any, ...]:
    """The arguments of ``put`` for a list of messages."""
    return config(thread_id, **place), checkpoint(given), {"source": "loop", "step": 1}, {"messages": "1"}


def messages_of(found: Any) -> list[Any]:
    """The messages of a checkpoint tuple."""
    return found.checkpoint["channel_values"]["messages"]


def rows(path: Path, query: str, *parameters: Any) -> list[Any]:
    """What a query finds in a file."""
    with sqlite3.connect(path) as db:
        return db.execute(query, parameters).fetchall()


def items(path: Path) -> int:
    """How many messages are stored."""
    return rows(path, "SELECT COUNT(*) FROM farside_saver_items")[0][0]
