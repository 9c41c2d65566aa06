"""Pages of the official clients that lost their WebSocket: who comes back, and what may be lost with it. Pure.

Such a page says nowhere who it is. But it numbers its commands, and goes on counting when it has connected anew, while
a page that was loaded anew begins with 1 (observed with `@langchain/langgraph-sdk` 1.11.0).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Absence:
    """A client whose connection is gone. ``last_command_id``: that of the last command that came from it."""

    client_id: str
    last_command_id: int

    def may_have_lost(self, first_command_id: int) -> bool:
        """Whether the page has sent something that did not arrive, if this is the id of its next command."""
        return first_command_id > self.last_command_id + 1


def who_comes_back(absences: Iterable[Absence], first_command_id: int) -> Absence | None:
    """Whose new connection it is that begins with this command id; None for a page that was loaded anew."""
    earlier = (each for each in absences if 0 < each.last_command_id < first_command_id)
    return max(earlier, key=lambda each: each.last_command_id, default=None)
