"""What drives an agent: one leg of a run after another."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from farside.core.model import (
    Call,
    CallKind,
    Event,
    JournalEntry,
    ToolResult,
)


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
