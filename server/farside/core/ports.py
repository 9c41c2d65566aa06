"""What the engine asks of the world: a store, a bus, a runtime for each agent, a clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from farside.core.model import (
    Call,
    CallKind,
    Event,
    JournalEntry,
    Run,
    Thread,
    ThreadInfo,
    ThreadUpdate,
    ToolResult,
)
from farside.core.routing import Mismatch, Presence
from farside.wire.threads import ThreadSort, ThreadStatus

# --- the store -------------------------------------------------------------------------------------------------

Write = Thread | ThreadUpdate | Run | Call | Event | JournalEntry
"""One row to be written: inserted, or replaced by its key, which keeps its place in any order. A Call is refused when
its version is stale. The rows of a commit are written in their order, its ThreadUpdates at the end."""


class StaleWrite(Exception):  # noqa: N818 - an outcome that callers expect
    """A call was changed by somebody else meanwhile; nothing of the commit was stored."""


class LeaseLost(Exception):  # noqa: N818 - an outcome that callers expect
    """Another process drives the thread; nothing of the commit was stored."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one process to drive a thread. It holds for as long as the process gives signs of life.

    ``load_id`` tells the times apart that the process has loaded the thread: what it remembers from before is void.
    """

    thread_id: str
    process_id: str
    load_id: str = ""


@dataclass(frozen=True, slots=True)
class ThreadQuery:
    """Which threads are looked for, and how they are listed; those that sort alike by their ids.

    ``metadata``: what theirs must have (``farside.wire.metadata.labels``). ``ids``: None for any.
    """

    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: ThreadStatus | None = None
    ids: tuple[str, ...] | None = None
    sort_by: ThreadSort = "updated_at"
    descending: bool = True
    limit: int = 10
    offset: int = 0


class Store(Protocol):
    """Where threads, runs, calls, events and journals survive. Every implementation passes the contract suite."""

    async def open(self) -> None:
        """Connect, and bring the schema to this version."""
        ...

    async def close(self) -> None: ...

    async def commit(self, writes: Sequence[Write], *, lease: Lease | None = None) -> None:
        """Store all of it or nothing. On return it survives a crash, as far as the store is durable.

        A :class:`Call` is written only if the stored version is ``call.version - 1`` (none for version 1). A
        :class:`ThreadUpdate` of a thread that is not there changes nothing.

        Args:
            lease: must be held, or nothing is stored.

        Raises:
            StaleWrite: a call's version did not fit.
            LeaseLost: another process has the lease.
            FarsideError: ``too_large``: a thread's metadata would be.
        """
        ...

    async def delete(self, thread_id: str, *, lease: Lease) -> None:
        """Forget everything of the thread, the lease on it included; all of it or nothing.

        Raises:
            LeaseLost: another process has the lease.
        """
        ...

    # which process drives a thread

    async def beat(self, process_id: str, until: int) -> None:
        """A sign of life: the process holds its leases until then."""
        ...

    async def processes(self) -> Sequence[str]:
        """The processes that gave a sign of life and have not been buried."""
        ...

    async def bury(self, process_id: str) -> None:
        """The process is gone: it holds nothing any more."""
        ...

    async def acquire(self, lease: Lease, now: int) -> bool:
        """Take the lease, unless another process holds it whose last sign of life is good at ``now``."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back, if it is held."""
        ...

    async def held(self, process_id: str) -> Sequence[Lease]:
        """The leases that the process holds."""
        ...

    async def stranded(self, now: int) -> Sequence[Run]:
        """Runs that are running or queued, of all threads that no living process drives; the oldest first."""
        ...

    # reading

    async def thread(self, thread_id: str) -> Thread | None: ...

    async def search(self, query: ThreadQuery) -> Sequence[ThreadInfo]:
        """The threads that fit, in the query's order, at most ``limit`` behind the first ``offset``.

        The status of one: ``interrupted`` with an unsettled call, else ``busy`` with a run that is running or queued,
        else ``error`` when the newest run that has started failed, else ``idle``.
        """
        ...

    async def count(self, query: ThreadQuery) -> int:
        """How many threads fit; order, ``limit`` and ``offset`` mean nothing."""
        ...

    async def run(self, thread_id: str, run_id: str) -> Run | None: ...

    async def latest_run(self, thread_id: str) -> Run | None:
        """The newest run that has started."""
        ...

    async def queued(self, thread_id: str) -> Sequence[Run]:
        """The runs with status "queued", the oldest first."""
        ...

    async def unfinished(self) -> Sequence[Run]:
        """All runs that are running or queued, of all threads, the oldest first."""
        ...

    async def call(self, thread_id: str, interrupt_id: str) -> Call | None: ...

    async def calls(self, thread_id: str, *, run_id: str | None = None, unsettled: bool = False) -> Sequence[Call]:
        """Calls of a thread in the order in which they were opened."""
        ...

    async def next_due(self) -> int | None:
        """The smallest ``Call.due`` of all unsettled calls."""
        ...

    async def due(self, now: int) -> Sequence[Call]:
        """Unsettled calls with ``Call.due <= now``."""
        ...

    async def events(self, thread_id: str, *, after: int = 0) -> Sequence[Event]:
        """Stored events of a thread with ``seq > after``, in order."""
        ...

    async def run_started_seq(self, thread_id: str) -> int:
        """The seq of the first event of the newest run that has started, 0 when there is none."""
        ...

    async def journal(self, thread_id: str, run_id: str) -> Sequence[JournalEntry]: ...

    async def history(self, thread_id: str) -> Sequence[JournalEntry]:
        """The entries of kind "message" of all runs of a thread, in the order of writing."""
        ...


# --- the bus ---------------------------------------------------------------------------------------------------


class Listener(Protocol):
    """A connection's ear on a thread. Its methods are called synchronously and must not block."""

    @property
    def plain(self) -> bool:
        """The connection has no farside subprotocol: it hears ``input.requested`` when it is chosen."""
        ...

    @property
    def client_id(self) -> str:
        """Who the connection speaks for: its client, or for a plain connection itself."""
        ...

    def speak_for(self, client_id: str) -> None:
        """The connection is that of a client which had another one before."""
        ...

    @property
    def presence(self) -> Presence | None:
        """What its page can do now; None for one that cannot take calls: it said nothing, or does not listen."""
        ...

    def __call__(self, event: Event) -> None: ...

    def wants(self, method: str) -> bool:
        """Whether the connection would see events of this method (saves making what nobody wants)."""
        ...

    def offer(self, call: Call, seq: int, *, again: bool = False) -> None:
        """The call is now this plain connection's. ``again``: its page may have been told of it before."""
        ...

    def mismatched(self, call: Call, mismatch: Mismatch) -> None:
        """The page has the call's tool with other schemas than the server's: it is not offered the call."""
        ...

    @property
    def is_retired(self) -> bool:
        """Whether another connection speaks for the client now."""
        ...

    def retire(self) -> None:
        """Another connection speaks for the client now: nothing more of this one is carried out."""
        ...

    def hang_up(self, code: int, reason: str) -> None:
        """End the connection, with a WebSocket close code."""
        ...


class Bus(Protocol):
    """Carries a thread's events to its listeners."""

    def publish(self, event: Event) -> None: ...

    def listen(self, thread_id: str, listener: Listener) -> Callable[[], None]:
        """Hear every later event of the thread; returns what ends it."""
        ...

    def listeners(self, thread_id: str) -> Sequence[Listener]:
        """Who listens in this process, in the order of joining."""
        ...

    def wanted(self, thread_id: str, method: str) -> bool:
        """Whether any listener wants events of this method."""
        ...


# --- the runtime -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Directive:
    """What came with an answer beside its value: an ``update`` of the agent's state, and where to ``goto`` (names of
    nodes, or ``{node, input}``)."""

    update: Mapping[str, Any] = field(default_factory=dict[str, Any])
    goto: Sequence[str | Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Leg:
    """One stretch of a run, from a start or an answer to the next pause or the end.

    ``start``: begin with ``input``. ``resume``: continue with ``answers`` (by interrupt id), the whole batch of the
    last pause as settled calls. ``recover``: the process died; find out from what is stored where the run stands and go
    on; ``answers`` holds all settled calls of the run.

    ``directives``: what came with those answers, by the interrupt id of one of them. ``checkpoint_id``: where the run
    begins, None for where the thread stands.
    """

    kind: Literal["start", "resume", "recover"]
    thread_id: str
    run_id: str
    input: Any
    config: Mapping[str, Any]
    answers: Mapping[str, Call]
    directives: Mapping[str, Directive] = field(default_factory=dict[str, Directive])
    checkpoint_id: str | None = None


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Which run a context is made for."""

    agent: str
    thread_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Emit:
    """Something to show: an event without its seq. ``for_plain``: only to connections without our subprotocol."""

    method: str
    data: dict[str, Any]
    namespace: tuple[str, ...] = ()
    durable: bool = True
    for_plain: bool = False


@dataclass(frozen=True, slots=True)
class NewCall:
    """A pause that can be answered from now on, also after a crash (L1). ``timeout`` in seconds."""

    interrupt_id: str
    kind: CallKind
    tool_call_id: str
    name: str
    args: dict[str, Any]
    title: str | None = None
    idempotent: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """Pauses, all that are new at this moment. Reporting a known one again is harmless."""

    calls: tuple[NewCall, ...]


@dataclass(frozen=True, slots=True)
class AgentState:
    """An agent's state as its clients may see it: plain values. ``next`` is empty when nothing is under way.

    Where it is a checkpoint: ``namespace`` is where in the agent it lies, ``parent_id`` the checkpoint before it,
    ``created_at`` its time in ISO 8601, ``metadata`` what the runtime knows of it (``source``, ``step``, ``run_id``)
    and ``tasks`` what was to happen there, as LangGraph's clients read it; without the pauses that are tool calls,
    which are offered, not read.
    """

    values: dict[str, Any]
    checkpoint_id: str | None = None
    next: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ()
    parent_id: str | None = None
    created_at: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tasks: Sequence[Mapping[str, Any]] = ()


class Desk(Protocol):
    """What the engine lends a runtime for one leg."""

    journal: Mapping[str, JournalEntry]
    """What the run has recorded, by position."""

    calls: Mapping[str, Call]
    """The calls of the run so far, by interrupt id. Loaded only for a runtime that replays."""

    async def record(self, entry: JournalEntry) -> None:
        """Store an entry; on return it survives a crash."""
        ...

    def record_soon(self, entry: JournalEntry) -> None:
        """Store an entry with the next commit."""
        ...

    async def history(self) -> Sequence[JournalEntry]:
        """The messages that the thread's runs have recorded, in order, for agents that keep no state of their own."""
        ...

    async def settled(self, run_id: str) -> Mapping[str, Call]:
        """The calls of a run of the thread that have ended, with their results, by interrupt id."""
        ...

    async def answer(self, interrupt_id: str) -> ToolResult:
        """Wait for the answer to a call that this leg opened."""
        ...

    def wanted(self, method: str) -> bool:
        """Whether anybody listens to this method now."""
        ...

    def implements(self, tool: str) -> bool:
        """Whether a page that is connected now implements the tool, as far as they said."""
        ...


class ToolSpec(Protocol):
    """What the engine needs to know of a declared tool."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Changes with the name and the schemas."""
        ...

    def check_result(self, result: ToolResult) -> ToolResult:
        """The result itself, or the failure ``invalid_result``."""
        ...


class AgentGraph(Protocol):
    """What an agent offers beyond its runs when it is a graph with checkpoints."""

    async def at(self, thread_id: str, namespace: Sequence[str], checkpoint_id: str | None) -> AgentState:
        """The state at a checkpoint, or now, of the agent or of a graph within it.

        Raises:
            FarsideError: ``no_such_namespace``, ``no_such_checkpoint``.
        """
        ...

    async def history(
        self,
        thread_id: str,
        namespace: Sequence[str],
        limit: int,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Sequence[AgentState]:
        """The checkpoints, the newest first.

        Args:
            before: only those older than this one.
            metadata: only those that have these entries.

        Raises:
            FarsideError: ``no_such_namespace``.
        """
        ...

    async def start_of(self, thread_id: str, run_id: str) -> str | None:
        """The checkpoint with which a run began, None when it has stored none."""
        ...

    async def check(self, thread_id: str, directive: Directive) -> None:
        """Raises FarsideError ``invalid_argument``: the graph has no such node or key, or a message would come between
        an open tool call and its tool message (L6)."""
        ...

    def drawing(self, xray: bool | int) -> dict[str, Any]:
        """The graph's ``nodes`` and ``edges``.

        Args:
            xray: whether the graphs within it are drawn too, or to which depth.
        """
        ...


class Runtime(Protocol):
    """Executes an agent. One instance per agent."""

    @property
    def graph(self) -> AgentGraph | None:
        """The agent as a graph; None for one that is none, and keeps no checkpoints."""
        ...

    replays: bool
    """True: the leg stays alive across pauses, takes each answer from ``desk.answer`` as soon as it is settled, and
    after a crash is replayed from journal and calls. False: the leg ends at a pause, and one new leg gets the whole
    batch."""

    def run(self, leg: Leg, desk: Desk) -> AsyncGenerator[Emit | Opened, None]:
        """Execute. Ends when the run is over or paused; raises when the run failed."""
        ...

    async def state(
        self,
        thread_id: str,
        events: Callable[[], Awaitable[list[Event]]],
        history: Callable[[], Awaitable[Sequence[JournalEntry]]],
    ) -> AgentState:
        """The agent's state. For runtimes that keep no state ``events()`` gives the thread's stored events and
        ``history()`` what :meth:`Desk.history` does."""
        ...

    async def abandon(
        self,
        thread_id: str,
        run_id: str,
        reason: str,
        answers: Mapping[str, Call],
        input: Any,
        said: Mapping[str, str],
        desk: Desk,
    ) -> None:
        """The run will not go on: leave a history in which every tool call has its one tool message (L6).

        ``answers``: the run's settled calls, by interrupt id. ``input``: what the user said, which stays in the history
        even if the agent did not come to it. ``said``: texts of unfinished messages, by message id, which stay too.
        ``desk``: what the run has recorded, and where its end is.
        """
        ...

    async def delete(self, thread_id: str) -> None:
        """Delete what the runtime itself stores of the thread, if it does; nothing is under way.

        Raises:
            FarsideError: ``not_supported``: where it is stored nothing can be deleted.
        """
        ...

    def forget(self, thread_id: str) -> None:
        """The thread was elsewhere meanwhile: what is remembered of it does not count any more."""
        ...

    def tool(self, name: str) -> ToolSpec | None:
        """The declared headless tool of that name, when it is known."""
        ...


# --- the clock -------------------------------------------------------------------------------------------------


class Clock(Protocol):
    """Time, so that tests can move it."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...

    async def sleep_until(self, when: int) -> None: ...
