"""A thread that is in use: what this process remembers of it between commands."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from farside.core.calls import Action, opened, transition
from farside.core.model import Call, Run, Thread, ToolResult
from farside.core.ports import NewCall, Write
from farside.engine.log import Draft, ThreadLog


@dataclass
class LiveRun:
    """The run that a thread is executing.

    ``leg`` is the task that drives the runtime, None while the run waits. ``batch`` names the calls of the last pause.
    ``fresh``: this process has driven the run from its start, so that it knows what was answered since.
    ``starter``: who asked for the run, the first choice for its calls.
    """

    run: Run
    fresh: bool
    starter: str | None = None
    leg: asyncio.Task[None] | None = None
    batch: dict[str, Call] = field(default_factory=dict[str, Call])
    answers: dict[str, asyncio.Future[ToolResult]] = field(default_factory=dict[str, "asyncio.Future[ToolResult]"])

    def answer(self, interrupt_id: str) -> asyncio.Future[ToolResult]:
        """The future of a call's answer, for a leg that stays alive while it waits."""
        if interrupt_id not in self.answers:
            self.answers[interrupt_id] = asyncio.get_running_loop().create_future()
        return self.answers[interrupt_id]


class LiveThread:
    """The thread's lock, its log, its unsettled calls and its active run.

    ``lock`` is held by whoever changes the thread; one process drives a thread at a time.
    """

    def __init__(self, thread: Thread, log: ThreadLog, unsettled: Iterable[Call]) -> None:
        self.id = thread.id
        self.lock = asyncio.Lock()
        self.log = log
        self.calls: dict[str, Call] = {call.interrupt_id: call for call in unsettled}
        self.active: LiveRun | None = None

    def open_calls(self, run_id: str) -> list[Call]:
        """The unsettled calls of a run, in the order in which they were opened."""
        return [call for call in self.calls.values() if call.run_id == run_id]

    async def open(self, live: LiveRun, new: Iterable[NewCall], now: int, default_timeout: float | None) -> list[Call]:
        """Store and announce pauses; those that are known already are left alone. Returns the new ones."""
        calls: list[Call] = []
        for item in new:
            if item.interrupt_id in live.batch or item.interrupt_id in self.calls:
                continue
            timeout = item.timeout if item.timeout is not None else default_timeout
            deadline = None if timeout is None or item.kind == "input" else now + round(timeout * 1000)
            calls.append(
                Call(
                    thread_id=self.id,
                    run_id=live.run.id,
                    interrupt_id=item.interrupt_id,
                    kind=item.kind,
                    tool_call_id=item.tool_call_id,
                    name=item.name,
                    args=item.args,
                    opened_at=now,
                    title=item.title,
                    idempotent=item.idempotent,
                    deadline=deadline,
                    version=1,
                )
            )
        drafts = [Draft(live.run.id, "calls", opened(call)) for call in calls if call.kind == "tool"]
        drafts += [
            Draft(
                live.run.id,
                "input.requested",
                {"interrupt_id": call.interrupt_id, "payload": call.payload()},
                durable=False,
            )
            for call in calls
            if call.kind == "input"
        ]
        await self.log.commit(calls, drafts)
        for call in calls:
            self.calls[call.interrupt_id] = live.batch[call.interrupt_id] = call
        return calls

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
        """
        done = [transition(call, action, now) for call, action in changes]
        after = [replace(change.call, version=change.call.version + 1) for change in done]
        events = [
            Draft(change.call.run_id, "calls", change.event, durable=change.event["event"] != "progress")
            for change in done
            if change.event is not None
        ]
        await self.log.commit([*after, *writes], [*events, *drafts])
        for call in after:
            self.calls[call.interrupt_id] = call
            if self.active is not None and call.interrupt_id in self.active.batch:
                self.active.batch[call.interrupt_id] = call
            if call.ended:
                del self.calls[call.interrupt_id]
        return after
