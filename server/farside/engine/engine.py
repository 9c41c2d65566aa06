"""The engine: what may happen to a thread, and in which order it is made durable.

Whatever changes a thread holds its lock, stores the change and the event that tells of it in one transaction, and only
then lets anybody know. The engine knows no sockets and no agent framework.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from farside.core.calls import Action, Claim, Progress, Release, Settle, Tick
from farside.core.model import Call, Event, Run, ToolResult
from farside.core.ports import AgentState, Bus, Clock, Listener, Runtime, Store
from farside.core.session import Snapshot
from farside.engine import offers
from farside.engine.legs import Legs
from farside.engine.log import Draft
from farside.engine.thread import LiveRun, LiveThread
from farside.engine.threads import Threads
from farside.engine.timers import Timers
from farside.errors import FarsideError
from farside.wire.messages import MISSING, InputRespondParams, RunStartParams
from farside.wire.values import Limits

logger = logging.getLogger("farside.engine")


@dataclass(frozen=True, slots=True)
class Settings:
    """Times of the engine.

    ``lease_ms``: how long a claim lasts unrenewed. ``ping_ms``: how often clients ping. ``default_timeout``: seconds
    until a call without its own timeout expires, None for never.
    """

    lease_ms: int = 30_000
    ping_ms: int = 10_000
    default_timeout: float | None = 300


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread as ``state.get`` shows it. Events after ``seq`` may tell what it does not hold."""

    state: AgentState
    run: Run | None
    calls: Sequence[Call]
    seq: int


class Engine:
    """Drives the runs of all threads of one process.

    Args:
        runtimes: the agents by name.
        new_id: makes unique ids.
    """

    def __init__(
        self,
        *,
        store: Store,
        bus: Bus,
        runtimes: Mapping[str, Runtime],
        clock: Clock,
        new_id: Callable[[], str],
        settings: Settings,
        limits: Limits,
    ) -> None:
        self.settings = settings
        self.limits = limits
        self._store = store
        self._bus = bus
        self._runtimes = runtimes
        self._clock = clock
        self.new_id = new_id
        self._threads = Threads(store, bus, clock, settings.lease_ms)
        self._legs = Legs(self)
        self._timers = Timers(store, clock, self._tick)

    # what the other modules of this package need
    @property
    def store(self) -> Store:
        return self._store

    @property
    def bus(self) -> Bus:
        return self._bus

    @property
    def clock(self) -> Clock:
        return self._clock

    def served(self, agent: str) -> Runtime | None:
        """The agent's runtime, None when the agent is not served any more."""
        return self._runtimes.get(agent)

    def runtime(self, agent: str) -> Runtime:
        """The agent's runtime.

        Raises:
            FarsideError: ``not_found``.
        """
        runtime = self.served(agent)
        if runtime is None:
            raise FarsideError("not_found", f"expected one of the agents {', '.join(self._runtimes)}; got {agent!r}")
        return runtime

    # --- life ---

    async def start(self) -> None:
        """Begin, and go on with the runs that a crash interrupted."""
        self._timers.start()
        for run in await self._store.running():
            if run.agent not in self._runtimes:
                logger.warning("run %s waits: its agent %r is not served any more", run.id, run.agent)
                continue
            async with self._threads.locked(run.thread_id) as live:
                if live.active is not None and live.active.leg is None:
                    await self._legs.recover(live, live.active)
        self.look_at_time()

    async def stop(self) -> None:
        """Stop all legs where they stand; the next start goes on with them."""
        await self._timers.stop()
        for live in await self._threads.close():
            async with live.lock:
                await self._legs.stop(live)
                try:
                    await live.log.rest()
                except Exception:
                    logger.exception("thread %s: its last events could not be stored", live.id)

    async def let_go(self, thread_id: str) -> None:
        """A leg has ended: forget the thread if nobody is there."""
        await self._threads.let_go(thread_id)

    def look_at_time(self) -> None:
        """A deadline or a lease may have come earlier than what the timer waits for."""
        self._timers.look()

    # --- listening ---

    def listen(self, thread_id: str, listener: Listener) -> Callable[[], None]:
        """Attach a connection to a thread; returns what detaches it."""
        return self._bus.listen(thread_id, listener)

    async def left(self, thread_id: str, listener: Listener) -> None:
        """A connection is gone (and detached). A plain one's claims get a lease; others may be offered what it left."""
        async with self._threads.locked(thread_id) as live:
            if listener.plain:
                claim = Claim(listener.holder_id, self.settings.lease_ms)
                held = [call for call in live.calls.values() if call.client_id == listener.holder_id]
                await live.apply([(call, claim) for call in held], self._clock.now())
                self.look_at_time()
            await self.offer_open(live)

    async def subscribe(self, thread_id: str, since: int | None) -> Snapshot:
        """What a new subscription starts from. Without ``since``: the newest run from its beginning."""
        async with self._threads.using(thread_id) as live:
            seq, unsettled = live.log.shown, list(live.calls.values())
            after = since if since is not None else await self.before_run(thread_id)
            events = [event for event in await live.log.replay(after) if event.seq <= seq]
            return Snapshot(seq=seq, events=events, open=unsettled)

    async def offer(self, thread_id: str) -> None:
        """A plain connection listens for input: offer it what nobody holds."""
        async with self._threads.locked(thread_id) as live:
            await self.offer_open(live)

    async def offer_open(self, live: LiveThread) -> None:
        """Under the lock: give open tool calls to plain connections, where no better client is there."""
        starter = None if live.active is None else live.active.starter
        for call in [call for call in live.calls.values() if call.kind == "tool" and call.state == "open"]:
            chosen = offers.choose(call, starter, self._bus.listeners(live.id))
            if chosen is not None:
                (claimed,) = await live.apply([(call, Claim(chosen.holder_id, None))], self._clock.now())
                chosen.offer(claimed, live.log.shown)

    async def seq(self, thread_id: str) -> int:
        """The newest seq of a thread that listeners have heard, 0 for one that never ran."""
        async with self._threads.using(thread_id) as live:
            return live.log.shown

    async def before_run(self, thread_id: str) -> int:
        """The seq behind which the newest run's events are."""
        return max(0, await self._store.run_started_seq(thread_id) - 1)

    # --- runs ---

    async def start_run(self, thread_id: str, params: RunStartParams, starter: str | None) -> str:
        """Start a run; returns its id. A run that waits for answers gives way, its calls are cancelled.

        Raises:
            FarsideError: ``not_found`` (agent), ``run_active``.
        """
        self.runtime(params.assistant_id)
        async with self._threads.locked(thread_id, params.assistant_id) as live:
            run_id = self.new_id() if params.run_id is MISSING else params.run_id
            if await self._store.run(thread_id, run_id) is not None:
                return run_id
            if live.active is not None:
                if not live.open_calls(live.active.run.id):
                    message = f"expected an idle thread, run {live.active.run.id} is executing; wait or cancel it"
                    raise FarsideError("run_active", message, details={"run_id": live.active.run.id})
                await self._legs.cancel(live, live.active, "the user sent a new message")
            run = Run(
                id=run_id,
                thread_id=thread_id,
                agent=params.assistant_id,
                input=None if params.input is MISSING else self._with_ids(params.input),
                config=_config(params),
                status="running",
                created_at=self._clock.now(),
            )
            live.log.serve(run.agent)
            began = {"event": "running", "graph_name": run.agent, "run_id": run_id, "input": run.input}
            await live.log.commit([run], [Draft(run_id, "lifecycle", began)])
            live.active = LiveRun(run, fresh=True, starter=starter)
            self._legs.start(live, live.active)
            return run_id

    async def cancel_run(self, thread_id: str, run_id: str | None) -> None:
        """Stop the active run, or the named one. A run that has ended stays as it is.

        Raises:
            FarsideError: ``no_such_run``.
        """
        async with self._threads.locked(thread_id) as live:
            active = live.active
            if run_id is not None and (active is None or active.run.id != run_id):
                if await self._store.run(thread_id, run_id) is None:
                    raise FarsideError("no_such_run", f"expected a run of thread {thread_id}, got {run_id!r}")
                return
            if active is not None:
                await self._legs.cancel(live, active, "the run was stopped")

    def _with_ids(self, value: Any) -> Any:
        """A chat input's messages, each with an id: the same in events, state and history."""
        if isinstance(value, str):
            value = {"messages": [{"type": "human", "content": value}]}
        if not isinstance(value, dict):
            return value
        chat = cast("dict[str, Any]", value)
        if not isinstance(chat.get("messages"), list):
            return chat
        return {**chat, "messages": [self._with_id(message) for message in chat["messages"]]}

    def _with_id(self, message: Any) -> Any:
        if not isinstance(message, dict) or "id" in message:
            return cast("Any", message)
        return {**cast("dict[str, Any]", message), "id": self.new_id()}

    # --- calls ---

    async def claim(self, thread_id: str, interrupt_id: str, client_id: str) -> Call:
        """Take a call, or renew a claim.

        Raises:
            FarsideError: ``not_found``, ``claim_lost``, ``call_settled``.
        """
        action = Claim(client_id, self.settings.lease_ms)
        call = await self._act(thread_id, interrupt_id, lambda _live, _call: action)
        self.look_at_time()
        return call

    async def release(self, thread_id: str, interrupt_id: str, client_id: str, reason: str | None) -> None:
        """Give a call back, not begun. Raises as :meth:`claim`."""
        await self._act(thread_id, interrupt_id, lambda _live, _call: Release(client_id, reason))

    async def progress(self, thread_id: str, interrupt_id: str, client_id: str, value: Any) -> None:
        """Show progress, renew the claim. Raises as :meth:`claim`."""
        action = Progress(client_id, self.settings.lease_ms, value)
        await self._act(thread_id, interrupt_id, lambda _live, _call: action)

    async def settle(self, thread_id: str, interrupt_id: str, client_id: str | None, result: ToolResult) -> ToolResult:
        """Answer a call; returns what was stored. Raises as :meth:`claim`."""
        call = await self._act(
            thread_id, interrupt_id, lambda live, call: Settle(self._checked(live, call, result), client_id)
        )
        return call.result or result

    async def respond(self, thread_id: str, params: InputRespondParams) -> None:
        """Answer interrupts as the Agent Streaming Protocol does; all of them or none.

        Raises:
            FarsideError: ``no_such_interrupt``, ``call_settled``, ``invalid_argument``.
        """
        responses = offers.responses(params)
        async with self._threads.locked(thread_id) as live:
            changes: list[tuple[Call, Action]] = []
            for interrupt_id, response in responses.items():
                call = live.calls.get(interrupt_id) or await self._store.call(thread_id, interrupt_id)
                if call is None:
                    message = f"expected an open interrupt of thread {thread_id}, got {interrupt_id!r}"
                    raise FarsideError("no_such_interrupt", message)
                result = offers.result_of(call, response)
                changes.append((call, Settle(self._checked(live, call, result))))
            after = await live.apply(changes, self._clock.now())
            self._legs.answered(live, after)

    async def _act(self, thread_id: str, interrupt_id: str, action: Callable[[LiveThread, Call], Action]) -> Call:
        async with self._threads.locked(thread_id) as live:
            call = live.calls.get(interrupt_id) or await self._store.call(thread_id, interrupt_id)
            if call is None or call.kind != "tool":
                raise FarsideError("not_found", f"expected a call of thread {thread_id}, got {interrupt_id!r}")
            (after,) = await live.apply([(call, action(live, call))], self._clock.now())
            if after.ended:
                self._legs.answered(live, [after])
            elif after.state == "open":
                await self.offer_open(live)
            return after

    def _checked(self, live: LiveThread, call: Call, result: ToolResult) -> ToolResult:
        """The result, or ``invalid_result`` where the tool's declaration is known and it does not fit (L10)."""
        runtime = self.served(live.log.thread.agent)
        tool = None if runtime is None or call.kind != "tool" else runtime.tool(call.name)
        return result if tool is None else tool.check_result(result)

    async def _tick(self, due: Call) -> None:
        """A call's deadline or lease end has come."""
        async with self._threads.locked(due.thread_id) as live:
            call = live.calls.get(due.interrupt_id) or await self._store.call(due.thread_id, due.interrupt_id)
            if call is None or call.due is None or call.due > self._clock.now():
                return
            (after,) = await live.apply([(call, Tick())], self._clock.now())
            if after.ended:
                self._legs.answered(live, [after])
            else:
                await self.offer_open(live)

    # --- state ---

    async def state(self, thread_id: str) -> ThreadState:
        """The agent's state, the newest run and all calls.

        Raises:
            FarsideError: ``not_found``.
        """
        thread = await self._store.thread(thread_id)
        if thread is None:
            raise FarsideError("not_found", f"no thread {thread_id!r}; it comes into being with its first run")
        async with self._threads.using(thread_id) as live:
            # While a run is under way its agent may have said what it has not stored yet: its events tell.
            seq = live.log.shown if live.active is None else await self.before_run(thread_id)

            async def events() -> list[Event]:
                return list(await live.log.replay(0))

            state = await self.runtime(thread.agent).state(thread_id, events)
            run = await self._store.latest_run(thread_id)
            return ThreadState(state, run, await self._store.calls(thread_id), seq)


def _config(params: RunStartParams) -> dict[str, Any]:
    """The run's config, with the command's metadata in it, where LangChain has them."""
    config: dict[str, Any] = {} if params.config is MISSING else params.config
    if params.metadata is MISSING:
        return config
    return {**config, "metadata": {**config.get("metadata", {}), **params.metadata}}
