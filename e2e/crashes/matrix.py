"""The crash matrix, the page's half: its points, its ways, and what must be true of a turn afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from e2e.browser.conftest import Message, View, new_thread

Way = Literal["reload", "kill the page", "kill the browser"]
Outcome = tuple[str, Any]
"""``success`` and the value, or ``error`` and the code."""

POINTS = (
    *("before asked", "during asked", "after asked"),
    "before claim",
    "after claim",
    "claim replied",
    *("before started", "during started", "after started"),
    "body begun",
    "body finished",
    *("before result", "during result", "after result"),
    "before settle",
    "after settle",
    *("before forget", "during forget", "after forget"),
    "settle replied",
)
"""What page/points.js names, in the order in which a page comes by; the last one may come among those before it.

``during`` a write it is on its way to the disk, ``after`` it is there.
"""

AGENTS = ("function", "graph")

TOOLS = ("hold_again", "hold")
"""An idempotent one, and one that is not."""


@dataclass
class Turn:
    """One turn with one call, whose page ends at a point.

    Known afterwards: ``record``, what the pages told; ``told``, what the agent was told of its calls; ``view``, what
    the last page shows; ``kinds``, the types of the messages in the history on the server.
    """

    agent: str
    way: Way
    point: str
    tool: str
    thread: str = field(default_factory=new_thread)
    record: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    told: list[Message] = field(default_factory=list[Message])
    view: View = field(default_factory=dict[str, Any])
    kinds: list[str] = field(default_factory=list[str])

    @property
    def passed(self) -> list[str]:
        """The points that the page passed before it ended, and the one at which it did."""
        return [entry["point"] for entry in self._before if "point" in entry]

    @property
    def found(self) -> str:
        """What the next page found in the journal."""
        notes = next(entry["found"] for entry in self.record if "found" in entry)
        return " and ".join(notes) or "nothing"

    @property
    def runs(self) -> tuple[list[str], list[str]]:
        """The runs of the body: in the page that ended, and in the next one."""
        every = [entry["run"] for entry in self.record if "run" in entry]
        first = [entry["run"] for entry in self._before if "run" in entry]
        return first, every[len(first) :]

    @property
    def forgets(self) -> bool:
        """Whether the next page has something to forget."""
        return self.found != "nothing" or self.runs[1] != []

    @property
    def outcomes(self) -> list[Outcome]:
        """What the agent was told, without the prose."""
        return [(end["status"], end["value"] if end["status"] == "success" else end["code"]) for end in self.told]

    def __str__(self) -> str:
        first, second = self.runs
        ends = " and ".join(status if status == "success" else detail for status, detail in self.outcomes)
        return f"{self.tool} of the {self.agent}: {self.found:7}  {len(first)} + {len(second)}  {ends:11}"

    def complaint(self) -> str:
        """What is wrong, empty for nothing."""
        first, second = self.runs
        in_order = [point for point in self.passed if point != "settle replied"]
        if self.passed[-1] != self.point or in_order != list(POINTS[: len(in_order)]):
            return f"expected the points in their order, up to this one; the page passed {self.passed}"
        if len(first) != ("body begun" in self.passed):
            return f"the page ran the body {len(first)} times, and passed {self.passed}"
        if self.found not in self._notes():
            return f"expected the journal to hold {self._notes()}, it held {self.found}"
        if self.tool == "hold" and len(first + second) > 1:
            return f"the body ran {len(first + second)} times"
        outcome = (first + second, self.outcomes)
        if outcome not in (allowed := self._allowed(first, second)):
            return f"expected one of {allowed}, got {outcome}"
        if self.kinds != (expected := ["human", *(["ai", "tool"] if self.agent == "graph" else []), "ai"]):
            return f"expected the history {expected}, it is {self.kinds}"
        states = [call["state"] for call in self.view["calls"]]
        if states != ["answered" if self.outcomes[0][0] == "success" else "failed"]:
            return f"expected one call that has ended, the page shows {states}"
        return ""

    @property
    def _before(self) -> list[dict[str, Any]]:
        """The record up to the point."""
        stop = next(at for at, entry in enumerate(self.record) if "stopped" in entry)
        return self.record[: stop + 1]

    def _notes(self) -> set[str]:
        """What the journal may hold: what the page asked for, and heard no more of, is there or not."""
        notes = {"nothing"}
        for write, note in {"asked": "asked", "started": "started", "result": "result", "forget": "nothing"}.items():
            if f"after {write}" in self.passed:
                notes = {note}
            elif f"before {write}" in self.passed[:-1]:
                notes |= {note}
        return notes

    def _allowed(self, first: list[str], second: list[str]) -> list[tuple[list[str], list[Outcome]]]:
        """The runs that the body may have had, with what the agent is then told."""
        runs = [*first, second[0] if second else "a second run"]
        once_more = (runs, [("success", runs[-1])])
        interrupted = (first, [("error", "interrupted")])
        if self.found == "result" or not {"before forget", "settle replied"}.isdisjoint(self.passed):
            return [(first, [("success", run) for run in first])]
        # What was only asked for has not begun, whether the server had given it to the page or not.
        return [interrupted if self.tool == "hold" and self.found == "started" else once_more]
