"""The result of each command."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import MISSING

from farside.wire.nouns import Call, ErrorBody, Id, Interrupt, Model, Namespace, ToolResult

AgentStatus = Literal["started", "running", "completed", "failed", "interrupted"]


class EmptyResult(Model):
    """The result of a command that only succeeds."""


class RunStartResult(Model):
    run_id: Id


class SubscribeResult(Model):
    """``calls`` and ``interrupts`` (ours) are what is open now: state, not events."""

    subscription_id: Id
    replayed_events: int
    calls: list[Call] | MISSING = MISSING
    interrupts: list[Interrupt] | MISSING = MISSING


class AgentStatusEntry(Model):
    """A graph within the agent, by where it is, and how it stands."""

    namespace: Namespace
    status: AgentStatus


class ReconnectResult(Model):
    """``restored`` is always false: subscribe anew, with ``since``. ``missed_events``: how many came after
    ``last_event_id``, where that was one of the thread's."""

    restored: bool
    missed_events: int | MISSING = MISSING
    current_namespaces: list[AgentStatusEntry]


class AgentTreeNode(AgentStatusEntry):
    """A graph that a run has entered, and the graphs within it."""

    graph_name: str
    children: list[AgentTreeNode] | MISSING = MISSING


class AgentGetTreeResult(Model):
    tree: AgentTreeNode


class CheckpointSummary(Model):
    """A checkpoint. ``timestamp`` is ISO 8601; ``step`` counts the supersteps, -1 for a thread's first input."""

    id: str
    timestamp: str
    step: int
    metadata: dict[str, Any] | MISSING = MISSING


class ListCheckpointsResult(Model):
    checkpoints: list[CheckpointSummary]


class StateForkResult(Model):
    run_id: Id
    thread_id: str


class CheckpointRef(Model):
    """``ns``: the namespace, its segments joined by ``|``; absent for the root's."""

    id: str
    ns: str | MISSING = MISSING


class RunState(Model):
    """The run that is under way, else the newest that ended. ``running`` includes waiting for a tool."""

    run_id: Id
    assistant_id: Id
    status: Literal["running", "completed", "failed", "cancelled"]
    error: ErrorBody | MISSING = MISSING


class QueuedRun(Model):
    """A run that starts when those before it have ended."""

    run_id: Id
    assistant_id: Id
    input: Any


class SettledCall(Model):
    """A call with its answer, as ``state.get`` lists those whose result the messages do not hold."""

    interrupt_id: Id
    tool_call_id: str
    run_id: Id
    name: str
    args: dict[str, Any]
    result: ToolResult


class StateGetResult(Model):
    """``calls``, ``run``, ``queued`` are ours: every call of the thread, settled ones with their result; the run; and
    the runs that wait for it, in order."""

    values: dict[str, Any]
    checkpoint: CheckpointRef | MISSING = MISSING
    run: RunState | MISSING = MISSING
    calls: list[Call | SettledCall] | MISSING = MISSING
    queued: list[QueuedRun] | MISSING = MISSING


class AnnounceLimits(Model):
    frame_bytes: int
    depth: int
    items: int


class ToolMismatch(Model):
    """A tool that was announced with the ``fingerprint`` of other schemas than the server's, which has ``expected``."""

    name: str
    fingerprint: str
    expected: str


class ClientAnnounceResult(Model):
    """``ping_ms``: how often to ping; ``lease_ms``: how long a claim lasts; ``limits``: how large a frame may be;
    ``mismatches``: the announced tools whose schemas are not the server's, those that this connection has not been told
    of before."""

    ping_ms: int
    lease_ms: int
    limits: AnnounceLimits
    mismatches: list[ToolMismatch] | MISSING = MISSING


class CallClaimResult(Model):
    """The call is yours for ``lease_ms``; renew it before then by claiming again."""

    interrupt_id: Id
    tool_call_id: str
    name: str
    args: dict[str, Any]
    lease_ms: int
    deadline: int | MISSING = MISSING


class CallProgressResult(Model):
    lease_ms: int


class CallSettleResult(Model):
    """What was stored: an answer that does not fit the result schema is stored as ``invalid_result``."""

    result: ToolResult


RESULTS: dict[str, type[Model]] = {
    "run.start": RunStartResult,
    "run.cancel": EmptyResult,
    "input.respond": EmptyResult,
    "input.inject": EmptyResult,
    "subscription.subscribe": SubscribeResult,
    "subscription.unsubscribe": EmptyResult,
    "subscription.reconnect": ReconnectResult,
    "agent.getTree": AgentGetTreeResult,
    "state.get": StateGetResult,
    "state.listCheckpoints": ListCheckpointsResult,
    "state.fork": StateForkResult,
    "client.announce": ClientAnnounceResult,
    "call.claim": CallClaimResult,
    "call.release": EmptyResult,
    "call.progress": CallProgressResult,
    "call.settle": CallSettleResult,
    "connection.ping": EmptyResult,
}
"""The result of each command, by method."""
