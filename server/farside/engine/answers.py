"""Answers as the Agent Streaming Protocol gives them: the command ``input.respond``."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from farside.core.calls import Action, Release, Settle
from farside.core.model import Call
from farside.core.plain import first_name
from farside.core.routing import Presence, choose
from farside.engine import directives, plain
from farside.engine.thread import LiveThread
from farside.errors import FarsideError
from farside.wire.messages import Failure, InputRespondParams

if TYPE_CHECKING:
    from farside.engine.engine import Engine


class Answers:
    """Takes the answers to an engine's interrupts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def respond(
        self, thread_id: str, params: InputRespondParams, client_id: str, *, is_plain: bool = False
    ) -> None:
        """Answer interrupts as the Agent Streaming Protocol does; all of them or none.

        Args:
            is_plain: the client speaks that protocol alone. It takes a refusal for a failure of the whole conversation,
                so its answer to a tool call that has one is passed over. That it lacks a tool hands the call to the
                next client.

        Raises:
            FarsideError: ``no_such_interrupt``, ``call_settled``, ``invalid_argument``, ``not_supported``.
        """
        async with self._engine.threads.locked(thread_id) as live:
            changes: list[tuple[Call, Action]] = []
            passed_over: str | None = None
            for interrupt_id, response in plain.responses(params).items():
                call = await self._interrupt(live, interrupt_id)
                if any(call.interrupt_id == other.interrupt_id for other, _ in changes):
                    raise FarsideError("invalid_argument", f"expected one answer to {interrupt_id}, got two")
                answer = self._answer(live, call, response, client_id, is_plain=is_plain)
                if isinstance(answer, Release):
                    live.passed.setdefault(call.interrupt_id, set()).add(answer.client_id)
                if answer is not None:
                    changes.append((call, answer))
                if not isinstance(answer, Settle):
                    passed_over = call.run_id
            settled = [call.interrupt_id for call, action in changes if isinstance(action, Settle)]
            beside = await directives.writes_of(self._engine, live, params, settled[0]) if settled else []
            after = await live.apply(changes, self._engine.clock.now(), writes=beside)
            directives.remember(live, beside)
            self._engine.ledger.ended(live, [call for call in after if call.ended])
            if passed_over is not None:
                live.tell_plain(passed_over)
                await self._engine.chores.do(live)

    async def _interrupt(self, live: LiveThread, name: str) -> Call:
        """The interrupt of this name, or of the first name that it had."""
        for interrupt_id in (name, first_name(name)):
            if interrupt_id is not None:
                call = live.calls.get(interrupt_id) or await self._engine.store.call(live.id, interrupt_id)
                if call is not None:
                    return call
        raise FarsideError("no_such_interrupt", f"expected an open interrupt of thread {live.id}, got {name!r}")

    def _answer(
        self, live: LiveThread, call: Call, response: Any, client_id: str, *, is_plain: bool
    ) -> Settle | Release | None:
        """What an answer does to a call, None: nothing."""
        if is_plain and call.kind == "tool" and call.ended:
            return None
        result = self._engine.ledger.checked(live, call, plain.result_of(call, response))
        if is_plain and isinstance(result, Failure) and result.error.code == "not_implemented":
            holder = call.client_id
            if holder is not None and client_id not in ("", holder):
                return None  # another client has it meanwhile
            if holder is not None and self._next(live, call, {holder}) is not None:
                return Release(holder, call.claim_id, reason="not implemented")
        return Settle(result, client_id, claim_id=None)

    def _next(self, live: LiveThread, call: Call, but: AbstractSet[str]) -> Presence | None:
        """The client that comes first for a call."""
        passed = live.passed.get(call.interrupt_id, set[str]()) | but
        needed = self._engine.declared.needed(live.log.thread.agent, call.name)
        return choose(call.name, [presence for presence, _ in self._engine.ledger.present(live)], None, passed, needed)
