"""One client's connection: frames in, frames out. The socket is somebody else's (``farside.asgi``, the testing kit)."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from typing import Any

from farside.core.calls import Claim, Progress, Release, Return, Settle
from farside.core.liveness import CLOSE_SILENT, Liveness
from farside.core.model import Call, Event
from farside.core.routing import Mismatch, Presence
from farside.core.session import Deliver, Effect, Request, Send, Session, Snapshot, Wait
from farside.engine.commands import Outcome, attempt, carry_out, optional
from farside.engine.engine import Engine
from farside.errors import FarsideError
from farside.wire import messages as wire
from farside.wire.codec import JSON, MESSAGEPACK, Codec, Frame
from farside.wire.commands import command_id_of
from farside.wire.values import OUTGOING_LIMITS

logger = logging.getLogger("farside.connection")

PATIENCE_MS = 150
"""How long a plain client may take to ask for the rest: for a run's events, before it is told that the run has ended;
for a stream that watches, before another one of its page is taken for that."""

_LEAVES = (1000, 1001)
_PLAIN_GRACE_MS = 3_000
"""An official client connects anew after less than that, or not at all."""

SUBPROTOCOLS: dict[str, Codec] = {"farside.v1.msgpack": MESSAGEPACK, "farside.v1.json": JSON}
"""Our WebSocket subprotocols and their codecs, the preferred first."""


class Connection:
    """Joins a session to the engine. Implements :class:`farside.core.ports.Listener`.

    Args:
        subprotocol: a key of :data:`SUBPROTOCOLS`, or None for the Agent Streaming Protocol alone.
        send: takes a frame for the client; must not block.
        hang_up: ends the socket, with a WebSocket close code and a reason; must not block.
        session: the server's half of the protocol, for a connection that is no WebSocket.
    """

    def __init__(
        self,
        engine: Engine,
        thread_id: str,
        subprotocol: str | None,
        send: Callable[[Frame], None],
        hang_up: Callable[[int, str], None],
        session: Session | None = None,
    ) -> None:
        self._engine = engine
        self._thread_id = thread_id
        self._codec = JSON if subprotocol is None else SUBPROTOCOLS[subprotocol]
        self._send_frame = send
        self._sent = 0
        self._is_busy = False
        self._hang_up = hang_up
        self._limits = engine.limits
        self._session = session or Session(f"connection:{uuid.uuid4().hex}", plain=subprotocol is None)
        self._active = next(engine.activity)
        self._liveness = Liveness(engine.clock.now(), engine.settings.ping_ms)
        self._watch = None if self.plain else asyncio.create_task(self._ask_for_life())
        self._patience: asyncio.Task[None] | None = None
        self._unlisten = engine.listen(thread_id, self)
        self.is_retired = False

    # --- from the client ---

    async def receive(self, frame: Frame) -> None:
        """Take a frame, carry out its command and send the reply."""
        if self.is_retired:
            return
        self._liveness.heard()
        try:
            message = self._codec.decode(frame, self._limits)
        except FarsideError as error:
            self._perform(self._session.refuse(error))
            return
        await self.take(message)

    async def take(self, message: Any) -> None:
        """Take a message, carry out its command and send the reply."""
        if self.plain and not self._session.one_of_several and not self._session.last_command_id:
            await self._engine.attendance.came_back(self._thread_id, self, command_id_of(message) or 0)
        for request in self._perform(self._session.receive(message)):
            self._is_busy = True
            try:
                await self._carry_out(request)
            finally:
                self._is_busy = False

    async def close(self, code: int | None = None) -> None:
        """The client is gone.

        Args:
            code: the WebSocket close code.
        """
        for task in (self._watch, self._patience):
            if task is not None:
                task.cancel()
        self._unlisten()
        try:
            last = 0 if self._session.one_of_several or not self.plain else self._session.last_command_id
            await self._engine.attendance.left(self._thread_id, self, self._grace_ms(code), last)
        except FarsideError as error:
            logger.debug("a client left: %s", error)
        except Exception:
            logger.exception("thread %s: a client left, which could not be noticed yet", self._thread_id)
            self._engine.chores.owe(self._thread_id)

    # --- from the engine (Listener) ---

    @property
    def plain(self) -> bool:
        return self._session.plain

    @property
    def client_id(self) -> str:
        return self._session.client_id

    @property
    def presence(self) -> Presence | None:
        return self._session.presence(self._active)

    def __call__(self, event: Event) -> None:
        self._perform(self._session.deliver(event))

    def speak_for(self, client_id: str) -> None:
        self._session.speak_for(client_id)

    def wants(self, method: str) -> bool:
        return self._session.wants(method)

    def offer(self, call: Call, seq: int, *, again: bool = False) -> None:
        self._active = next(self._engine.activity)
        self._perform(self._session.offer(call, seq, again=again))

    def mismatched(self, call: Call, mismatch: Mismatch) -> None:
        self._perform(self._session.mismatched([mismatch], call.interrupt_id))

    def retire(self) -> None:
        self.is_retired = True

    def hang_up(self, code: int, reason: str) -> None:
        self._hang_up(code, reason)

    # --- between ---

    async def _ask_for_life(self) -> None:
        """Ping the client now and then; give it up when it does not answer."""
        while True:
            await self._engine.clock.sleep_until(self._liveness.wake_at)
            if self._is_busy:  # what the client sends meanwhile is read later
                self._liveness.heard()
            match self._liveness.tick(self._engine.clock.now()):
                case "ask":
                    self._send(self._codec.encode({"type": "ping", "sent": self._sent}))
                case "give up":
                    self._hang_up(CLOSE_SILENT, "the client gives no sign of life")
                    return
                case "wait":
                    pass

    def _send(self, frame: Frame) -> None:
        self._sent += 1
        self._send_frame(frame)

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
                case Wait():
                    if self._patience is not None:
                        self._patience.cancel()
                    self._patience = asyncio.create_task(self._wait())
                case Request():
                    requests.append(effect)
        return requests

    async def _wait(self) -> None:
        clock, session = self._engine.clock, self._session
        await clock.sleep_until(clock.now() + PATIENCE_MS)
        self._perform(session.waited())
        if session.one_of_several and session.wants("input.requested"):
            await self._take_offers()

    async def _carry_out(self, request: Request) -> None:
        try:
            result = await attempt(self._engine, request.method, lambda: self._ask(request.params))
            if isinstance(result, Snapshot):
                effects = self._session.subscribed(request.id, result)
            else:
                effects = self._session.succeeded(request.id, *result)
        except FarsideError as error:
            effects = self._session.failed(request.id, error)
        self._perform(effects)
        if isinstance(request.params, (wire.SubscribeParams, wire.ClientAnnounceParams)) and self.presence is not None:
            if self._engine.declared.is_strict:
                self._perform(self._session.mismatched(self._mismatches()))
            await self._take_offers()

    async def _take_offers(self) -> None:
        """The client can take calls, or others than before: what nobody has may be for it."""
        try:
            await self._engine.attendance.listens(self._thread_id, self, self._back())
        except FarsideError:
            logger.debug("thread %s: nothing to offer, another process serves it", self._thread_id)
        except Exception:
            logger.exception("thread %s: open calls could not be offered yet", self._thread_id)
            self._engine.chores.owe(self._thread_id)

    def _back(self) -> Return | None:
        """What makes the calls that the client holds its own again; of a plain WebSocket its first command decides."""
        if not self.plain:
            return Return(self.client_id, self._engine.settings.lease_ms)
        return Return(self.client_id, None) if self._session.one_of_several else None

    def _grace_ms(self, code: int | None) -> int:
        """How long the client may take to come back; a page that says that it leaves does not."""
        if not self.plain:
            return self._engine.settings.grace_ms
        return 0 if code in _LEAVES else min(_PLAIN_GRACE_MS, self._engine.settings.grace_ms)

    async def _ask(self, params: wire.Model) -> Outcome | Snapshot:
        engine, thread_id, ledger = self._engine, self._thread_id, self._engine.ledger
        if isinstance(params, (wire.RunStartParams, wire.RunCancelParams, wire.InputRespondParams)) or (
            isinstance(params, wire.ClientAnnounceParams) and params.focused
        ):
            self._active = next(engine.activity)
        result: dict[str, Any] = {}
        match params:
            case wire.SubscribeParams():
                with_values = self.plain and "values" in params.channels
                return await engine.subscribe(thread_id, optional(params.since), with_values=with_values)
            case wire.ClientAnnounceParams():
                engine.attendance.supersede(thread_id, self, {self.client_id, *params.replaces})
                result = self._welcome()
            case wire.CallClaimParams():
                claim = Claim(self._client(), params.claim_id, engine.settings.lease_ms)
                result = self._claimed(await ledger.claim(thread_id, params.interrupt_id, self, claim))
            case wire.CallReleaseParams():
                release = Release(self._client(), optional(params.claim_id), params.started, optional(params.reason))
                await ledger.release(thread_id, params.interrupt_id, self, release)
            case wire.CallProgressParams():
                self._client()
                lease_ms = engine.settings.lease_ms
                progress = Progress(params.claim_id, lease_ms, params.value)
                await ledger.progress(thread_id, params.interrupt_id, self, progress)
                result = {"lease_ms": lease_ms}
            case wire.CallSettleParams():
                settle = Settle(params.result, self._client(), params.claim_id)
                stored = await ledger.settle(thread_id, params.interrupt_id, settle)
                result = {"result": stored.model_dump()}
            case wire.UnsubscribeParams() | wire.ConnectionPingParams():
                pass
            case _:
                return await carry_out(engine, thread_id, params, self.client_id, plain=self.plain)
        return result, await engine.seq(thread_id)

    def _client(self) -> str:
        if self._session.announced is None:
            raise FarsideError("not_announced", "expected client.announce before this command; send it first")
        return self.client_id

    def _welcome(self) -> dict[str, Any]:
        settings, limits = self._engine.settings, self._limits
        mismatches = [each.as_dict() for each in self._session.untold(self._mismatches(), "reply")]
        bounds = {"frame_bytes": limits.frame_bytes, "depth": limits.depth, "items": limits.items}
        welcome = {"ping_ms": settings.ping_ms, "lease_ms": settings.lease_ms, "limits": bounds}
        return {**welcome, "mismatches": mismatches} if mismatches else welcome

    def _mismatches(self) -> list[Mismatch]:
        return list(self._engine.declared.mismatches(self._session.fingerprints))

    def _claimed(self, call: Call) -> dict[str, Any]:
        claimed: dict[str, Any] = {
            "interrupt_id": call.interrupt_id,
            "tool_call_id": call.tool_call_id,
            "name": call.name,
            "args": call.args,
            "lease_ms": self._engine.settings.lease_ms,
        }
        return claimed if call.deadline is None else {**claimed, "deadline": call.deadline}
