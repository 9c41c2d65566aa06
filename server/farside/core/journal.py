"""What a plain function agent did in a run, and whether a replay still does the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farside.core.model import Call, JournalEntry
from farside.errors import FarsideError


class Journal:
    """The recorded steps, texts and calls of one run, by position.

    A position names the place in the program where something was asked for; it is the same in every replay.
    """

    def __init__(self, run_id: str, entries: Mapping[str, JournalEntry], calls: Mapping[str, Call]) -> None:
        self._run_id = run_id
        self._entries = entries
        self._calls = calls
        self._unreached = {*entries, *calls}

    def call(self, position: str, name: str, args: Mapping[str, Any]) -> Call | None:
        """The call that was opened here, None when there was none yet.

        Raises:
            FarsideError: ``journal_mismatch`` when something else was recorded here.
        """
        self._unreached.discard(position)
        entry, call = self._entries.get(position), self._calls.get(position)
        if entry is not None:
            raise self._mismatch(position, _describe(entry.kind, entry.name), f"call {name}")
        if call is not None and (call.name != name or call.args != args):
            raise self._mismatch(position, f"call {call.name} with {call.args}", f"call {name} with {args}")
        return call

    def entry(self, position: str, kind: str, name: str) -> JournalEntry | None:
        """The step or text that was recorded here, None when there was none yet. Raises as :meth:`call`."""
        self._unreached.discard(position)
        entry, call = self._entries.get(position), self._calls.get(position)
        if call is not None:
            raise self._mismatch(position, f"call {call.name}", _describe(kind, name))
        if entry is not None and (entry.kind, entry.name) != (kind, name):
            raise self._mismatch(position, _describe(entry.kind, entry.name), _describe(kind, name))
        return entry

    def finish(self) -> None:
        """The function returned: a replay must have come by everything that was recorded. Raises as :meth:`call`."""
        if self._unreached:
            raise self._mismatch(min(self._unreached), "something recorded", "the end of the function")

    def _mismatch(self, position: str, recorded: str, asked: str) -> FarsideError:
        return FarsideError(
            "journal_mismatch",
            f"run {self._run_id}, position {position.removeprefix(self._run_id + ':')}: the journal has {recorded}, "
            f"the agent now asks for {asked}; the code changed, or does something by chance or time outside turn.step. "
            "Bring the old code back, or start a new run",
        )


def _describe(kind: str, name: str) -> str:
    return f"{kind} {name}" if name else kind
