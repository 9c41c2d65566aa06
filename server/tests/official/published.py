"""What LangChain publishes of the Agent Streaming Protocol, as a check of frames.

Python's ``langchain_protocol`` has the types (MIT). They are taken strictly: no key may be missing, ill-typed or
unknown, save those that are listed here as ours. That package has ``params`` of events as any object; its four fields
are as in the npm package ``@langchain/protocol``.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from typing import Any, NotRequired, cast

import langchain_protocol.protocol
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict, is_typeddict

from farside.errors import CODES

STRICT = ConfigDict(strict=True)
FORBID = ConfigDict(extra="forbid", strict=True)


def _strict_copy() -> Any:
    """The module once more, with types that refuse unknown keys, so that nobody else's are changed."""
    name = "strict_langchain_protocol"
    spec = importlib.util.spec_from_file_location(name, langchain_protocol.protocol.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for each in vars(module).values():
        if is_typeddict(each):
            cast("Any", each).__pydantic_config__ = STRICT if each.__name__ in EXTENSIBLE else FORBID
    return module


EXTENSIBLE = frozenset({"MessageMetadata", "BlockDeltaFields"})
"""The types that take any further key by their own definition."""

PUBLISHED = _strict_copy()


@with_config(FORBID)
class InputAnsweredData(TypedDict):
    """In the npm package since 0.0.21; in Python not yet."""

    interrupt_ids: list[str]


@with_config(FORBID)
class EventParams(TypedDict):
    namespace: list[str]
    timestamp: int
    node: NotRequired[str]
    data: Any


@with_config(FORBID)
class Event(TypedDict):
    """Both ``event_id`` and ``seq`` may be absent in the published types; the official hook needs them."""

    type: str
    event_id: str
    seq: int
    method: str
    params: EventParams


DATA: dict[str, Any] = {
    "lifecycle": PUBLISHED.LifecycleData,
    "messages": PUBLISHED.MessagesData,
    "tools": PUBLISHED.ToolsData,
    "input.requested": PUBLISHED.InputRequestedData,
    "input.answered": InputAnsweredData,
    "values": dict[str, Any],
    "updates": PUBLISHED.UpdatesData,
    "checkpoints": PUBLISHED.Checkpoint,
    "custom": PUBLISHED.CustomData,
    "tasks": dict[str, Any],
}
"""The data of each event. Of ``values`` and ``tasks`` the protocol says nothing."""

RESULTS: dict[str, Any] = {
    "run.start": PUBLISHED.RunResult,
    "subscription.subscribe": PUBLISHED.SubscribeResult,
    "subscription.unsubscribe": PUBLISHED.EmptyResult,
    "subscription.reconnect": PUBLISHED.ReconnectResult,
    "agent.getTree": PUBLISHED.AgentResult,
    "input.respond": PUBLISHED.InputResult,
    "input.inject": PUBLISHED.InputResult,
    "state.get": PUBLISHED.StateGetResult,
    "state.listCheckpoints": PUBLISHED.ListCheckpointsResult,
    "state.fork": PUBLISHED.StateForkResult,
    "run.cancel": PUBLISHED.EmptyResult,
}
"""The result of each command; ``run.cancel`` is ours."""

OURS: dict[str, frozenset[str]] = {
    "error": frozenset({"retryable", "details"}),
    "state.get": frozenset({"run", "calls", "queued"}),
    "lifecycle": frozenset({"run_id", "input", "code"}),
    "messages": frozenset({"message_id"}),
    "message-finish": frozenset({"metadata"}),
    "tool-finished": frozenset({"interrupt_id"}),
}
"""The keys that are ours, by kind of message, method or data's ``event``. ``metadata`` of ``message-finish`` is
LangChain's own: its models send it although its types do not have it."""

OUR_CODES = frozenset(name for name, code in CODES.items() if not code.official)
"""Error codes that the published types do not list."""

_ADAPTERS: dict[int, TypeAdapter[Any]] = {}


def check_frame(frame: Any, method: str | None = None) -> None:
    """Raise unless the frame is one of the protocol's.

    Args:
        method: of the command, where the frame is the reply to one.
    """
    match frame["type"]:
        case "success":
            assert method is not None, f"a reply to nothing: {frame}"
            assert frame["meta"]["applied_through_seq"] >= 0, "the official hook needs it"
            _check(PUBLISHED.CommandResponse, {**frame, "result": {}})
            _check(RESULTS[method], _without(frame["result"], method))
        case "error":
            shown = _without(frame, "error")
            _check(PUBLISHED.ErrorResponse, {**shown, "error": _published(frame["error"])})
        case "event":
            _check(Event, frame)
            data = frame["params"]["data"]
            kind = data.get("event", "") if isinstance(data, dict) else ""
            _check(DATA[frame["method"]], _without(_without(data, frame["method"]), str(kind)))
        case other:
            raise AssertionError(f"no message of the protocol: {other}")


def _published(code: str) -> str:
    return "unknown_error" if code in OUR_CODES else code


def _without(data: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in OURS.get(kind, ())}


def _check(kind: Any, value: Any) -> None:
    adapter = _ADAPTERS.get(id(kind))
    if adapter is None:
        adapter = _ADAPTERS[id(kind)] = TypeAdapter(kind)
    adapter.validate_python(value)
