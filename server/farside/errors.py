"""The one exception that farside raises on purpose, and the codes it carries.

The code is the contract: programs compare codes, people read messages. The catalogue below is written to
``protocol/errors.json`` (``make generate``), which the TypeScript half reads too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Family = Literal["protocol", "not_found", "conflict", "run", "tool", "unavailable"]


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One entry of the catalogue.

    ``family`` says what the caller does about it; ``retryable`` whether the same command can succeed later,
    unchanged; ``official`` whether LangChain's Agent Streaming Protocol lists the code (its ``ErrorCode``).
    """

    family: Family
    meaning: str
    retryable: bool = False
    official: bool = False


CODES: dict[str, ErrorCode] = {
    # protocol: mend the client
    "malformed_frame": ErrorCode("protocol", "The frame is no message: not JSON or MessagePack, or the wrong kind."),
    "invalid_value": ErrorCode("protocol", "A value lies outside the data model (big integer, NaN, __proto__ ...)."),
    "too_deep": ErrorCode("protocol", "A value is nested deeper than the limit."),
    "too_large": ErrorCode("protocol", "A frame or a value is larger than the limit."),
    "invalid_argument": ErrorCode("protocol", "A parameter is missing or has the wrong type.", official=True),
    "unknown_command": ErrorCode("protocol", "No command has this method.", official=True),
    "not_supported": ErrorCode(
        "protocol", "The command exists, but not on this connection, or for this agent.", official=True
    ),
    "not_announced": ErrorCode("protocol", "The command needs a client.announce before it.", retryable=True),
    # not found: the thing is not there (or not yours)
    "not_found": ErrorCode("not_found", "No such thread, agent or call."),
    "no_such_run": ErrorCode("not_found", "No such run on this thread.", official=True),
    "no_such_interrupt": ErrorCode("not_found", "No such interrupt on this thread.", official=True),
    "no_such_checkpoint": ErrorCode("not_found", "No such checkpoint on this thread.", official=True),
    "no_such_namespace": ErrorCode("not_found", "No part of the thread's state has this namespace.", official=True),
    "no_such_subscription": ErrorCode("not_found", "No such subscription on this connection.", official=True),
    # conflict: the state does not allow it
    "run_active": ErrorCode("conflict", "The thread is executing another run.", retryable=True),
    "run_interrupted": ErrorCode("conflict", "The thread's run waits for an answer or a tool.", retryable=True),
    "call_settled": ErrorCode("conflict", "The call has its answer already: the first one won."),
    "thread_exists": ErrorCode("conflict", "There is a thread with this id already."),
    "schema_mismatch": ErrorCode(
        "conflict", "The page was built for other schemas of a tool than the server has: it gets no call of it."
    ),
    "claim_lost": ErrorCode("conflict", "Another client holds the call, or this one no longer does."),
    # run: why a run failed
    "agent_failed": ErrorCode("run", "The agent raised an exception."),
    "journal_mismatch": ErrorCode("run", "The agent's code no longer does what its journal says it did."),
    "limit_exceeded": ErrorCode("run", "The run made more tool calls or model turns than the server allows."),
    "state_lost": ErrorCode("run", "The agent's own state of the run is gone, so it cannot go on."),
    # tool: how a call failed; these reach the model
    "failed": ErrorCode("tool", "The tool's body threw."),
    "not_implemented": ErrorCode("tool", "No connected page implements the tool."),
    "invalid_args": ErrorCode("tool", "The arguments do not fit the tool's schema."),
    "invalid_result": ErrorCode("tool", "The result does not fit the tool's result schema."),
    "permission_denied": ErrorCode("tool", "The user or the browser denied a permission."),
    "needs_gesture": ErrorCode("tool", "The browser wants a click first."),
    "unsupported": ErrorCode("tool", "The browser lacks the ability."),
    "dismissed": ErrorCode("tool", "The user dismissed the request."),
    "timed_out": ErrorCode("tool", "The call's deadline passed."),
    "cancelled": ErrorCode("tool", "The call was withdrawn: its run was stopped, or the user spoke."),
    "interrupted": ErrorCode("tool", "The page went away in the middle; the outcome is unknown."),
    # unavailable: try again
    "unavailable": ErrorCode(
        "unavailable",
        "The server is starting, stopping or overloaded, or another serves the thread.",
        retryable=True,
    ),
    "internal": ErrorCode("unavailable", "An unexpected error; its trace id is in the server's log."),
}
"""Every error code of farside, by name."""

TOOL_CODES: frozenset[str] = frozenset(name for name, code in CODES.items() if code.family == "tool")
"""The codes that a tool result may carry."""


class FarsideError(Exception):
    """An error with a code from :data:`CODES`.

    Args:
        code: a key of :data:`CODES`.
        message: what was expected, what came, what to do.
        details: plain JSON data for programs, optional.
    """

    def __init__(self, code: str, message: str, *, details: dict[str, Any] | None = None) -> None:
        if code not in CODES:
            raise ValueError(f"{code!r} is no farside error code; the catalogue is farside.errors.CODES")
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details

    @property
    def retryable(self) -> bool:
        """Whether the same command can succeed later, unchanged."""
        return CODES[self.code].retryable

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class ToolError(FarsideError):
    """A tool call that ended without a value; ``code`` is one of :data:`TOOL_CODES`.

    Raised by ``turn.call(...)`` in a plain function agent, and turned into an error tool message for a model.
    """

    def __init__(self, code: str, message: str, *, details: dict[str, Any] | None = None) -> None:
        if code not in TOOL_CODES:
            raise ValueError(f"{code!r} is no tool error code; expected one of {', '.join(sorted(TOOL_CODES))}")
        super().__init__(code, message, details=details)
