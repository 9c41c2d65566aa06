"""The nouns, as frozen values. Times are milliseconds since the epoch, by the server's clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from farside.wire.messages import ErrorBody, Failure, Success
from farside.wire.threads import ThreadStatus

ToolResult = Success | Failure
"""What a call ended with: a value, or an error."""

RunStatus = Literal["queued", "running", "completed", "failed", "cancelled"]
CallState = Literal["open", "offered", "claimed", "settled", "cancelled", "expired"]
CallKind = Literal["tool", "input"]


@dataclass(frozen=True, slots=True)
class Thread:
    """A durable conversation. ``reserved_seq``: no event with a larger seq was ever shown to anybody."""

    id: str
    agent: str
    created_at: int
    reserved_seq: int = 0


@dataclass(frozen=True, slots=True)
class ThreadUpdate:
    """Something happened to a thread, at a time that a list of threads shows.

    ``metadata``: members to be merged into the thread's. They are kept by the store alone, so whoever speaks for the
    thread may change them, also while another process drives it. ``has_run``: one of its runs began or ended.
    """

    thread_id: str
    at: int
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    has_run: bool = False


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread in a list. ``agent`` is empty before its first run.

    ``updated_at``: the newest :class:`ThreadUpdate`; ``state_updated_at``: the newest that ``has_run``.
    """

    id: str
    agent: str
    created_at: int
    updated_at: int
    state_updated_at: int
    metadata: dict[str, Any]
    status: ThreadStatus


@dataclass(frozen=True, slots=True)
class Run:
    """One execution on a thread. ``running`` includes waiting for a tool, ``queued`` is waiting for its turn.

    ``starter``: the client that asked for it, the first choice for its calls. ``started``: its turn has come; a run
    that was withdrawn before that has no events of its own.
    """

    id: str
    thread_id: str
    agent: str
    input: Any
    config: dict[str, Any]
    status: RunStatus
    created_at: int
    error: ErrorBody | None = None
    starter: str | None = None
    started: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """A pause of a run: a tool call (``kind`` "tool"), or a question of the agent's own ("input").

    ``version`` grows with every stored change; a store refuses a change that was based on an older one.
    For "input" the payload is in ``args["payload"]``, name and tool_call_id are empty.

    ``client_id``: who is offered the call, or has claimed it; ``claim_id`` names the claim and proves it.
    ``lease_until``: when the offer or the claim ends. ``ended_by``: the client that answered, None when it was the
    server's doing.
    """

    thread_id: str
    run_id: str
    interrupt_id: str
    kind: CallKind
    tool_call_id: str
    name: str
    args: dict[str, Any]
    opened_at: int
    state: CallState = "open"
    title: str | None = None
    idempotent: bool = False
    deadline: int | None = None
    client_id: str | None = None
    claim_id: str | None = None
    lease_until: int | None = None
    result: ToolResult | None = None
    ended_at: int | None = None
    ended_by: str | None = None
    version: int = 0

    @property
    def ended(self) -> bool:
        """Whether the call has its result."""
        return self.result is not None

    @property
    def due(self) -> int | None:
        """When something happens to the call by itself: its deadline, or the end of its offer or lease."""
        if self.ended:
            return None
        times = [time for time in (self.deadline, self.lease_until) if time is not None]
        return min(times) if times else None

    def payload(self) -> Any:
        """The interrupt's value as the Agent Streaming Protocol carries it."""
        if self.kind == "input":
            return self.args["payload"]
        return {"type": "tool", "tool_call": {"id": self.tool_call_id, "name": self.name, "args": self.args}}

    def snapshot(self) -> dict[str, Any]:
        """The call on the wire: ``Call`` while it is unsettled, ``SettledCall`` after."""
        shown: dict[str, Any] = {
            "interrupt_id": self.interrupt_id,
            "tool_call_id": self.tool_call_id,
            "run_id": self.run_id,
            "name": self.name,
            "args": self.args,
        }
        if self.result is not None:
            shown["result"] = self.result.model_dump()
            return shown
        shown["state"] = self.state
        if self.client_id is not None:
            shown["client_id"] = self.client_id
        if self.deadline is not None:
            shown["deadline"] = self.deadline
        if self.title is not None:
            shown["title"] = self.title
        return shown


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of a thread's log.

    ``durable`` events are stored; the others (text deltas, progress, values) are for those who are here now.
    ``for_plain``: only connections without our subprotocol need it. ``part``: tells apart what one event is heard as.
    """

    thread_id: str
    run_id: str
    seq: int
    method: str
    namespace: tuple[str, ...]
    timestamp: int
    data: dict[str, Any]
    durable: bool = True
    for_plain: bool = False
    part: str = ""
    frames: dict[str, str | bytes] = field(default_factory=dict[str, "str | bytes"], compare=False, repr=False)
    """The encoded event by codec name: encoded once, sent to many."""

    @property
    def event_id(self) -> str:
        """The same in every replay; for a question, which is sent from state, it is made of the question's own id."""
        if self.method == "input.requested":
            return f"{self.data['interrupt_id']}:requested"
        return f"{self.run_id}:{self.seq}{self.part}"

    @property
    def result_of(self) -> str | None:
        """The interrupt id of the call whose result the event carries, None for other events."""
        has_result = self.data.get("event") in ("settled", "cancelled", "expired", "tool-finished")
        return self.data.get("interrupt_id") if has_result and self.method in ("calls", "tools") else None

    def without_result(self) -> Event:
        """The event as it is stored: a result, which may be large, is stored once, with its call."""
        if self.result_of is None:
            return self
        return replace(self, data={k: v for k, v in self.data.items() if k not in ("result", "output")}, frames={})

    def with_result(self, result: ToolResult) -> Event:
        """A stored event as it was shown."""
        if self.method == "calls":
            return replace(self, data={**self.data, "result": result.model_dump()})
        return replace(self, data={**self.data, "output": result.value if isinstance(result, Success) else None})

    def message(self) -> dict[str, Any]:
        """The event on the wire."""
        return {
            "type": "event",
            "event_id": self.event_id,
            "seq": self.seq,
            "method": self.method,
            "params": {"namespace": list(self.namespace), "timestamp": self.timestamp, "data": self.data},
        }


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """What an agent did at one position of a run: a step's result, that a text was said, a message of its history; or
    what came with an answer beside its value (a "directive")."""

    thread_id: str
    run_id: str
    position: str
    kind: Literal["step", "say", "message", "directive"]
    name: str
    value: Any


def failure(code: str, message: str, details: dict[str, Any] | None = None) -> Failure:
    """A failed tool result."""
    if details is None:
        return Failure(status="error", error=ErrorBody(code=code, message=message))
    return Failure(status="error", error=ErrorBody(code=code, message=message, details=details))


def success(value: Any) -> Success:
    """A tool result with a value."""
    return Success(status="success", value=value)
