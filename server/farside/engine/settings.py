"""The engine's settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from farside.core.limits import Meter

Policy = Literal["cancel", "refuse", "queue"]
"""What becomes of a new message: the run before it is cancelled, the message refused, or its run queued."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an app decides about times, new messages and limits. Times are in milliseconds unless they say seconds.

    Args:
        default_timeout: seconds until a call whose tool has no timeout expires, None for never.
        lease_ms: how long a claim lasts unrenewed.
        claim_ms: how long a client may take to claim a call that it is offered, before the next one is asked.
        grace_ms: how long a client that is gone may take to come back before its calls are taken from it.
        ping_ms: how often a client is asked for a sign of life; after twice as long a silence it counts as gone.
        on_new_message: what becomes of a message while the run before it waits for a tool or an answer.
        on_active_run: what becomes of a message while the run before it executes.
        max_tool_calls, max_model_turns: how many of each one run may have, None for any number; one that wants more
            fails with ``limit_exceeded``.
        max_queued: how many messages may wait for their turn on a thread, None for any number.
        process_ms: how long a process may give no sign of life before others take over its threads.
    """

    default_timeout: float | None = 300
    lease_ms: int = 30_000
    claim_ms: int = 5_000
    grace_ms: int = 10_000
    ping_ms: int = 10_000
    on_new_message: Policy = "cancel"
    on_active_run: Policy = "queue"
    max_tool_calls: int | None = 500
    max_model_turns: int | None = 500
    max_queued: int | None = 100
    process_ms: int = 15_000

    def meter(self) -> Meter:
        """A meter for one run."""
        return Meter(self.max_tool_calls, self.max_model_turns)
