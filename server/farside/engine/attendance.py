"""Who is here, who has left, and who has come back."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from farside.core.absence import Absence, who_comes_back
from farside.core.calls import Leave, Return, transition
from farside.core.ports import Listener
from farside.engine.thread import LiveThread

if TYPE_CHECKING:
    from farside.engine.engine import Engine

CLOSE_SUPERSEDED = 4001
"""The WebSocket close code for a connection whose client has connected anew."""


UNKNOWN = ""
"""The starter of a run whose command does not say who sends it."""

_LATE_MS = 1_000
"""How long an answer may take that was sent while its page had no connection; observed: 1 ms."""

_MAX_ABSENCES = 16


class Attendance:
    """The connections of an engine's threads, and the clients that they speak for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def listens(self, thread_id: str, listener: Listener, back: Return | None) -> None:
        """A client said what it can do, or began to listen: what waits may be for it.

        Args:
            back: makes what it holds its own again.
        """
        async with self._engine.threads.locked(thread_id) as live:
            for clients in live.passed.values():
                clients.discard(listener.client_id)
            if back is not None:
                await self._keep(live, back)
            active, presence = live.active, listener.presence
            if active is not None and active.run.starter == UNKNOWN and presence is not None and presence.visible:
                # It is the one that sent the command: its streams come after that.
                active.run = replace(active.run, starter=listener.client_id)
            await self._engine.chores.do(live)

    async def _keep(self, live: LiveThread, back: Return | Leave) -> None:
        now = self._engine.clock.now()
        held = [(call, back) for call in live.calls.values() if transition(call, back, now).call != call]
        if held:
            await live.apply(held, now)
            self._engine.look_at_time()

    async def came_back(self, thread_id: str, listener: Listener, first_command_id: int) -> None:
        """A plain connection sends its first command: it may be that of a page which lost another one.

        What the page holds is its own again, unless it has sent something that did not arrive: if that was its answer
        it never sends it again, so it has a moment for what was only late.
        """
        if not self._engine.threads.is_loaded(thread_id):
            return
        async with self._engine.threads.locked(thread_id) as live:
            absence = who_comes_back(live.absences, first_command_id)
            if absence is None:
                return
            live.absences.remove(absence)
            listener.speak_for(absence.client_id)
            lost = absence.may_have_lost(first_command_id)
            back = Leave(absence.client_id, _LATE_MS) if lost else Return(absence.client_id, None)
            await self._keep(live, back)

    def supersede(self, thread_id: str, listener: Listener, clients: AbstractSet[str]) -> None:
        """A client has connected anew, maybe under another id: nothing more is carried out of what its older
        connections sent, so that what is late cannot undo what the new one does."""
        for other in self._engine.bus.listeners(thread_id):
            if other is not listener and other.client_id in clients:
                other.retire()
                other.hang_up(CLOSE_SUPERSEDED, "another connection speaks for the client now")

    async def left(self, thread_id: str, listener: Listener, grace_ms: int, last_command_id: int = 0) -> None:
        """A connection is gone (and detached). If it was its client's last, its calls are another's, soon.

        Args:
            grace_ms: how long the client may take to come back.
            last_command_id: by which a plain client is known again; 0 for one that is known by its name.
        """
        if not self._engine.threads.is_loaded(thread_id):
            return
        async with self._engine.threads.locked(thread_id) as live:
            live.gone[listener.client_id] = grace_ms
            if last_command_id:
                live.absences = [*live.absences, Absence(listener.client_id, last_command_id)][-_MAX_ABSENCES:]
            await self._engine.chores.do(live)

    async def take_back(self, live: LiveThread) -> None:
        """Under the lock: take calls from the clients that have left, unless they are here again."""
        here = {listener.client_id for listener in self._engine.bus.listeners(live.id)}
        gone = {client_id: grace_ms for client_id, grace_ms in live.gone.items() if client_id not in here}
        held = [
            (call, Leave(client_id, gone[client_id]))
            for call in live.calls.values()
            if (client_id := call.client_id) is not None and client_id in gone
        ]
        if held:
            await live.apply(held, self._engine.clock.now())
            self._engine.look_at_time()
        live.gone.clear()
