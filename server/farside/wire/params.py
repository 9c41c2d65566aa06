"""The parameters of each command."""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated, Any, Literal, Self

from pydantic import MISSING, AliasChoices, BeforeValidator, Field, field_validator, model_validator

from farside.errors import TOOL_CODES
from farside.wire.metadata import Metadata
from farside.wire.nouns import Channel, Failure, Id, Model, Namespace, Seq, ToolDeclaration, ToolResult, whole

MAX_PERMISSIONS = 256


def _few(value: Any) -> Any:
    """Checked before the members are: each wrong one would be an error to report."""
    if isinstance(value, Sized) and len(value) > MAX_PERMISSIONS:
        raise ValueError(f"expected at most {MAX_PERMISSIONS} entries")
    return value


Strategy = Literal["reject", "interrupt", "rollback", "enqueue"]
"""What a client wants to become of the run that is under way when its own comes."""


class RunStartParams(Model):
    """Start a run. Ours: ``run_id``, chosen by the client, makes a repeated command harmless.

    ``multitask_strategy`` (also ``multitaskStrategy``) and ``fork_from`` (also ``forkFrom``) are what LangGraph's
    clients send beside the published parameters. ``fork_from`` is the id of the checkpoint at which the run begins; the
    clients put it into ``config.configurable.checkpoint_id``, which means the same.
    """

    assistant_id: Id
    input: Any = MISSING
    config: dict[str, Any] | MISSING = MISSING
    metadata: Metadata | MISSING = MISSING
    run_id: Id | MISSING = MISSING
    multitask_strategy: Strategy | MISSING = Field(
        default=MISSING, validation_alias=AliasChoices("multitask_strategy", "multitaskStrategy")
    )
    fork_from: Id | MISSING = Field(default=MISSING, validation_alias=AliasChoices("fork_from", "forkFrom"))


class RunCancelParams(Model):
    """Ours. Stop the active run, or the named one."""

    run_id: Id | MISSING = MISSING


class Response(Model):
    """An answer to one interrupt."""

    interrupt_id: Id
    response: Any
    namespace: Namespace = []


class RunSend(Model):
    """A node of the agent's graph and what it is given (LangGraph's ``Send``)."""

    node: Id
    input: Any = MISSING


Goto = Id | RunSend | Annotated[list[Id | RunSend], Field(fail_fast=True, min_length=1, max_length=64)]
"""Where a graph is to go on beside what was interrupted."""


class InputRespondParams(Model):
    """Answer interrupts: either many (``responses``), each once, or one (``interrupt_id`` and ``response``).

    ``update`` and ``goto`` are carried out in the step that resumes the run (LangGraph's ``Command``); ``config`` and
    ``metadata`` replace entries of the run's own from then on.
    """

    responses: Annotated[list[Response], Field(fail_fast=True, max_length=1024)] | MISSING = MISSING
    interrupt_id: Id | MISSING = MISSING
    response: Any = MISSING
    namespace: Namespace = []
    update: dict[str, Any] | MISSING = MISSING
    goto: Goto | MISSING = MISSING
    config: dict[str, Any] | MISSING = MISSING
    metadata: dict[str, Any] | MISSING = MISSING

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


class InputMessage(Model):
    """What a user or the system says unasked."""

    role: Literal["user", "system"]
    content: str
    name: str | MISSING = MISSING


class InputInjectParams(Model):
    """Put a message into a run that is under way; refused with ``not_supported``."""

    namespace: Namespace = []
    message: InputMessage


class SubscribeParams(Model):
    """Receive events of these channels. Ours: ``since``, replay only what came after this seq."""

    channels: Annotated[list[Channel], Field(fail_fast=True, min_length=1, max_length=64)]
    namespaces: Annotated[list[Namespace], Field(fail_fast=True, max_length=256)] | MISSING = MISSING
    depth: Annotated[int, Field(ge=0), BeforeValidator(whole)] | MISSING = MISSING
    since: Seq | MISSING = MISSING


class UnsubscribeParams(Model):
    """End a subscription."""

    subscription_id: Id


class ReconnectParams(Model):
    """What a client that was away asks for before it subscribes anew. ``last_event_id``: the last event it has."""

    run_id: Id
    last_event_id: str | MISSING = MISSING
    subscriptions: Annotated[list[Id], Field(fail_fast=True, max_length=1024)] | MISSING = MISSING


class AgentGetTreeParams(Model):
    """Read which graphs a run, by default the newest, has entered."""

    run_id: Id | MISSING = MISSING


class StateGetParams(Model):
    """Read the thread's state, whole or some keys."""

    namespace: Namespace = []
    keys: Annotated[list[str], Field(fail_fast=True, max_length=1024)] | MISSING = MISSING


MAX_CHECKPOINTS = 1000

Limit = Annotated[int, Field(ge=1, le=MAX_CHECKPOINTS), BeforeValidator(whole)]


class ListCheckpointsParams(Model):
    """List checkpoints, the newest first. ``before``: only those older than this one."""

    namespace: Namespace = []
    limit: Limit = 10
    before: Id | MISSING = MISSING


class StateForkParams(Model):
    """Start a run at a checkpoint: with ``input``, or, without, with what was to happen there."""

    checkpoint_id: Id
    input: Any = MISSING
    config: dict[str, Any] | MISSING = MISSING


class ClientAnnounceParams(Model):
    """Ours. Who this page is and what it can do; sent first, and again whenever it changes. ``replaces``: the ids of
    pages that are gone, for whose calls this one answers."""

    client_id: Id
    replaces: Annotated[list[Id], Field(fail_fast=True, max_length=1024)] = []
    tools: Annotated[list[ToolDeclaration], Field(fail_fast=True, max_length=1024)]
    visible: bool = True
    focused: bool = False
    permissions: Annotated[dict[str, Literal["granted", "denied", "prompt"]], BeforeValidator(_few)] = {}


class CallClaimParams(Model):
    """Ours. Take a call for execution, or renew a claim. ``claim_id`` is made by the client, so that no reply can be
    lost with it: a new one for each claim, that nobody can guess."""

    interrupt_id: Id
    claim_id: Id


class CallReleaseParams(Model):
    """Ours. Decline an offer, or give up a claim. ``started``: it may have been executed, the outcome is unknown."""

    interrupt_id: Id
    claim_id: Id | MISSING = MISSING
    started: bool = False
    reason: str | MISSING = MISSING


class CallProgressParams(Model):
    """Ours. Show progress to subscribers; renews the claim."""

    interrupt_id: Id
    claim_id: Id
    value: Any


class CallSettleParams(Model):
    """Ours. Answer a call; acknowledged only when stored. ``claim_id`` proves a claim, also one that another client id
    made: a page that was reopened after a crash sends what the one before it has computed."""

    interrupt_id: Id
    claim_id: Id
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
    "input.inject": InputInjectParams,
    "subscription.subscribe": SubscribeParams,
    "subscription.unsubscribe": UnsubscribeParams,
    "subscription.reconnect": ReconnectParams,
    "agent.getTree": AgentGetTreeParams,
    "state.get": StateGetParams,
    "state.listCheckpoints": ListCheckpointsParams,
    "state.fork": StateForkParams,
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
