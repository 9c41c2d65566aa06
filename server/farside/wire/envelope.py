"""The envelope of commands and replies."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import MISSING

from farside.wire.nouns import CommandId, Model, Seq


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


class Ping(Model):
    """Ours, server to client: answer it with ``connection.ping``. ``sent`` counts the messages that this connection was
    sent before it: a client that received another number of them reconnects."""

    type: Literal["ping"]
    sent: Seq


class ErrorReply(Model):
    """``id`` is null when the command's id could not be read. ``retryable`` and ``details`` are ours."""

    type: Literal["error"]
    id: CommandId | None
    error: str
    message: str
    retryable: bool | MISSING = MISSING
    details: dict[str, Any] | MISSING = MISSING
    meta: ReplyMeta | MISSING = MISSING
