"""One connection's state machine: messages in, effects out. No sockets, no time, no waiting.

The shell (``farside.engine.connection``) feeds it what arrives and carries out what it returns: it sends, and it asks
the engine for what a :class:`Request` wants and brings the outcome back with :meth:`Session.succeeded`,
:meth:`Session.failed` or :meth:`Session.subscribed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farside.core import plain
from farside.core.model import Call, Event
from farside.core.routing import Mismatch, Presence
from farside.core.subscriptions import Subscription
from farside.errors import FarsideError
from farside.wire.commands import command_id_of, parse_command, parse_params
from farside.wire.messages import MISSING, OURS, ClientAnnounceParams, Model, SubscribeParams, UnsubscribeParams


@dataclass(frozen=True, slots=True)
class Send:
    """Send this message."""

    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send this event (apart from Send so that its frame is encoded once for all connections)."""

    event: Event


@dataclass(frozen=True, slots=True)
class Request:
    """Ask the engine to carry out a command."""

    id: int
    method: str
    params: Model


@dataclass(frozen=True, slots=True)
class Wait:
    """Call :meth:`Session.waited` when a page has had the time to ask for more; asked for again, that begins anew."""


Effect = Send | Deliver | Request | Wait

MAX_SUBSCRIPTIONS = 256

WATCHER = frozenset({"lifecycle", "input"})
"""The channels of the one event stream, of all that a page of the official hooks has open, that hears of calls. The
official clients without a hook have no such stream: calls are for any that hears of input then."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a new subscription starts from: the thread at ``seq``, what to replay, what is open, and the agent's state,
    for one that was not there when its ``values`` were told."""

    seq: int
    events: Sequence[Event]
    open: Sequence[Call]
    values: Event | None = None


class Session:
    """The server's half of one connection.

    Args:
        connection_id: names the connection; a plain one is its own client.
        plain: the connection has no farside subprotocol: it speaks the Agent Streaming Protocol alone.
        one_of_several: its page has other connections, one for each filter; that of a :data:`WATCHER` comes
            first for calls.
    """

    def __init__(self, connection_id: str, *, plain: bool, one_of_several: bool = False) -> None:
        self.plain = plain
        self.one_of_several = one_of_several
        self.had_time = False
        """Its page has had the time to ask for the rest. If it opened no stream that watches, calls may be for this
        one; if it asked for no messages, it wants none."""
        self.last_command_id = 0
        """The largest command id so far: a page of the official clients goes on counting when it has reconnected."""
        self.announced: ClientAnnounceParams | None = None
        self._connection_id = connection_id
        self._tools: dict[str, frozenset[str]] = {}
        self._fingerprints: dict[str, str] = {}
        self._denied: frozenset[str] = frozenset()
        self._told: set[tuple[str, Mismatch]] = set()
        self._subscriptions: dict[str, Subscription] = {}
        self._joining: dict[int, tuple[Subscription, list[Event]]] = {}
        self._answered: set[str] = set()
        self._held_back: list[Event] = []
        self._count = 0

    # --- from the client ---

    def receive(self, message: Any) -> list[Effect]:
        """Take a decoded message."""
        command_id = command_id_of(message)
        self.last_command_id = max(self.last_command_id, command_id or 0)
        try:
            command = parse_command(message)
            if self.plain and command.method in OURS:
                need = f"{command.method} needs the subprotocol farside.v1.json or farside.v1.msgpack; connect with one"
                raise FarsideError("not_supported", need)
            return self._accept(command.id, command.method, parse_params(command))
        except FarsideError as error:
            return [_error(command_id, error)]

    def refuse(self, error: FarsideError) -> list[Effect]:
        """A frame could not be decoded."""
        return [_error(None, error)]

    def _accept(self, command_id: int, method: str, params: Model) -> list[Effect]:
        if isinstance(params, UnsubscribeParams):
            if self._subscriptions.pop(params.subscription_id, None) is None:
                message = f"expected a subscription of this connection, got {params.subscription_id!r}"
                raise FarsideError("no_such_subscription", message)
        elif isinstance(params, SubscribeParams):
            if command_id in self._joining:
                message = f"expected an id that is not in use, command {command_id} has no reply yet"
                raise FarsideError("invalid_argument", message)
            if len(self._subscriptions) + len(self._joining) >= MAX_SUBSCRIPTIONS:
                message = f"expected at most {MAX_SUBSCRIPTIONS} subscriptions on a connection; end one first"
                raise FarsideError("invalid_argument", message)
            self._count += 1
            self._joining[command_id] = (Subscription.of(f"s{self._count}", params), [])
        elif isinstance(params, ClientAnnounceParams):
            if self.announced is not None and params.client_id != self.announced.client_id:
                message = f"expected the client_id {self.announced.client_id!r} of this connection's first announcement"
                raise FarsideError("invalid_argument", f"{message}; connect anew for another")
            self.announced = params
            self._tools = {t.name: frozenset(() if t.permissions is MISSING else t.permissions) for t in params.tools}
            self._fingerprints = {t.name: t.fingerprint for t in params.tools if t.fingerprint is not MISSING}
            self._denied = frozenset(name for name, state in params.permissions.items() if state == "denied")
        return [Request(command_id, method, params)]

    # --- from the engine ---

    def succeeded(self, command_id: int, result: dict[str, Any], seq: int) -> list[Effect]:
        """A request was carried out."""
        return [Send({"type": "success", "id": command_id, "result": result, "meta": {"applied_through_seq": seq}})]

    def failed(self, command_id: int, error: FarsideError) -> list[Effect]:
        """A request was refused."""
        self._joining.pop(command_id, None)
        return [_error(command_id, error)]

    def subscribed(self, command_id: int, snapshot: Snapshot) -> list[Effect]:
        """A subscription is there: its reply, the replay, and what happened meanwhile."""
        subscription, held = self._joining.pop(command_id)
        self._subscriptions[subscription.id] = subscription
        past = plain.replayed(snapshot.events, snapshot.values) if self.plain else snapshot.events
        replay = [told for event in past for told in self._heard(event) if subscription.matches(told)]
        result: dict[str, Any] = {"subscription_id": subscription.id, "replayed_events": len(replay)}
        if "calls" in subscription.channels:
            result["calls"] = [call.snapshot() for call in snapshot.open if call.kind == "tool"]
            result["interrupts"] = [
                {"interrupt_id": call.interrupt_id, "payload": call.payload()}
                for call in snapshot.open
                if call.kind == "input"
            ]
        effects = self.succeeded(command_id, result, snapshot.seq)
        effects += self._delivered(replay)
        if "input" in subscription.channels:
            questions = [call for call in snapshot.open if call.kind == "input"]
            effects += [Send(requested(call, snapshot.seq)) for call in questions]
        if self.plain and "lifecycle" in subscription.channels and (waits := plain.waits(snapshot.open, snapshot.seq)):
            effects += self._delivered([waits])
        live = [event for event in held if event.seq > snapshot.seq]
        sent = {event.seq for event in live}
        for _, others in self._joining.values():
            others[:] = [event for event in others if event.seq not in sent]
        effects += self._delivered(live)
        if self.plain and not self.had_time:
            effects.append(Wait())
        return effects if self._may_want_more() else effects + self._let_go()

    def deliver(self, event: Event) -> list[Effect]:
        """An event happened on the thread."""
        return [effect for told in self._heard(event) for effect in self._deliver(told)]

    def _deliver(self, event: Event) -> list[Effect]:
        if any(subscription.matches(event) for subscription in self._subscriptions.values()):
            return self._delivered([event])
        for subscription, held in self._joining.values():
            if subscription.matches(event):
                held.append(event)
        return []

    def _delivered(self, events: Sequence[Event]) -> list[Effect]:
        """Deliver events. The end of a run is held back from a plain client that has not asked yet for what came before
        it, as it would not wait for that any more."""
        if not self.plain or not self._may_want_more():
            return [Deliver(event) for event in events]
        effects: list[Effect] = []
        for event in events:
            if plain.ends_run(event):
                self._held_back.append(event)
                effects.append(Wait())
            else:
                effects += [*(self._let_go() if plain.begins_run(event) else ()), Deliver(event)]
        return effects

    def waited(self) -> list[Effect]:
        """The time that :class:`Wait` asked for has passed."""
        self.had_time = True
        return self._let_go()

    def _let_go(self) -> list[Effect]:
        """Deliver what was held back."""
        events, self._held_back = self._held_back, []
        return [Deliver(event) for event in events]

    def _may_want_more(self) -> bool:
        enough = {"values", "messages"} if self.had_time else {"messages"}
        return not any(each.channels & enough for each in self._subscriptions.values())

    def offer(self, call: Call, seq: int, *, again: bool = False) -> list[Effect]:
        """A plain connection was chosen for a call: ``input.requested`` is its offer and its claim.

        Args:
            again: its page may have been told of the call before: it gets a new name, or the page would ignore it.
        """
        return [Send(requested(plain.renamed(call, seq) if again else call, seq))]

    def speak_for(self, client_id: str) -> None:
        """The connection is that of a client which had another one before."""
        self._connection_id = client_id

    @property
    def client_id(self) -> str:
        """Who the connection speaks for; itself where it did not say."""
        return self._connection_id if self.announced is None else self.announced.client_id

    def presence(self, active: int) -> Presence | None:
        """What the client said about itself; None while it cannot take calls: it said nothing, or does not listen.

        Args:
            active: when the client last did something, in the order of all clients.
        """
        if self.plain:
            watches = not self.one_of_several or any(each.channels == WATCHER for each in self._subscriptions.values())
            if not self.wants("input.requested") or not (watches or self.had_time):
                return None
            return Presence(self.client_id, visible=watches, active=active)
        said = self.announced
        if said is None or not self.wants("calls"):
            return None
        return Presence(
            client_id=said.client_id,
            tools=self._tools,
            denied=self._denied,
            visible=said.visible,
            focused=said.focused,
            active=active,
            fingerprints=self._fingerprints,
        )

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """Of the schemas that the client's tools were made for, by tool name."""
        return self._fingerprints

    def untold(self, mismatches: Iterable[Mismatch], where: str) -> list[Mismatch]:
        """Those of which the client was not told there yet, and now is."""
        new = [each for each in mismatches if (where, each) not in self._told]
        self._told.update((where, each) for each in new)
        return new

    def mismatched(self, mismatches: Sequence[Mismatch], call: str = "") -> list[Effect]:
        """The client's tools were made for other schemas than the server's, so it is offered no call of them.

        It is told once, and once more for each call that it is not offered, and not before it has the thread's state:
        that takes back all errors before it.

        Args:
            call: the interrupt id of the call that is not offered; none when the client has just announced its tools.
        """
        new = self.untold(mismatches, f"call {call}") if self.wants("calls") else []
        if not new:
            return []
        names = ", ".join(each.name for each in new)
        message = (
            f"expected tools with the server's schemas, got others for {names}: the page is offered no call of them; "
            "load it anew, or run `farside types` and build it"
        )
        details = {"mismatches": [each.as_dict() for each in new]}
        return [_error(None, FarsideError("schema_mismatch", message, details=details))]

    def wants(self, method: str) -> bool:
        """Whether any subscription, established or on its way, takes events of this method."""
        joining = (subscription for subscription, _ in self._joining.values())
        return any(s.wants(method) for s in (*self._subscriptions.values(), *joining))

    def _heard(self, event: Event) -> Sequence[Event]:
        if not self.plain:
            return () if event.for_plain else (event,)
        return () if self._heard_already(event) else plain.heard(event)

    def _heard_already(self, event: Event) -> bool:
        """Whether a plain client has heard of the end of this tool call: when the call was answered."""
        if plain.ends_run(event):
            self._answered.clear()
        call_id, kind = event.data.get("tool_call_id", ""), event.data.get("event")
        if event.method == "calls" and "result" in event.data:
            self._answered.add(call_id)
        elif event.method == "tools" and call_id in self._answered and kind != "tool-output-delta":
            self._answered.discard(call_id)
            return kind != "tool-started"
        return False


def requested(call: Call, seq: int) -> dict[str, Any]:
    """The event ``input.requested``, made from state: it is never replayed from the log."""
    return {
        "type": "event",
        "event_id": f"{call.interrupt_id}:requested",
        "seq": seq,
        "method": "input.requested",
        "params": {
            "namespace": [],
            "timestamp": call.opened_at,
            "data": {"interrupt_id": call.interrupt_id, "payload": call.payload()},
        },
    }


def _error(command_id: int | None, error: FarsideError) -> Send:
    message: dict[str, Any] = {
        "type": "error",
        "id": command_id,
        "error": error.code,
        "message": error.message,
        "retryable": error.retryable,
    }
    if error.details is not None:
        message["details"] = error.details
    return Send(message)
