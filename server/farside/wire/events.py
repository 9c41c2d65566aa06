"""Events, and the data of each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import MISSING, Field

from farside.wire.nouns import Call, Id, Model, Namespace, Seq, ToolResult


class CauseToolCall(Model):
    """A tool call of the parent: its body called the graph."""

    type: Literal["toolCall"]
    tool_call_id: str


class LifecycleData(Model):
    """``started`` is for graphs within the graph, with ``cause`` where it is known.

    Ours: ``queued`` (never on a plain connection); ``run_id``; ``input`` (with root ``running`` and ``queued``: what
    the user sent); ``code`` (with ``failed``); ``replaced_by`` (with ``interrupted``: the run of the message that came
    in its place; a plain connection hears nothing of this end)."""

    event: Literal["queued", "started", "running", "completed", "failed", "interrupted"]
    graph_name: str | MISSING = MISSING
    cause: CauseToolCall | MISSING = MISSING
    run_id: Id | MISSING = MISSING
    input: Any = MISSING
    error: str | MISSING = MISSING
    code: str | MISSING = MISSING
    replaced_by: Id | MISSING = MISSING


class InputRequestedData(Model):
    interrupt_id: Id
    payload: Any


class CallOpened(Call):
    event: Literal["opened"]


class CallOffered(Model):
    """The client may claim the call now; nobody else may until it is offered to another or released."""

    event: Literal["offered"]
    interrupt_id: Id
    client_id: Id


class CallClaimed(Model):
    event: Literal["claimed"]
    interrupt_id: Id
    client_id: Id


class CallReleased(Model):
    event: Literal["released"]
    interrupt_id: Id
    reason: str | MISSING = MISSING


class CallProgressed(Model):
    event: Literal["progress"]
    interrupt_id: Id
    value: Any


class CallEnded(Model):
    """``settled`` by an answer, ``cancelled`` by stop or a new message, ``expired`` by its deadline."""

    event: Literal["settled", "cancelled", "expired"]
    interrupt_id: Id
    tool_call_id: str
    name: str
    result: ToolResult


CallsData = Annotated[
    CallOpened | CallOffered | CallClaimed | CallReleased | CallProgressed | CallEnded, Field(discriminator="event")
]


class TextDelta(Model):
    type: Literal["text-delta"]
    text: str


class ReasoningDelta(Model):
    type: Literal["reasoning-delta"]
    reasoning: str


class DataDelta(Model):
    type: Literal["data-delta"]
    data: str
    encoding: Literal["base64"] | MISSING = MISSING


class BlockDelta(Model):
    type: Literal["block-delta"]
    fields: dict[str, Any]


class ToolCallDelta(Model):
    type: Literal["tool-call-delta"]
    args: str


class MessageStart(Model):
    """Ours, in all message events: ``message_id``, so that two messages may stream at once."""

    event: Literal["message-start"]
    role: Literal["ai", "human", "system", "tool"]
    id: str
    message_id: str | MISSING = MISSING
    metadata: dict[str, Any] | MISSING = MISSING


class ContentBlockStart(Model):
    event: Literal["content-block-start"]
    index: int
    content: dict[str, Any]
    message_id: str | MISSING = MISSING


class ContentBlockDelta(Model):
    event: Literal["content-block-delta"]
    index: int
    delta: Annotated[TextDelta | ReasoningDelta | DataDelta | BlockDelta | ToolCallDelta, Field(discriminator="type")]
    message_id: str | MISSING = MISSING


class ContentBlockFinish(Model):
    event: Literal["content-block-finish"]
    index: int
    content: dict[str, Any]
    message_id: str | MISSING = MISSING


class MessageFinish(Model):
    """``usage``: the tokens of this message. ``metadata``: what the provider said of its answer."""

    event: Literal["message-finish"]
    message_id: str | MISSING = MISSING
    usage: dict[str, Any] | MISSING = MISSING
    metadata: dict[str, Any] | MISSING = MISSING


class MessageError(Model):
    event: Literal["error"]
    message: str
    code: str | MISSING = MISSING
    message_id: str | MISSING = MISSING


class MessageRemoved(Model):
    """Ours. A run began at a checkpoint that lacks the message."""

    event: Literal["message-removed"]
    message_id: str


MessagesData = Annotated[
    MessageStart
    | ContentBlockStart
    | ContentBlockDelta
    | ContentBlockFinish
    | MessageFinish
    | MessageError
    | MessageRemoved,
    Field(discriminator="event"),
]


class ToolStarted(Model):
    event: Literal["tool-started"]
    tool_call_id: str
    tool_name: str
    input: Any = MISSING


class ToolOutputDelta(Model):
    event: Literal["tool-output-delta"]
    tool_call_id: str
    delta: str


class ToolFinished(Model):
    """Ours: ``interrupt_id``, where the tool was a headless one of a plain function agent."""

    event: Literal["tool-finished"]
    tool_call_id: str
    output: Any
    interrupt_id: Id | MISSING = MISSING


class ToolFailed(Model):
    event: Literal["tool-error"]
    tool_call_id: str
    message: str
    code: str | MISSING = MISSING


ToolsData = Annotated[ToolStarted | ToolOutputDelta | ToolFinished | ToolFailed, Field(discriminator="event")]


class CustomData(Model):
    """``name``: of the channel ``custom:<name>``, which carries the event too."""

    payload: Any
    name: str | MISSING = MISSING


class UpdatesData(Model):
    """What a node of the graph has written to its state."""

    node: str | MISSING = MISSING
    values: dict[str, Any]


class CheckpointsData(Model):
    """A checkpoint that the graph has stored, without the state in it. ``step`` -1: before the first step."""

    id: Id
    parent_id: Id | MISSING = MISSING
    step: int
    source: Literal["input", "loop", "update", "fork"]


class TaskStarted(Model):
    """A node of the graph begins. ``metadata``: ``lc_agent_name``, where the graph is an agent with a name."""

    id: str
    name: str
    input: Any
    triggers: list[str]
    metadata: dict[str, Any] | MISSING = MISSING


class TaskEnded(Model):
    """A node has ended, or paused: then ``interrupts`` holds what for. ``error`` says only that it failed."""

    id: str
    name: str
    error: str | None
    result: Any
    interrupts: list[Any]


TasksData = TaskStarted | TaskEnded


class EventParams(Model):
    """``namespace``: the graph's path, empty at the root. ``timestamp``: milliseconds since the epoch."""

    namespace: Namespace
    timestamp: int
    data: Any


class Event(Model):
    """Server to client. ``event_id`` is the same in every replay; ``seq`` grows along the thread."""

    type: Literal["event"]
    event_id: str
    seq: Seq
    method: str
    params: EventParams


EVENTS: dict[str, Any] = {
    "lifecycle": LifecycleData,
    "input.requested": InputRequestedData,
    "calls": CallsData,
    "messages": MessagesData,
    "tools": ToolsData,
    "values": dict[str, Any],
    "updates": UpdatesData,
    "checkpoints": CheckpointsData,
    "tasks": TasksData,
    "custom": CustomData,
}
"""The type of ``params.data`` of each event, by method."""
