"""The engine: what may happen to a thread, and in which order it is made durable.

Whatever changes a thread holds its lock, stores the change and the event that tells of it in one transaction, and only
then lets anybody know. The engine knows no sockets and no agent framework.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from farside.core.model import Call, Event, Run, Thread
from farside.core.ports import AgentState, Bus, Clock, Lease, Listener, Runtime, Store
from farside.core.session import Snapshot
from farside.engine.answers import Answers
from farside.engine.attendance import Attendance
from farside.engine.chores import Chores
from farside.engine.declared import Declared
from farside.engine.directory import Directory, unknown
from farside.engine.forks import graph_of
from farside.engine.histories import Histories
from farside.engine.leases import Leases
from farside.engine.ledger import Ledger
from farside.engine.legs import Legs
from farside.engine.runs import Runs
from farside.engine.settings import Settings
from farside.engine.thread import LiveThread
from farside.engine.threads import Threads
from farside.engine.timers import Timers
from farside.errors import FarsideError
from farside.wire.values import Limits

logger = logging.getLogger("farside.engine")


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread as ``state.get`` shows it. Events after ``seq`` may tell what it does not hold.

    ``run``: the one under way, else the newest that ended; ``queued``: those that wait for it.
    """

    state: AgentState
    run: Run | None
    queued: Sequence[Run]
    calls: Sequence[Call]
    seq: int

    @property
    def is_under_way(self) -> bool:
        """Whether a run has begun, or waits for its turn."""
        return bool(self.queued) or (self.run is not None and self.run.status == "running")


class Engine:
    """Drives the runs of all threads of one process.

    Args:
        runtimes: the agents by name.
        new_id: makes unique ids.
        process_id: names this process; ``is_gone`` says of such a name that its process is gone for certain.
        strict_schemas: whether pages that were built for other schemas of a tool are offered no call of it.
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
        process_id: str,
        is_gone: Callable[[str], bool],
        strict_schemas: bool = False,
    ) -> None:
        self.store = store
        self.bus = bus
        self.clock = clock
        self.new_id = new_id
        self.settings = settings
        self.limits = limits
        self.activity = itertools.count(1)
        """Numbers what clients do, in order."""
        self.runtimes = runtimes
        self.declared = Declared(runtimes, is_strict=strict_schemas)
        self.legs = Legs(self)
        self.runs = Runs(self)
        self.ledger = Ledger(self)
        self.answers = Answers(self)
        self.attendance = Attendance(self)
        self.histories = Histories(self)
        self.chores = Chores(self)
        self.leases = Leases(store, clock, process_id, is_gone, settings.process_ms, self._recover, self._held)
        self.threads = Threads(store, bus, clock, self.leases, settings, self.runs.take_up)
        self.directory = Directory(self)
        self._timers = Timers(store, clock, self.ledger.tick)

    def served(self, agent: str) -> Runtime | None:
        """The agent's runtime, None when the agent is not served any more."""
        return self.runtimes.get(agent)

    def runtime(self, agent: str) -> Runtime:
        """The agent's runtime.

        Raises:
            FarsideError: ``not_found``.
        """
        runtime = self.served(agent)
        if runtime is None:
            raise FarsideError("not_found", f"expected one of the agents {', '.join(self.runtimes)}; got {agent!r}")
        return runtime

    def runtime_of(self, thread_id: str, agent: str) -> Runtime | None:
        """The runtime of a thread's agent, None for a thread that has had no run yet.

        Raises:
            FarsideError: ``unavailable``: the agent is not served any more.
        """
        runtime = self.served(agent)
        if runtime is None and agent:
            message = f"thread {thread_id} belongs to agent {agent!r}, which is not served now"
            raise FarsideError("unavailable", message)
        return runtime

    # --- life ---

    async def start(self) -> None:
        """Begin, and go on with the runs that a crash interrupted."""
        self._timers.start()
        await self.leases.start()
        self.look_at_time()

    async def stop(self) -> None:
        """Stop all legs where they stand; the next start goes on with them."""
        await self._timers.stop()
        await self.chores.stop()
        await asyncio.gather(*map(self._rest, await self.threads.close()))
        await self.leases.stop()

    async def _rest(self, live: LiveThread) -> None:
        async with live.lock:
            await self.legs.stop(live)
            try:
                await live.log.rest()
            except Exception:
                logger.exception("thread %s: its last events could not be stored", live.id)
        for listener in self.bus.listeners(live.id):
            listener.hang_up(1012, "the server stops; connect again")

    def _held(self, leases: Collection[Lease]) -> None:
        self.threads.held(leases)

    async def _recover(self, run: Run) -> None:
        """Go on with a run that no process drives: whoever loads its thread does."""
        if run.agent not in self.runtimes:
            logger.warning("run %s waits: its agent %r is not served any more", run.id, run.agent)
            return
        async with self.threads.using(run.thread_id):
            pass

    def look_at_time(self) -> None:
        """A deadline or a lease may have come earlier than what the timer waits for."""
        self._timers.look()

    # --- listening ---

    def listen(self, thread_id: str, listener: Listener) -> Callable[[], None]:
        """Attach a connection to a thread; returns what detaches it."""
        return self.bus.listen(thread_id, listener)

    async def subscribe(self, thread_id: str, since: int | None, *, with_values: bool = False) -> Snapshot:
        """What a new subscription starts from. Without ``since``: the newest run from its beginning.

        Args:
            with_values: the agent's state too. Not while the agent is at work: the state is behind its events then, and
                the next one comes soon.
        """
        async with self.threads.using(thread_id) as live:
            seq, unsettled = live.log.shown, list(live.calls.values())
            after = since if since is not None else await self.before_run(thread_id)
            events = [event for event in await live.log.replay(after) if event.seq <= seq]
            values = await self._baseline(live, seq) if with_values and events else None  # before its first run: none
            return Snapshot(seq=seq, events=events, open=unsettled, values=values)

    async def _baseline(self, live: LiveThread, seq: int) -> Event | None:
        """The state as the event that tells of it."""
        agent, active = live.log.thread.agent, live.active
        if self.served(agent) is None or (active is not None and not live.open_calls(active.run.id)):
            return None
        state = await self.agent_state(live, agent)
        now = self.clock.now()
        return Event(live.id, "", seq, "values", (), now, state.values, durable=False, part=f":state:{self.new_id()}")

    async def seq(self, thread_id: str) -> int:
        """The newest seq of a thread that listeners have heard, 0 for one that never ran."""
        async with self.threads.using(thread_id) as live:
            return live.log.shown

    async def before_run(self, thread_id: str) -> int:
        """The seq behind which the events of the newest run that has started are."""
        return max(0, await self.store.run_started_seq(thread_id) - 1)

    # --- state ---

    async def thread(self, thread_id: str) -> Thread:
        """The thread as it is stored.

        Raises:
            FarsideError: ``not_found``.
        """
        thread = await self.store.thread(thread_id)
        if thread is None:
            raise unknown(thread_id)
        return thread

    async def state(self, thread_id: str, namespace: Sequence[str] = ()) -> ThreadState:
        """The agent's state, or that of a graph within it; the runs and all calls.

        Raises:
            FarsideError: ``not_found``; ``not_supported`` or ``no_such_namespace`` where there is no such graph.
        """
        thread = await self.thread(thread_id)
        # Under the lock: a run that has ended may still be closing its history.
        async with self.threads.locked(thread_id) as live:
            # While a run is under way its agent may have said what it has not stored yet: its events tell.
            seq = live.log.shown if live.active is None else await self.before_run(thread_id)
            if namespace:
                graph = graph_of(self.runtime_of(thread_id, thread.agent), thread.agent)
                state = await graph.at(thread_id, namespace, None)
            else:
                state = await self.agent_state(live, thread.agent)
            run = await self.store.latest_run(thread_id)
            return ThreadState(state, run, tuple(live.queue), await self.store.calls(thread_id), seq)

    async def agent_state(self, live: LiveThread, agent: str) -> AgentState:
        """Under the lock: the agent's state.

        Raises:
            FarsideError: ``unavailable``.
        """

        async def events() -> list[Event]:
            return list(await live.log.replay(0))

        runtime = self.runtime_of(live.id, agent)
        return AgentState({}) if runtime is None else await runtime.state(live.id, events, live.log.history)
