"""A thread that is in use: what this process remembers of it between commands."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from farside.core.absence import Absence
from farside.core.calls import Action, opened, transition
from farside.core.limits import Meter
from farside.core.model import Call, Run, Thread, ToolResult
from farside.core.ports import Emit, Lease, Write
from farside.engine.log import Draft, ThreadLog


@dataclass
class LiveRun:
    """The run that a thread is executing.

    ``leg`` is the task that drives the runtime, None while the run waits. ``batch`` names the calls of the last pause.
    ``fresh``: this process has driven the run from its start, so that it knows what was answered since. ``counted``:
    the calls that the meter knows, by interrupt id. ``is_directed``: directives have come with answers.
    """

    run: Run
    fresh: bool
    meter: Meter
    leg: asyncio.Task[None] | None = None
    is_directed: bool = False
    counted: set[str] = field(default_factory=set[str])
    batch: dict[str, Call] = field(default_factory=dict[str, Call])
    answers: dict[str, asyncio.Future[ToolResult]] = field(default_factory=dict[str, "asyncio.Future[ToolResult]"])

    def answer(self, interrupt_id: str) -> asyncio.Future[ToolResult]:
        """The future of a call's answer, for a leg that stays alive while it waits."""
        if interrupt_id not in self.answers:
            self.answers[interrupt_id] = asyncio.get_running_loop().create_future()
        return self.answers[interrupt_id]


class LiveThread:
    """The thread's lock, its log, its unsettled calls, its active run and those that are queued behind it.

    ``lock`` is held by whoever changes the thread; one process drives a thread at a time. ``newest``: the run that has
    ended last. ``passed``: the clients that declined a call or did not take it in time, by interrupt id. ``untold``:
    the calls that no plain connection has been told of, as far as this process knows. ``told``: the ids of the tool
    calls that one has been told of; the model may use them again. ``gone``: clients without a
    connection whose calls have not been taken from them yet, and how long they may take to come back, in milliseconds.
    ``absences``: pages of the official clients that may come back, the latest last. ``is_lost``: the thread was loaded
    anew, here or elsewhere; this object is of no use any more.
    """

    def __init__(
        self, thread: Thread, log: ThreadLog, lease: Lease, unsettled: Iterable[Call], queue: Iterable[Run]
    ) -> None:
        self.id = thread.id
        self.lock = asyncio.Lock()
        self.log = log
        self.lease = lease
        self.is_lost = False
        self.calls: dict[str, Call] = {call.interrupt_id: call for call in unsettled}
        self.active: LiveRun | None = None
        self.newest: Run | None = None
        self.queue: list[Run] = list(queue)
        self.passed: dict[str, set[str]] = {}
        self.untold: set[str] = set()
        self.told: set[str] = set()
        self.gone: dict[str, int] = {}
        self.absences: list[Absence] = []

    def open_calls(self, run_id: str) -> list[Call]:
        """The unsettled calls of a run, in the order in which they were opened."""
        return [call for call in self.calls.values() if call.run_id == run_id]

    @property
    def waits_for_input(self) -> bool:
        """Whether the active run waits, and for nothing but answers of a person."""
        open_calls = [] if self.active is None else self.open_calls(self.active.run.id)
        return bool(open_calls) and all(call.kind == "input" for call in open_calls)

    def tell_plain(self, run_id: str) -> None:
        """Tell plain connections where the run is. One that waits for people's answers alone is interrupted to them;
        one that waits for a tool runs."""
        event = "completed" if self.active is None else "interrupted" if self.waits_for_input else "running"
        data = {"event": event, "graph_name": self.log.thread.agent, "run_id": run_id}
        self.log.emit(run_id, Emit("lifecycle", data, durable=False, for_plain=True))

    async def open(self, active: LiveRun, calls: Sequence[Call]) -> None:
        """Store and announce new calls of the active run."""
        run_id = active.run.id
        drafts = [Draft(run_id, "calls", opened(call)) for call in calls if call.kind == "tool"]
        for call in calls:
            if call.kind == "input":
                asked = {"interrupt_id": call.interrupt_id, "payload": call.payload()}
                drafts.append(Draft(run_id, "input.requested", asked, durable=False))

        async def store() -> None:
            await self.log.commit(calls, drafts)
            for call in calls:
                self.calls[call.interrupt_id] = active.batch[call.interrupt_id] = call
                self.untold.add(call.interrupt_id)

        await _whole(store())

    async def apply(
        self,
        changes: Iterable[tuple[Call, Action]],
        now: int,
        *,
        writes: Iterable[Write] = (),
        drafts: Iterable[Draft] = (),
    ) -> list[Call]:
        """Put actions through the transition function and store them together; all of them or none.

        Args:
            writes, drafts: further rows and events for the same transaction, the events after those of the calls.

        Raises:
            FarsideError: ``call_settled``, ``claim_lost``.
            StaleWrite: another process changed a call.
            LeaseLost: another process drives the thread.
        """
        done = [transition(call, action, now) for call, action in changes]
        after = [replace(change.call, version=change.call.version + 1) for change in done]
        events = [
            Draft(change.call.run_id, "calls", change.event, durable=change.event["event"] != "progress")
            for change in done
            if change.event is not None
        ]

        async def store() -> None:
            await self.log.commit([*after, *writes], [*events, *drafts])
            for call in after:
                self._remember(call)

        await _whole(store())
        return after

    def _remember(self, call: Call) -> None:
        self.calls[call.interrupt_id] = call
        if self.active is not None and call.interrupt_id in self.active.batch:
            self.active.batch[call.interrupt_id] = call
        if call.ended:
            del self.calls[call.interrupt_id]
            self.passed.pop(call.interrupt_id, None)
            self.untold.discard(call.interrupt_id)


async def _whole(work: Coroutine[Any, Any, None]) -> None:
    """Carry out the work to its end, also if the caller is cancelled: memory must not fall behind the store."""
    await asyncio.shield(asyncio.create_task(work))
