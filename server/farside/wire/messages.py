"""The messages of the wire, as pydantic models: the source of protocol/schema.json and of the TypeScript types.

The envelope (command, success, error, event) and every command without "ours" in its docstring are LangChain's
Agent Streaming Protocol (MIT, agent-protocol/streaming); protocol/README.md is the specification. Incoming
messages are checked against these models; unknown fields are ignored, so that newer clients keep working. A field
that may be absent is ``MISSING`` when it is; null is never the same as absent.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated, Any, Literal, Self

from pydantic import (
    MISSING,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from farside.errors import TOOL_CODES


def _whole(value: Any) -> Any:
    """1.0 equals 1: which of them arrives is the other side's encoder's affair."""
    return int(value) if type(value) is float and value.is_integer() else value


def _few(value: Any) -> Any:
    """Checked before the members are: each wrong one would be an error to report."""
    if isinstance(value, Sized) and len(value) > MAX_PERMISSIONS:
        raise ValueError(f"expected at most {MAX_PERMISSIONS} entries")
    return value


MAX_PERMISSIONS = 256

Id = Annotated[str, Field(min_length=1, max_length=256)]
"""An identifier: an opaque string."""

CommandId = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(_whole)]
Seq = Annotated[int, Field(ge=0, le=2**53 - 1), BeforeValidator(_whole)]
Namespace = Annotated[list[str], Field(fail_fast=True)]
Channel = Annotated[
    str, Field(pattern=r"^(values|updates|messages|tools|lifecycle|input|checkpoints|tasks|calls|custom(:.+)?)$")
]


class Model(BaseModel):
    """Base of all wire models: strict types, unknown fields ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


# --- the nouns that several messages share ---------------------------------------------------------------------


class ErrorBody(Model):
    """Why a tool call has no value. ``code`` is one of the family "tool" in errors.json."""

    code: str
    message: str
    details: dict[str, Any] | MISSING = MISSING


class Success(Model):
    """A tool result with a value."""

    status: Literal["success"]
    value: Any


class Failure(Model):
    """A tool result without a value."""

    status: Literal["error"]
    error: ErrorBody


ToolResult = Annotated[Success | Failure, Field(discriminator="status")]


class Call(Model):
    """An unsettled tool call as the subscribe reply and the event ``opened`` carry it.

    ``interrupt_id`` names the call in every command; ``tool_call_id`` is the model's id, which may repeat.
    ``deadline`` is in milliseconds of the server's clock since the epoch.
    """

    interrupt_id: Id
    tool_call_id: str
    run_id: Id
    name: str
    args: dict[str, Any]
    state: Literal["open", "claimed"]
    client_id: Id | MISSING = MISSING
    deadline: int | MISSING = MISSING
    title: str | MISSING = MISSING


class Interrupt(Model):
    """A pause that is no tool call: the payload is the agent's own."""

    interrupt_id: Id
    payload: Any


class ToolDeclaration(Model):
    """A tool that a page implements. ``fingerprint`` is that of the schema it was built against."""

    name: str
    fingerprint: str | MISSING = MISSING


# --- parameters of commands ------------------------------------------------------------------------------------


class RunStartParams(Model):
    """Start a run. Ours: ``run_id``, chosen by the client, makes a repeated command harmless."""

    assistant_id: Id
    input: Any = None
    config: dict[str, Any] | MISSING = MISSING
    metadata: dict[str, Any] | MISSING = MISSING
    run_id: Id | MISSING = MISSING


class RunCancelParams(Model):
    """Ours. Stop the active run, or the named one."""

    run_id: Id | MISSING = MISSING


class Response(Model):
    """An answer to one interrupt."""

    interrupt_id: Id
    response: Any
    namespace: Namespace = []


class InputRespondParams(Model):
    """Answer interrupts: either many (``responses``), each once, or one (``interrupt_id`` and ``response``)."""

    responses: Annotated[list[Response], Field(fail_fast=True, max_length=1024)] | MISSING = MISSING
    interrupt_id: Id | MISSING = MISSING
    response: Any = MISSING
    namespace: Namespace = []

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.responses is MISSING:
            if self.interrupt_id is MISSING or self.response is MISSING:
                raise ValueError("expected responses, or interrupt_id with response")
        elif self.interrupt_id is not MISSING or self.response is not MISSING:
            raise ValueError("expected responses, or interrupt_id with response; got both")
        elif not self.responses or len({each.interrupt_id for each in self.responses}) != len(self.responses):
            raise ValueError("expected at least one response, and one per interrupt")
        return self


class SubscribeParams(Model):
    """Receive events of these channels. Ours: ``since``, replay only what came after this seq."""

    channels: Annotated[list[Channel], Field(fail_fast=True, min_length=1, max_length=64)]
    namespaces: Annotated[list[Namespace], Field(fail_fast=True, max_length=256)] | MISSING = MISSING
    depth: Annotated[int, Field(ge=0), BeforeValidator(_whole)] | MISSING = MISSING
    since: Seq | MISSING = MISSING


class UnsubscribeParams(Model):
    """End a subscription."""

    subscription_id: Id


class StateGetParams(Model):
    """Read the thread's state, whole or some keys."""

    namespace: Namespace = []
    keys: Annotated[list[str], Field(fail_fast=True, max_length=1024)] | MISSING = MISSING


class ClientAnnounceParams(Model):
    """Ours. Who this page is and what it can do; sent first, and again whenever it changes."""

    client_id: Id
    tools: Annotated[list[ToolDeclaration], Field(fail_fast=True, max_length=1024)]
    visible: bool = True
    focused: bool = False
    permissions: Annotated[dict[str, Literal["granted", "denied", "prompt"]], BeforeValidator(_few)] = {}


class CallClaimParams(Model):
    """Ours. Take a call for execution, or renew one's own claim."""

    interrupt_id: Id


class CallReleaseParams(Model):
    """Ours. Give a call back, not begun."""

    interrupt_id: Id
    reason: str | MISSING = MISSING


class CallProgressParams(Model):
    """Ours. Show progress to subscribers; renews the claim."""

    interrupt_id: Id
    value: Any


class CallSettleParams(Model):
    """Ours. Answer a call; acknowledged only when stored."""

    interrupt_id: Id
    result: ToolResult

    @field_validator("result")
    @classmethod
    def _tool_code(cls, result: ToolResult) -> ToolResult:
        if isinstance(result, Failure) and result.error.code not in TOOL_CODES:
            raise ValueError(f"expected a code of the family tool, one of {', '.join(sorted(TOOL_CODES))}")
        return result


class ConnectionPingParams(Model):
    """Ours. Is anybody there?"""


COMMANDS: dict[str, type[Model]] = {
    "run.start": RunStartParams,
    "run.cancel": RunCancelParams,
    "input.respond": InputRespondParams,
    "subscription.subscribe": SubscribeParams,
    "subscription.unsubscribe": UnsubscribeParams,
    "state.get": StateGetParams,
    "client.announce": ClientAnnounceParams,
    "call.claim": CallClaimParams,
    "call.release": CallReleaseParams,
    "call.progress": CallProgressParams,
    "call.settle": CallSettleParams,
    "connection.ping": ConnectionPingParams,
}
"""The parameters of each command, by method."""

OURS = frozenset(
    {
        "client.announce",
        "call.claim",
        "call.release",
        "call.progress",
        "call.settle",
        "connection.ping",
    }
)
"""Commands that need a farside subprotocol; on a plain connection they answer ``not_supported``."""


# --- results of commands ---------------------------------------------------------------------------------------


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


class CheckpointRef(Model):
    id: str


class RunState(Model):
    """The thread's newest run. ``running`` includes waiting for a tool."""

    run_id: Id
    assistant_id: Id
    status: Literal["running", "completed", "failed", "cancelled"]
    error: ErrorBody | MISSING = MISSING


class SettledCall(Model):
    """A call with its answer, as ``state.get`` lists those whose result the messages do not hold."""

    interrupt_id: Id
    tool_call_id: str
    run_id: Id
    name: str
    args: dict[str, Any]
    result: ToolResult


class StateGetResult(Model):
    """``calls`` and ``run`` are ours: every call of the thread, settled ones with their result."""

    values: dict[str, Any]
    checkpoint: CheckpointRef | MISSING = MISSING
    run: RunState | MISSING = MISSING
    calls: list[Call | SettledCall] | MISSING = MISSING


class AnnounceLimits(Model):
    frame_bytes: int
    depth: int
    items: int


class ClientAnnounceResult(Model):
    """``ping_ms``: how often to ping; ``lease_ms``: how long a claim lasts; ``limits``: how large a frame may be."""

    ping_ms: int
    lease_ms: int
    limits: AnnounceLimits


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
    "subscription.subscribe": SubscribeResult,
    "subscription.unsubscribe": EmptyResult,
    "state.get": StateGetResult,
    "client.announce": ClientAnnounceResult,
    "call.claim": CallClaimResult,
    "call.release": EmptyResult,
    "call.progress": CallProgressResult,
    "call.settle": CallSettleResult,
    "connection.ping": EmptyResult,
}
"""The result of each command, by method."""


# --- the envelope ----------------------------------------------------------------------------------------------


class Command(Model):
    """Client to server."""

    id: CommandId
    method: str
    params: dict[str, Any] = {}


class ReplyMeta(Model):
    """``applied_through_seq``: the thread's newest seq when the command was carried out."""

    applied_through_seq: Seq


class SuccessReply(Model):
    type: Literal["success"]
    id: CommandId
    result: dict[str, Any]
    meta: ReplyMeta | MISSING = MISSING


class ErrorReply(Model):
    """``id`` is null when the command's id could not be read. ``retryable`` and ``details`` are ours."""

    type: Literal["error"]
    id: CommandId | None
    error: str
    message: str
    retryable: bool | MISSING = MISSING
    details: dict[str, Any] | MISSING = MISSING
    meta: ReplyMeta | MISSING = MISSING


# --- events ----------------------------------------------------------------------------------------------------


class LifecycleData(Model):
    """Ours: ``run_id``; ``input`` (with root ``running``: what the user sent); ``code`` (with ``failed``)."""

    event: Literal["started", "running", "completed", "failed", "interrupted"]
    graph_name: str | MISSING = MISSING
    run_id: Id | MISSING = MISSING
    input: Any = MISSING
    error: str | MISSING = MISSING
    code: str | MISSING = MISSING


class InputRequestedData(Model):
    interrupt_id: Id
    payload: Any


class CallOpened(Call):
    event: Literal["opened"]


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
    CallOpened | CallClaimed | CallReleased | CallProgressed | CallEnded, Field(discriminator="event")
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
    event: Literal["message-finish"]
    message_id: str | MISSING = MISSING
    usage: dict[str, Any] | MISSING = MISSING


class MessageError(Model):
    event: Literal["error"]
    message: str
    code: str | MISSING = MISSING
    message_id: str | MISSING = MISSING


MessagesData = Annotated[
    MessageStart | ContentBlockStart | ContentBlockDelta | ContentBlockFinish | MessageFinish | MessageError,
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
    delta: Any


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
    payload: Any
    name: str | MISSING = MISSING


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
    "custom": CustomData,
}
"""The type of ``params.data`` of each event, by method."""
