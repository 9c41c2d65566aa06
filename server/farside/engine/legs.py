"""Legs: the tasks that drive the runtimes, and what happens when one ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from farside.core.calls import Action, Cancel
from farside.core.model import Call, JournalEntry, Run, RunStatus, ThreadUpdate
from farside.core.ports import Emit, LeaseLost, Leg, Opened, Runtime, StaleWrite
from farside.core.transcript import ending, text_so_far, unfinished, void
from farside.engine.desk import RunDesk
from farside.engine.directives import directives_of
from farside.engine.forks import checkpoint_of
from farside.engine.insist import insist
from farside.engine.log import Draft
from farside.engine.thread import LiveRun, LiveThread
from farside.errors import CODES, FarsideError
from farside.wire.messages import ErrorBody

if TYPE_CHECKING:
    from farside.engine.engine import Engine

logger = logging.getLogger("farside.engine")

_GRACE_SECONDS = 10.0
"""How long an agent that was cancelled may take to stop."""

_Kind = Literal["start", "resume", "recover"]
_T = TypeVar("_T")


class Legs:
    """Starts, resumes, recovers and stops the legs of an engine's runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def start(self, live: LiveThread, run: Run) -> None:
        """Under the lock: begin a run."""
        live.active = LiveRun(run, fresh=True, meter=self._engine.settings.meter())
        self._launch(live, live.active, "start")

    def recover(self, live: LiveThread, active: LiveRun) -> None:
        """Under the lock: go on with a run that another process, now gone, was driving."""
        if self._engine.runtime(active.run.agent).replays or not live.open_calls(active.run.id):
            self._launch(live, active, "recover")

    def answered(self, live: LiveThread, calls: Sequence[Call]) -> None:
        """Under the lock: calls have ended; go on where that completes what a run waits for."""
        active = live.active
        runtime = None if active is None else self._engine.served(active.run.agent)
        if active is None or runtime is None:
            return
        mine = [call for call in calls if call.run_id == active.run.id]
        if runtime.replays:
            for call in mine:
                if call.result is not None and not active.answer(call.interrupt_id).done():
                    active.answer(call.interrupt_id).set_result(call.result)
        elif mine and active.leg is None and not live.open_calls(active.run.id):
            self._resume(live, active)

    async def stop(self, live: LiveThread) -> None:
        """Under the lock: stop the leg of the active run, wherever it is, and wait until it has stopped.

        An agent that goes on although it was cancelled is left behind after a while; what it still asks for is ignored.
        """
        active = live.active
        if active is None or active.leg is None:
            return
        leg, active.leg = active.leg, None
        leg.cancel()
        await asyncio.wait([leg], timeout=_GRACE_SECONDS)
        if not leg.done():
            logger.error("run %s: the agent goes on although it was cancelled; it is left behind", active.run.id)

    async def cancel(
        self,
        live: LiveThread,
        active: LiveRun,
        reason: str,
        *,
        withdrawn: Sequence[Run] = (),
        replaced_by: str | None = None,
        keeps_input: bool = True,
    ) -> None:
        """Under the lock: stop the leg, end the run and its calls as cancelled, close the history.

        ``withdrawn``: queued runs that end with it, in the same transaction. ``replaced_by``: the run that comes in its
        place. ``keeps_input``: what the user said stays even if the agent did not come to it. If that cannot be stored
        the run goes on as if nobody had asked, and the store's error is raised.
        """
        was_moving = active.leg is not None
        await self.stop(live)
        gone = cancelled(active.run)
        if replaced_by is not None:
            gone["replaced_by"] = replaced_by
        try:
            said = await self._close(live, active, "cancelled", None, gone, reason, withdrawn)
        except (LeaseLost, StaleWrite):
            raise
        except Exception:
            if was_moving:
                self._launch(live, active, "recover")
            raise
        await self._abandon(live, active, reason, said, keeps_input=keeps_input)
        if replaced_by is None:
            await self._show_state(live, active.run)

    def _resume(self, live: LiveThread, active: LiveRun) -> None:
        answers, active.batch = active.batch, {}
        self._launch(live, active, "resume" if active.fresh else "recover", answers)

    def _launch(self, live: LiveThread, active: LiveRun, kind: _Kind, answers: dict[str, Call] | None = None) -> None:
        if kind == "recover":
            active.batch = {}  # what is stored tells
        active.leg = asyncio.create_task(self._drive(live, active, kind, answers or {}))

    async def _drive(self, live: LiveThread, active: LiveRun, kind: _Kind, answers: dict[str, Call]) -> None:
        try:
            await self._run(live, active, kind, answers)
        except StaleWrite as error:
            logger.warning("run %s is taken up again, memory was behind the store: %s", active.run.id, error)
            self._engine.threads.reload(live)
        except (LeaseLost, FarsideError) as error:
            logger.warning("run %s is left to others, or to the next start: %s", active.run.id, error)

    async def _run(self, live: LiveThread, active: LiveRun, kind: _Kind, answers: dict[str, Call]) -> None:
        runtime = self._engine.runtime(active.run.agent)
        failure: Exception | None = None
        try:
            leg, desk = await self._insist(active, lambda: self._prepare(live, active, runtime, kind, answers))
            async with aclosing(runtime.run(leg, desk)) as items:
                async for item in items:
                    if live.active is not active:
                        return  # it was left behind
                    if isinstance(item, Emit):
                        active.meter.count(item.method, item.data)
                        live.log.emit(active.run.id, item)
                    else:
                        await self._insist(active, partial(self._open, live, active, item))
        except (LeaseLost, StaleWrite):
            raise
        except Exception as error:
            failure = error
        await self._insist(active, lambda: self._end(live, active, runtime, failure))
        if live.active is None:
            await self._insist(active, lambda: self._engine.runs.go_on(live.id))

    async def _open(self, live: LiveThread, active: LiveRun, item: Opened) -> None:
        async with live.lock:
            if live.active is active:
                await self._engine.ledger.open(live, active, item.calls)

    async def _insist(self, active: LiveRun, work: Callable[[], Awaitable[_T]]) -> _T:
        """The run must neither be forgotten nor fail because the store does."""
        return await insist(self._engine.clock, f"run {active.run.id}", work)

    async def _prepare(
        self, live: LiveThread, active: LiveRun, runtime: Runtime, kind: _Kind, answers: dict[str, Call]
    ) -> tuple[Leg, RunDesk]:
        store, run = self._engine.store, active.run
        if kind == "recover":
            answers = await live.log.settled(run.id)
            await self._recollect(live, active, runtime)
        replay = runtime.replays and kind != "start"
        journal = await self._journal(live, run) if replay else {}
        calls = {call.interrupt_id: call for call in await store.calls(live.id, run_id=run.id)} if replay else {}
        # A copy of the input: what the agent does to it must not change what is stored.
        directed = kind == "recover" or active.is_directed
        directives = await directives_of(store, run) if directed and not runtime.replays else {}
        leg = Leg(
            kind, live.id, run.id, deepcopy(run.input), run.config, answers, directives, checkpoint_of(run.config)
        )
        needed = partial(self._engine.declared.needed, run.agent)
        return leg, RunDesk(live, active, self._engine.bus, self._engine.clock, journal, calls, needed)

    async def _recollect(self, live: LiveThread, active: LiveRun, runtime: Runtime) -> None:
        """The run goes on: what it has done so far counts, and a message that was being written when its process died
        is made again, as another one."""
        run = active.run
        events = await live.log.replay(await self._engine.before_run(live.id))
        active.meter = self._engine.settings.meter()
        for event in events:
            if event.run_id == run.id:
                active.meter.recall(event.method, event.data)
        live.log.emit(run.id, Emit("lifecycle", {"event": "running", "graph_name": run.agent, "run_id": run.id}))
        if runtime.replays:
            return  # a replay writes the same message again
        for event in unfinished(events, run.id):
            live.log.emit(run.id, Emit("messages", void(event.data["message_id"]), event.namespace))

    async def _end(self, live: LiveThread, active: LiveRun, runtime: Runtime, failure: Exception | None) -> None:
        """The leg is over: the run pauses, resumes, or ends."""
        run = active.run
        async with live.lock:
            if live.active is not active:
                return
            if failure is not None:
                await self._fail(live, active, failure)
            elif not runtime.replays and live.open_calls(run.id):
                active.leg, active.fresh = None, True
            elif not runtime.replays and active.batch:
                active.fresh = True
                self._resume(live, active)
            else:
                done = {"event": "completed", "graph_name": run.agent, "run_id": run.id}
                await self._close(live, active, "completed", None, done, "the agent ended without waiting for it")

    async def _fail(self, live: LiveThread, active: LiveRun, failure: Exception) -> None:
        run = active.run
        if isinstance(failure, FarsideError) and CODES[failure.code].family == "run":
            body = ErrorBody(code=failure.code, message=failure.message)
        else:
            trace_id = self._engine.new_id()
            logger.error("run %s failed (trace id %s)", run.id, trace_id, exc_info=failure)
            message = f"the agent raised an exception; the server's log has it under trace id {trace_id}"
            body = ErrorBody(code="agent_failed", message=message)
        failed = {"event": "failed", "graph_name": run.agent, "run_id": run.id}
        failed |= {"error": body.message, "code": body.code}
        said = await self._close(live, active, "failed", body, failed, "the run failed")
        await self._abandon(live, active, "the run failed", said)
        await self._show_state(live, run)

    async def _abandon(
        self, live: LiveThread, active: LiveRun, reason: str, said: Mapping[str, str], *, keeps_input: bool = True
    ) -> None:
        run, given = active.run, deepcopy(active.run.input) if keeps_input else None
        try:
            answers = await live.log.settled(run.id)
            runtime = self._engine.runtime(run.agent)
            journal = await self._journal(live, run) if runtime.replays else {}
            desk = RunDesk(live, active, self._engine.bus, self._engine.clock, journal, {})
            await runtime.abandon(live.id, run.id, reason, answers, given, said, desk)
        except Exception:
            logger.exception("run %s was given up, but its history could not be closed", run.id)

    async def _show_state(self, live: LiveThread, run: Run) -> None:
        """The history was closed: whoever follows ``values`` sees it."""
        if not self._engine.bus.wanted(live.id, "values"):
            return
        try:
            state = await self._engine.agent_state(live, run.agent)
            live.log.emit(run.id, Emit("values", state.values, durable=False))
        except Exception:
            logger.exception("run %s has ended, but its state could not be shown", run.id)

    async def _journal(self, live: LiveThread, run: Run) -> dict[str, JournalEntry]:
        return {entry.position: entry for entry in await self._engine.store.journal(live.id, run.id)}

    async def _close(
        self,
        live: LiveThread,
        active: LiveRun,
        status: RunStatus,
        error: ErrorBody | None,
        event: dict[str, Any],
        reason: str,
        withdrawn: Sequence[Run] = (),
    ) -> dict[str, str]:
        """The run is over: one transaction for its status, its last event, and the ends of its calls and messages.

        ``withdrawn``: queued runs that end as cancelled with it. Returns the texts of messages that were not finished,
        by id: what was said so far stays.
        """
        changes: list[tuple[Call, Action]] = [(call, Cancel(reason)) for call in live.open_calls(active.run.id)]
        ended = replace(active.run, status=status, error=error)
        now = self._engine.clock.now()
        broken_off = [(events, text_so_far(events)) for events in live.log.unfinished]
        last = [
            Draft(ended.id, "messages", data, events[0].namespace)
            for events, text in broken_off
            for data in ending(events, text)
        ]
        told = [Draft(run.id, "lifecycle", cancelled(run)) for run in withdrawn]
        writes = [
            ended,
            *(replace(run, status="cancelled") for run in withdrawn),
            ThreadUpdate(live.id, now, has_run=True),
        ]
        await live.apply(changes, now, writes=writes, drafts=[*last, Draft(ended.id, "lifecycle", event), *told])
        live.queue = [run for run in live.queue if run not in withdrawn]
        live.log.forget_unfinished()
        for answer in active.answers.values():
            answer.cancel()
        live.active, active.leg, live.newest = None, None, ended
        root = [(events[0], text) for events, text in broken_off if not events[0].namespace]
        return {start.data["message_id"]: text for start, text in root if text is not None}


def cancelled(run: Run) -> dict[str, Any]:
    """The data of the event that ends a run that was stopped."""
    return {"event": "interrupted", "graph_name": run.agent, "run_id": run.id, "code": "cancelled"}
