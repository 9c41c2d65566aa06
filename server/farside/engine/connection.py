"""One client's connection: frames in, frames out. The socket is somebody else's (``farside.asgi``, the testing kit)."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from typing import Any

from farside.core.model import Call, Event
from farside.core.session import Deliver, Effect, Request, Send, Session, Snapshot
from farside.engine.engine import Engine
from farside.errors import FarsideError
from farside.wire import messages as wire
from farside.wire.codec import JSON, MESSAGEPACK, Codec, Frame
from farside.wire.messages import MISSING
from farside.wire.values import OUTGOING_LIMITS

logger = logging.getLogger("farside.connection")

SUBPROTOCOLS: dict[str, Codec] = {"farside.v1.msgpack": MESSAGEPACK, "farside.v1.json": JSON}
"""Our WebSocket subprotocols and their codecs, the preferred first."""


class Connection:
    """Joins a session to the engine. Implements :class:`farside.core.ports.Listener`.

    Args:
        subprotocol: a key of :data:`SUBPROTOCOLS`, or None for the Agent Streaming Protocol alone.
        send: takes a frame for the client; must not block.
    """

    def __init__(
        self,
        engine: Engine,
        thread_id: str,
        subprotocol: str | None,
        send: Callable[[Frame], None],
    ) -> None:
        self._engine = engine
        self._thread_id = thread_id
        self._codec = JSON if subprotocol is None else SUBPROTOCOLS[subprotocol]
        self._send = send
        self._limits = engine.limits
        self._session = Session(plain=subprotocol is None)
        self._id = f"connection:{uuid.uuid4().hex}"
        self._unlisten = engine.listen(thread_id, self)

    # --- from the client ---

    async def receive(self, frame: Frame) -> None:
        """Take a frame, carry out its command and send the reply."""
        try:
            message = self._codec.decode(frame, self._limits)
        except FarsideError as error:
            self._perform(self._session.refuse(error))
            return
        for request in self._perform(self._session.receive(message)):
            await self._carry_out(request)

    async def close(self) -> None:
        """The client is gone."""
        self._unlisten()
        try:
            await self._engine.left(self._thread_id, self)
        except FarsideError:
            logger.debug("a client left a server that has stopped")
        except Exception:
            logger.exception("thread %s: what a client held when it left waits for its deadline", self._thread_id)

    # --- from the engine (Listener) ---

    @property
    def plain(self) -> bool:
        return self._session.plain

    @property
    def holder_id(self) -> str:
        return self._session.client_id or self._id

    def __call__(self, event: Event) -> None:
        self._perform(self._session.deliver(event))

    def wants(self, method: str) -> bool:
        return self._session.wants(method)

    def implements(self, tool: str) -> bool:
        return tool in self._session.tools

    def offer(self, call: Call, seq: int) -> None:
        self._perform(self._session.offer(call, seq))

    # --- between ---

    def _perform(self, effects: list[Effect]) -> list[Request]:
        """Send what is to be sent; returns what the engine is to do."""
        requests: list[Request] = []
        for effect in effects:
            match effect:
                case Send(message):
                    self._send(self._codec.encode(message, OUTGOING_LIMITS))
                case Deliver(event):
                    frame = event.frames.get(self._codec.name)
                    if frame is None:
                        frame = event.frames[self._codec.name] = self._codec.encode(event.message(), OUTGOING_LIMITS)
                    self._send(frame)
                case Request():
                    requests.append(effect)
        return requests

    async def _carry_out(self, request: Request) -> None:
        try:
            result = await self._ask(request.params)
            if isinstance(result, Snapshot):
                effects = self._session.subscribed(request.id, result)
            else:
                value, seq = result if isinstance(result, tuple) else (result, await self._engine.seq(self._thread_id))
                effects = self._session.succeeded(request.id, value, seq)
        except FarsideError as error:
            effects = self._session.failed(request.id, error)
        except Exception:
            trace_id = self._engine.new_id()
            logger.exception("%s failed (trace id %s)", request.method, trace_id)
            message = f"an unexpected error; the server's log has it under trace id {trace_id}"
            effects = self._session.failed(request.id, FarsideError("internal", message))
        self._perform(effects)
        if self.plain and isinstance(request.params, wire.SubscribeParams) and self.wants("input.requested"):
            await self._take_offers()

    async def _take_offers(self) -> None:
        """A plain connection listens for input: what nobody holds may be its."""
        try:
            await self._engine.offer(self._thread_id)
        except Exception:
            logger.exception("thread %s: open calls could not be offered", self._thread_id)

    async def _ask(self, params: wire.Model) -> dict[str, Any] | tuple[dict[str, Any], int] | Snapshot:
        """The command's result, with the seq that it includes where that is not the newest."""
        engine, thread_id = self._engine, self._thread_id
        match params:
            case wire.RunStartParams():
                return {"run_id": await engine.start_run(thread_id, params, self.holder_id)}
            case wire.RunCancelParams():
                await engine.cancel_run(thread_id, _optional(params.run_id))
            case wire.InputRespondParams():
                await engine.respond(thread_id, params)
            case wire.SubscribeParams():
                return await engine.subscribe(thread_id, _optional(params.since))
            case wire.StateGetParams():
                return await self._state(params)
            case wire.ClientAnnounceParams():
                return self._welcome()
            case wire.CallClaimParams():
                return self._claimed(await engine.claim(thread_id, params.interrupt_id, self._client()))
            case wire.CallReleaseParams():
                await engine.release(thread_id, params.interrupt_id, self._client(), _optional(params.reason))
            case wire.CallProgressParams():
                await engine.progress(thread_id, params.interrupt_id, self._client(), params.value)
                return {"lease_ms": engine.settings.lease_ms}
            case wire.CallSettleParams():
                stored = await engine.settle(thread_id, params.interrupt_id, self._client(), params.result)
                return {"result": stored.model_dump()}
            case wire.UnsubscribeParams() | wire.ConnectionPingParams():
                pass
            case _:
                raise FarsideError("not_supported", f"this server does not carry out {type(params).__name__}")
        return {}

    def _client(self) -> str:
        if self._session.client_id is None:
            raise FarsideError("invalid_argument", "expected client.announce before this command; send it first")
        return self._session.client_id

    def _welcome(self) -> dict[str, Any]:
        settings, limits = self._engine.settings, self._limits
        bounds = {"frame_bytes": limits.frame_bytes, "depth": limits.depth, "items": limits.items}
        return {"ping_ms": settings.ping_ms, "lease_ms": settings.lease_ms, "limits": bounds}

    def _claimed(self, call: Call) -> dict[str, Any]:
        claimed: dict[str, Any] = {
            "interrupt_id": call.interrupt_id,
            "tool_call_id": call.tool_call_id,
            "name": call.name,
            "args": call.args,
            "lease_ms": self._engine.settings.lease_ms,
        }
        return claimed if call.deadline is None else {**claimed, "deadline": call.deadline}

    async def _state(self, params: wire.StateGetParams) -> tuple[dict[str, Any], int]:
        if params.namespace:
            raise FarsideError("not_supported", f"expected the root namespace [], got {params.namespace}; ask for that")
        found = await self._engine.state(self._thread_id)
        values = found.state.values
        if params.keys is not MISSING:
            values = {key: value for key, value in values.items() if key in params.keys}
        result: dict[str, Any] = {"values": values}
        if found.state.checkpoint_id is not None:
            result["checkpoint"] = {"id": found.state.checkpoint_id}
        if not self.plain:
            result["calls"] = [call.snapshot() for call in found.calls if call.kind == "tool"]
            if found.run is not None:
                run = {"run_id": found.run.id, "assistant_id": found.run.agent, "status": found.run.status}
                result["run"] = run if found.run.error is None else {**run, "error": found.run.error.model_dump()}
        return result, found.seq


def _optional(value: Any) -> Any:
    return None if value is MISSING else value
