"""What the agents declare of their headless tools, and which pages were built for something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from farside.core.ports import Runtime
from farside.core.routing import Mismatch, Presence


class Declared:
    """The fingerprints of the tools that are known now: an agent may declare more when it calls them.

    Args:
        runtimes: the agents by name.
        is_strict: whether a page with another fingerprint for a tool is offered no call of it.
    """

    def __init__(self, runtimes: Mapping[str, Runtime], *, is_strict: bool) -> None:
        self._runtimes = runtimes
        self.is_strict = is_strict

    def needed(self, agent: str, tool: str) -> str | None:
        """The fingerprint without which a page is not offered a call of the agent's, None where any will do."""
        runtime = self._runtimes.get(agent) if self.is_strict else None
        found = None if runtime is None else runtime.tool(tool)
        return None if found is None else found.fingerprint

    def mismatches(self, announced: Mapping[str, str]) -> Iterator[Mismatch]:
        """The tools of a page that no agent declares with the fingerprint that it has for them, and some with another.

        Args:
            announced: the page's fingerprints, by tool name.
        """
        for name, fingerprint in announced.items():
            found = [tool.fingerprint for each in self._runtimes.values() if (tool := each.tool(name)) is not None]
            if found and fingerprint not in found:
                yield Mismatch(name, fingerprint, found[0])


def outdated(presence: Presence, tool: str, needed: str | None) -> Mismatch | None:
    """What keeps a page that implements the tool from its calls, None when nothing does."""
    fingerprint = presence.fingerprints.get(tool)
    if needed is None or fingerprint in (None, needed):
        return None
    return Mismatch(tool, fingerprint, needed)
