"""LangGraph's v3 event stream as the events that clients see."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from langchain_core.messages import AIMessage

from farside.core.ports import Emit
from farside.errors import TOOL_CODES
from farside.langgraph import steps
from farside.langgraph.nested import Life, Namespace, Nested
from farside.langgraph.plain import has_bytes, plain
from farside.langgraph.stream import TASKS, ProtocolEvent
from farside.langgraph.whole import message_events
from farside.wire.codec import JSON
from farside.wire.values import OUTGOING_LIMITS

_log = logging.getLogger(__name__)

_NAMED = "custom:"
"""What the methods of a transformer's own named channels begin with."""

_WITHDRAWN = "the agent went on without waiting for it"


class Events:
    """Translates the events of one leg.

    What a step of the graph makes (``values``, ``updates``, ``checkpoints``, ``tasks``) is for who listens: it is made
    only when somebody does, and not stored.

    Args:
        wanted: whether anybody listens to a method now; asked for each event of the costly ones.
        resumed: the tool calls that this leg begins again, by tool call id: their start was shown before the pause.
    """

    def __init__(self, wanted: Callable[[str], bool], resumed: Iterable[str] = ()) -> None:
        self._wanted = wanted
        self._resumed = Counter(resumed)
        self._running: dict[tuple[Namespace, str], str] = {}
        self._streams: dict[str, str | None] = {}
        self._shown: set[str] = set()
        self._nested = Nested()
        self._values: Emit | None = None
        """The state after a step: its checkpoint, which comes next, is shown before it."""

    @property
    def begun(self) -> tuple[str, ...]:
        """The tool calls that have begun and not ended, by tool call id."""
        return tuple(call_id for _, call_id in self._running)

    def withdrawn(self, waits: Callable[[str, str], bool]) -> Iterator[Emit]:
        """The leg has ended: what is still to be shown, and the ends of calls that have begun and that nothing will end
        any more.

        Args:
            waits: whether a call, by tool call id and tool name, may still be waiting for an answer.
        """
        yield from self._stepped()
        for (namespace, call_id), name in self._running.items():
            if not waits(call_id, name):
                head = {"event": "tool-error", "tool_call_id": call_id}
                yield Emit("tools", {**head, "message": _WITHDRAWN, "code": "cancelled"}, namespace)

    def emits(self, event: ProtocolEvent) -> Iterator[Emit]:
        """What clients see of one event of the stream."""
        params = cast("dict[str, Any]", event["params"])
        namespace, data = tuple(cast("list[str]", params["namespace"])), params["data"]
        if event["method"] == "checkpoints":
            yield from self._checkpoint(data, namespace)
            return
        yield from self._stepped()
        match event["method"]:
            case "messages":
                yield from self._messages(data[0], data[1], namespace)
            case "tools":
                yield from self._tools(data, namespace)
            case "lifecycle":
                yield from map(_lifecycle, self._nested.told(data))
            case "updates" if self._wanted("updates"):
                yield from (Emit("updates", update, namespace, durable=False) for update in steps.updates(data))
            case "values" if not params.get("interrupts") and self._wanted("values"):
                # An interrupt repeats the state as it was.
                self._values = Emit("values", steps.state(data), namespace, durable=False)
            case method if method == TASKS:
                yield from self._task(*data)
            case "custom":
                yield Emit("custom", steps.custom(data), namespace)
            case method if method.startswith(_NAMED):
                yield Emit("custom", {"name": method.removeprefix(_NAMED), "payload": plain(data)}, namespace)
            case _:
                pass

    def _stepped(self) -> Iterator[Emit]:
        values, self._values = self._values, None
        if values is not None:
            yield values

    def _checkpoint(self, data: dict[str, Any], namespace: Namespace) -> Iterator[Emit]:
        """The official clients give the messages of a state the checkpoint that came before it."""
        if self._values is not None and self._values.namespace != namespace:
            yield from self._stepped()
        if self._wanted("checkpoints"):
            yield Emit("checkpoints", steps.checkpoint(data), namespace, durable=False)
        yield from self._stepped()

    def _task(self, namespace: list[str], data: dict[str, Any]) -> Iterator[Emit]:
        if self._wanted("tasks"):
            yield Emit("tasks", steps.task(data), tuple(namespace), durable=False)
        yield from map(_lifecycle, self._nested.task(data))

    def _messages(self, payload: Any, metadata: dict[str, Any], namespace: Namespace) -> Iterator[Emit]:
        if isinstance(payload, dict):
            yield from self._streamed(cast("dict[str, Any]", payload), str(metadata.get("run_id")), namespace)
        elif isinstance(payload, AIMessage) and payload.id is not None and payload.id not in self._shown:
            self._shown.add(payload.id)
            for data in message_events(payload):
                yield _message(data, payload.id, namespace)

    def _streamed(self, payload: dict[str, Any], stream: str, namespace: Namespace) -> Iterator[Emit]:
        """One event of a message that streams; ``stream`` is the model call that it belongs to."""
        data = cast("dict[str, Any]", plain(payload))
        kind = data.get("event")
        if kind == "message-start":
            data["id"] = data.get("id") or f"lc_run--{stream}"
            tells = data.get("role") == "ai"
            self._streams[stream] = data["id"] if tells else None
            if tells:
                self._shown.add(data["id"])
        message_id = self._streams.get(stream)
        if kind == "message-finish":
            self._streams.pop(stream, None)
        if message_id is not None:
            yield _message(data, message_id, namespace)

    def _tools(self, data: dict[str, Any], namespace: Namespace) -> Iterator[Emit]:
        call_id = str(data["tool_call_id"])
        head = {"event": data["event"], "tool_call_id": call_id}
        call = (namespace, call_id)
        match data["event"]:
            case "tool-started":
                again = call in self._running
                self._running[call] = str(data["tool_name"])
                if again:
                    return
                if self._resumed[call_id] > 0:
                    self._resumed[call_id] -= 1
                    return
                yield Emit(
                    "tools", {**head, "tool_name": data["tool_name"], "input": plain(data.get("input"))}, namespace
                )
            case "tool-output-delta":
                yield Emit("tools", {**head, "delta": _text(data.get("delta"))}, namespace, durable=False)
            case "tool-finished":
                self._running.pop(call, None)
                yield Emit("tools", {**head, "output": _output(data.get("output"))}, namespace)
            case "tool-error":
                self._running.pop(call, None)
                yield Emit("tools", {**head, **_error(str(data.get("message", "")))}, namespace)
            case _:
                pass


def _lifecycle(life: Life) -> Emit:
    namespace, data = life
    return Emit("lifecycle", data, namespace)


def _message(data: dict[str, Any], message_id: str, namespace: Namespace) -> Emit:
    return Emit(
        "messages", {**data, "message_id": message_id}, namespace, durable=data["event"] != "content-block-delta"
    )


def _output(output: Any) -> Any:
    """A tool's output; the bytes of a tool message's artifact have reached the clients with the call's result."""
    shown = plain(output)
    if isinstance(shown, dict) and has_bytes(cast("dict[str, Any]", shown).get("artifact")):
        return {**cast("dict[str, Any]", shown), "artifact": None}
    return cast("Any", shown)


def _text(delta: Any) -> str:
    """A piece of a tool's output; the protocol has only texts."""
    shown = plain(delta)
    return shown if isinstance(shown, str) else str(JSON.encode(shown, OUTGOING_LIMITS))


def _error(message: str) -> dict[str, str]:
    """Our code where the exception had one. The text of any other exception is for the log, not for a browser."""
    code, separator, text = message.partition(": ")
    if separator and code in TOOL_CODES:
        return {"message": text, "code": code}
    _log.warning("a tool raised: %s", message)
    return {"message": "the tool failed", "code": "failed"}
