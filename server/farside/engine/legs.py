"""Legs: the tasks that drive the runtimes, and what happens when one ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from farside.core.calls import Action, Cancel
from farside.core.model import Call
from farside.core.ports import Emit, Leg
from farside.engine.desk import RunDesk
from farside.engine.log import Draft
from farside.engine.thread import LiveRun, LiveThread
from farside.errors import CODES, FarsideError
from farside.wire.messages import ErrorBody

if TYPE_CHECKING:
    from farside.engine.engine import Engine

logger = logging.getLogger("farside.engine")


class Legs:
    """Starts, resumes, recovers and stops the legs of an engine's runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def start(self, live: LiveThread, active: LiveRun) -> None:
        """Begin a run."""
        self._launch(live, active, "start", {})

    async def recover(self, live: LiveThread, active: LiveRun) -> None:
        """Under the lock: go on with a run that another process, now gone, was driving."""
        runtime = self._engine.runtime(active.run.agent)
        if runtime.replays or not live.open_calls(active.run.id):
            self._launch(live, active, "recover", await self._settled(live, active.run.id))
        await self._engine.offer_open(live)

    def answered(self, live: LiveThread, calls: Sequence[Call]) -> None:
        """Under the lock: calls have ended; go on where that completes what a run waits for."""
        active = live.active
        if active is None:
            return
        mine = [call for call in calls if call.run_id == active.run.id]
        if self._engine.runtime(active.run.agent).replays:
            for call in mine:
                if call.result is not None and not active.answer(call.interrupt_id).done():
                    active.answer(call.interrupt_id).set_result(call.result)
        elif mine and active.leg is None and not live.open_calls(active.run.id):
            self._resume(live, active)

    async def stop(self, live: LiveThread) -> None:
        """Stop the leg of the active run, wherever it is, and wait until it has stopped."""
        active = live.active
        if active is None or active.leg is None:
            return
        leg, active.leg = active.leg, None
        leg.cancel()
        await asyncio.wait([leg])

    async def cancel(self, live: LiveThread, active: LiveRun, reason: str) -> None:
        """Under the lock: stop the leg, end the run and its calls as cancelled, close the history."""
        await self.stop(live)
        gone = {"event": "interrupted", "graph_name": active.run.agent, "run_id": active.run.id, "code": "cancelled"}
        await self._close(live, active, "cancelled", None, gone, reason)
        await self._abandon(live, active, reason)

    def _resume(self, live: LiveThread, active: LiveRun) -> None:
        answers, active.batch = active.batch, {}
        if active.fresh:
            self._launch(live, active, "resume", answers)
        else:
            active.leg = asyncio.create_task(self._recover_leg(live, active))

    async def _recover_leg(self, live: LiveThread, active: LiveRun) -> None:
        await self._drive(live, active, "recover", await self._settled(live, active.run.id))

    def _launch(self, live: LiveThread, active: LiveRun, kind: Any, answers: dict[str, Call]) -> None:
        active.leg = asyncio.create_task(self._drive(live, active, kind, answers))

    async def _drive(self, live: LiveThread, active: LiveRun, kind: Any, answers: dict[str, Call]) -> None:
        run = active.run
        runtime = self._engine.runtime(run.agent)
        try:
            leg = Leg(kind, live.id, run.id, run.input, run.config, answers)
            desk = await self._desk(live, active, replay=runtime.replays and kind != "start")
            async with aclosing(runtime.run(leg, desk)) as items:
                async for item in items:
                    if isinstance(item, Emit):
                        live.log.emit(run.id, item)
                    else:
                        async with live.lock:
                            timeout = self._engine.settings.default_timeout
                            await live.open(active, item.calls, self._engine.clock.now(), timeout)
                            self._engine.look_at_time()
                            await self._engine.offer_open(live)
            async with live.lock:
                await self._ended(live, active, pauses=not runtime.replays)
        except Exception as error:
            async with live.lock:
                await self._failed(live, active, error)

    async def _desk(self, live: LiveThread, active: LiveRun, *, replay: bool) -> RunDesk:
        store, run = self._engine.store, active.run
        journal = {entry.position: entry for entry in await store.journal(run.id)} if replay else {}
        calls = {call.interrupt_id: call for call in await store.calls(live.id, run_id=run.id)} if replay else {}
        return RunDesk(live, active, self._engine.bus, journal, calls)

    async def _ended(self, live: LiveThread, active: LiveRun, *, pauses: bool) -> None:
        active.leg = None
        active.fresh = True
        if pauses and live.open_calls(active.run.id):
            return
        if pauses and active.batch:
            self._resume(live, active)
            return
        done = {"event": "completed", "graph_name": active.run.agent, "run_id": active.run.id}
        await self._close(live, active, "completed", None, done, "the agent ended without waiting for it")

    async def _failed(self, live: LiveThread, active: LiveRun, error: Exception) -> None:
        active.leg = None
        if isinstance(error, FarsideError) and CODES[error.code].family == "run":
            body = ErrorBody(code=error.code, message=error.message)
        else:
            trace_id = self._engine.new_id()
            logger.error("run %s failed (trace id %s)", active.run.id, trace_id, exc_info=error)
            message = f"the agent raised an exception; the server's log has it under trace id {trace_id}"
            body = ErrorBody(code="agent_failed", message=message)
        failed = {"event": "failed", "graph_name": active.run.agent, "run_id": active.run.id}
        failed |= {"error": body.message, "code": body.code}
        try:
            await self._close(live, active, "failed", body, failed, "the run failed")
        except Exception:
            logger.exception("run %s failed, which could not be stored; the next start goes on with it", active.run.id)
            return
        await self._abandon(live, active, "the run failed")

    async def _abandon(self, live: LiveThread, active: LiveRun, reason: str) -> None:
        run = active.run
        try:
            answers = await self._settled(live, run.id)
            await self._engine.runtime(run.agent).abandon(live.id, run.id, reason, answers)
        except Exception:
            logger.exception("run %s was given up, but its history could not be closed", run.id)

    async def _settled(self, live: LiveThread, run_id: str) -> dict[str, Call]:
        calls = await self._engine.store.calls(live.id, run_id=run_id)
        return {call.interrupt_id: call for call in calls if call.ended}

    async def _close(
        self, live: LiveThread, active: LiveRun, status: Any, error: ErrorBody | None, event: Any, reason: str
    ) -> None:
        """The run is over: one transaction for its status, its last event and the end of calls nobody waits for."""
        changes: list[tuple[Call, Action]] = [(call, Cancel(reason)) for call in live.open_calls(active.run.id)]
        ended = replace(active.run, status=status, error=error)
        now = self._engine.clock.now()
        await live.apply(changes, now, writes=[ended], drafts=[Draft(ended.id, "lifecycle", event)])
        live.log.forget_unfinished()
        live.active = None
