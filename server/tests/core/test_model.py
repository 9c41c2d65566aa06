"""The nouns: what a call and an event look like on the wire, and when a call is due."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from farside.core.model import Call, Event, ToolResult, failure, success
from farside.wire import messages as wire
from server.tests.samples import call, event, question


@pytest.mark.parametrize(
    ("changes", "due"),
    [
        ({}, None),
        ({"deadline": 5}, 5),
        ({"lease_until": 7}, 7),
        ({"deadline": 5, "lease_until": 7}, 5),
        ({"deadline": 7, "lease_until": 5}, 5),
        ({"deadline": 0}, 0),
        ({"deadline": 5, "state": "settled", "result": success(1)}, None),
    ],
    ids=str,
)
def test_due(changes: dict[str, int], due: int | None) -> None:
    assert call(**changes).due == due


@pytest.mark.parametrize(
    "shown",
    [
        call(),
        call(deadline=5, title="T"),
        call(state="offered", client_id="me", lease_until=9),
        call(state="claimed", client_id="me", claim_id="x", lease_until=9),
        call(state="settled", client_id="me", deadline=5, result=success({"a": b"\x00"})),
        call(state="cancelled", result=failure("cancelled", "stopped")),
        call(state="expired", result=failure("timed_out", "too late", {"a": None})),
    ],
    ids=lambda shown: f"{shown.state} {shown.client_id}",
)
def test_a_snapshot_is_a_message_of_the_wire(shown: Call) -> None:
    shape = wire.SettledCall if shown.ended else wire.Call
    assert shape.model_validate(shown.snapshot()).model_dump() == shown.snapshot()


def test_the_payload_of_an_interrupt() -> None:
    expected = {"type": "tool", "tool_call": {"id": "call-1", "name": "get_location", "args": {"high": True}}}
    assert call().payload() == expected
    assert question().payload() == "Sure?"


def test_an_event_is_a_message_of_the_wire() -> None:
    message = event(3, namespace=("a", "b")).message()
    assert wire.Event.model_validate(message).model_dump() == message
    assert message["event_id"] == event(3).event_id == "run-1:3"
    assert message["params"]["namespace"] == ["a", "b"]


RESULTS: list[ToolResult] = [success(None), success({"a": 1}), failure("failed", "m"), failure("failed", "m", {"a": 1})]


@pytest.mark.parametrize("result", RESULTS, ids=str)
def test_a_result_is_stored_once_and_shown_again(result: ToolResult) -> None:
    data = {"event": "settled", "interrupt_id": "interrupt-1", "tool_call_id": "call-1", "name": "get_location"}
    shown = event(1, "calls", data={**data, "result": result.model_dump()})
    assert shown.result_of == "interrupt-1"
    assert shown.without_result().data == data
    assert shown.without_result().with_result(result) == shown
    TypeAdapter(wire.CallsData).validate_python(shown.without_result().with_result(result).data)


def test_the_output_of_a_headless_tool_is_stored_once_too() -> None:
    data = {"event": "tool-finished", "tool_call_id": "call-1", "interrupt_id": "interrupt-1"}
    shown = event(1, "tools", data={**data, "output": [1, 2]})
    assert shown.without_result().data == data
    assert shown.without_result().with_result(success([1, 2])) == shown


@pytest.mark.parametrize(
    "other",
    [
        event(1),
        event(1, "calls", data={"event": "opened", "interrupt_id": "interrupt-1"}),
        event(1, "tools", data={"event": "tool-finished", "tool_call_id": "call-1", "output": 1}),
        event(1, "custom", data={"event": "settled", "interrupt_id": "interrupt-1", "result": 1}),
        event(1, "values", data={"event": "settled", "interrupt_id": "interrupt-1", "result": 1}),
    ],
    ids=lambda other: other.method,
)
def test_other_events_are_stored_as_they_are(other: Event) -> None:
    assert other.result_of is None
    assert other.without_result() is other


def test_frames_are_no_part_of_an_event() -> None:
    framed = event(1)
    framed.frames["json"] = "{}"
    assert framed == event(1)
