"""The calls of all threads: to whom they are offered, who claims them, what they end with."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from farside.core.calls import (
    Action,
    Claim,
    Offer,
    Progress,
    Release,
    Settle,
    Tick,
    opened,
    transition,
)
from farside.core.model import Call, ToolResult
from farside.core.ports import Emit, Listener, NewCall
from farside.core.routing import Presence, choose
from farside.engine.declared import outdated
from farside.engine.forks import checkpoint_of
from farside.engine.thread import LiveRun, LiveThread
from farside.errors import FarsideError

if TYPE_CHECKING:
    from farside.engine.engine import Engine

logger = logging.getLogger("farside.engine")


class Ledger:
    """What happens to the calls of an engine's threads.

    Each change is stored with its event before anybody hears of it (L1, L4).
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- opening and offering ---

    async def open(self, live: LiveThread, active: LiveRun, new: Iterable[NewCall]) -> None:
        """Under the lock: store, announce and offer pauses; those that are known already are left alone.

        Raises:
            FarsideError: ``limit_exceeded``.
        """
        now = self._engine.clock.now()
        fresh = [item for item in new if item.interrupt_id not in live.calls and item.interrupt_id not in active.batch]
        calls = [self._opened(live, active, item, now) for item in fresh]
        for call in calls:
            if call.kind == "tool" and call.interrupt_id not in active.counted:
                active.counted.add(call.interrupt_id)
                active.meter.count("calls", opened(call))
        present = self.present(live)
        offers = [self._offer(live, call, present) for call in calls]
        routed = [
            call if offer is None else transition(call, offer[1], now).call
            for call, offer in zip(calls, offers, strict=True)
        ]
        await live.open(active, routed)
        self._hand_over(live, routed, [None if offer is None else offer[0] for offer in offers])
        self._tell_outdated(live, calls, present)
        if live.waits_for_input:
            live.tell_plain(active.run.id)
        self._engine.look_at_time()

    async def offer_open(self, live: LiveThread) -> None:
        """Under the lock: offer the calls that nobody has, each to the client that comes first for it."""
        present = self.present(live)
        free = [(call, self._offer(live, call, present)) for call in live.calls.values() if call.state == "open"]
        offered = [(call, *offer) for call, offer in free if offer is not None]
        if offered:
            after = await live.apply([(call, action) for call, _, action in offered], self._engine.clock.now())
            self._hand_over(live, after, [listener for _, listener, _ in offered])
            self._engine.look_at_time()
        self._tell_outdated(live, [call for call, _ in free], present)

    def _opened(self, live: LiveThread, active: LiveRun, item: NewCall, now: int) -> Call:
        timeout = item.timeout if item.timeout is not None else self._engine.settings.default_timeout
        return Call(
            thread_id=live.id,
            run_id=active.run.id,
            interrupt_id=item.interrupt_id,
            kind=item.kind,
            tool_call_id=item.tool_call_id,
            name=item.name,
            args=item.args,
            opened_at=now,
            title=item.title,
            idempotent=item.idempotent,
            deadline=None if timeout is None or item.kind == "input" else now + round(timeout * 1000),
            version=1,
        )

    def present(self, live: LiveThread) -> list[tuple[Presence, Listener]]:
        """Who can take calls."""
        listeners = self._engine.bus.listeners(live.id)
        return [(presence, each) for each in listeners if (presence := each.presence) is not None]

    def _offer(
        self, live: LiveThread, call: Call, present: Sequence[tuple[Presence, Listener]]
    ) -> tuple[Listener, Action] | None:
        """Who is to be offered the call, and how: a plain connection takes it by being told of it."""
        if call.kind != "tool":
            return None
        starter = None if live.active is None else live.active.run.starter
        passed = live.passed.get(call.interrupt_id, set[str]())
        needed = self._engine.declared.needed(live.log.thread.agent, call.name)
        chosen = choose(call.name, [presence for presence, _ in present], starter, passed, needed)
        if chosen is None:
            return None
        listener = next(listener for presence, listener in present if presence is chosen)
        if listener.plain:
            return listener, Claim(chosen.client_id, self._engine.new_id(), None)
        return listener, Offer(chosen.client_id, self._engine.settings.claim_ms)

    def _hand_over(self, live: LiveThread, calls: Sequence[Call], listeners: Sequence[Listener | None]) -> None:
        for call, listener in zip(calls, listeners, strict=True):
            if listener is not None and listener.plain:
                listener.offer(call, live.log.shown, again=self._is_known(live, call))
                live.untold.discard(call.interrupt_id)
                live.told.add(call.tool_call_id)

    def _tell_outdated(
        self, live: LiveThread, calls: Iterable[Call], present: Sequence[tuple[Presence, Listener]]
    ) -> None:
        """Tell pages whose tools were made for other schemas that it is for this that a call is not offered to them."""
        for call in calls:
            needed = self._engine.declared.needed(live.log.thread.agent, call.name)
            for presence, listener in present:
                mismatch = outdated(presence, call.name, needed)
                if mismatch is not None:
                    listener.mismatched(call, mismatch)

    def _is_known(self, live: LiveThread, call: Call) -> bool:
        """Whether a page may know the call by one of its names. One that a fork makes anew has the model's old id."""
        forks = live.active is not None and checkpoint_of(live.active.run.config) is not None
        return forks or call.interrupt_id not in live.untold or call.tool_call_id in live.told

    # --- what a client does ---

    async def claim(self, thread_id: str, interrupt_id: str, listener: Listener, action: Claim) -> Call:
        """Take a call, or renew a claim.

        Raises:
            FarsideError: ``not_found``, ``claim_lost``, ``call_settled``.
        """
        async with self._engine.threads.locked(thread_id) as live:
            _refuse_retired(listener)
            call = await self._act(live, interrupt_id, lambda _live, _call: action)
        self._engine.look_at_time()
        return call

    async def release(self, thread_id: str, interrupt_id: str, listener: Listener, action: Release) -> None:
        """Decline an offer, or give a call back. Raises as :meth:`claim`."""
        async with self._engine.threads.locked(thread_id) as live:
            _refuse_retired(listener)
            call = await self._act(live, interrupt_id, lambda _live, _call: action)
            if not action.started:
                live.passed.setdefault(interrupt_id, set()).add(action.client_id)
            await self._go_on(live, call)

    async def progress(self, thread_id: str, interrupt_id: str, listener: Listener, action: Progress) -> None:
        """Show progress, renew the claim. Raises as :meth:`claim`."""
        async with self._engine.threads.locked(thread_id) as live:
            _refuse_retired(listener)
            call = await self._call(live, interrupt_id)
            now = self._engine.clock.now()
            shown = transition(call, action, now).event
            has_just_begun = call.lease_until is not None and 2 * (call.lease_until - now) > action.lease_ms
            if shown is not None and has_just_begun:
                # The lease needs no renewal yet, so there is nothing to store.
                live.log.emit(call.run_id, Emit("calls", shown, durable=False))
                return
            await live.apply([(call, action)], now)
        self._engine.look_at_time()

    async def settle(self, thread_id: str, interrupt_id: str, action: Settle) -> ToolResult:
        """Answer a call; returns what was stored. Raises as :meth:`claim`."""
        async with self._engine.threads.locked(thread_id) as live:
            call = await self._act(
                live, interrupt_id, lambda live, call: replace(action, result=self.checked(live, call, action.result))
            )
            self.ended(live, [call])
            return call.result or action.result

    async def _act(self, live: LiveThread, interrupt_id: str, action: Callable[[LiveThread, Call], Action]) -> Call:
        call = await self._call(live, interrupt_id)
        try:
            (after,) = await live.apply([(call, action(live, call))], self._engine.clock.now())
        except FarsideError as error:
            logger.info("thread %s: %s", live.id, error)
            raise
        return after

    async def _call(self, live: LiveThread, interrupt_id: str) -> Call:
        call = live.calls.get(interrupt_id) or await self._engine.store.call(live.id, interrupt_id)
        if call is None or call.kind != "tool":
            raise FarsideError("not_found", f"expected a call of thread {live.id}, got {interrupt_id!r}")
        return call

    def checked(self, live: LiveThread, call: Call, result: ToolResult) -> ToolResult:
        """The result, or ``invalid_result`` where the tool's declaration is known and it does not fit (L10)."""
        runtime = self._engine.served(live.log.thread.agent)
        tool = None if runtime is None or call.kind != "tool" else runtime.tool(call.name)
        return result if tool is None else tool.check_result(result)

    # --- what time does ---

    async def tick(self, due: Call) -> None:
        """A call's deadline, or the end of its offer or lease, has come."""
        async with self._engine.threads.locked(due.thread_id) as live:
            call = live.calls.get(due.interrupt_id) or await self._engine.store.call(due.thread_id, due.interrupt_id)
            if call is None or call.due is None or call.due > self._engine.clock.now():
                return
            (after,) = await live.apply([(call, Tick())], self._engine.clock.now())
            if call.state == "offered" and call.client_id is not None and not after.ended:
                live.passed.setdefault(call.interrupt_id, set()).add(call.client_id)
            await self._go_on(live, after)

    async def _go_on(self, live: LiveThread, call: Call) -> None:
        """Under the lock: a call was taken from who had it. It is offered to the next client, or has ended by that."""
        if call.ended:
            self.ended(live, [call])
        else:
            await self._engine.chores.do(live)

    def ended(self, live: LiveThread, calls: Sequence[Call]) -> None:
        """Under the lock: calls have ended, the run goes on or waits for the others."""
        self._engine.legs.answered(live, calls)
        if live.waits_for_input and live.active is not None:
            live.tell_plain(live.active.run.id)


def _refuse_retired(listener: Listener) -> None:
    if listener.is_retired:
        raise FarsideError(
            "claim_lost", "another connection speaks for this client now; nothing more of this one counts"
        )
