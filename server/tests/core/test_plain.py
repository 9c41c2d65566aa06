"""What plain connections hear of events."""

from __future__ import annotations

from typing import Any

import pytest

from farside.core import plain
from farside.core.model import Call, Event
from server.tests.samples import call, event, question

OK = {"status": "success", "value": 7}
BAD = {"status": "error", "error": {"code": "timed_out", "message": "too late"}}


def lifecycle(status: str, *namespace: str, **data: Any) -> Event:
    return event(1, "lifecycle", namespace=namespace, data={"event": status, **data})


def calls(kind: str, tool_call_id: str = "call-1", **data: Any) -> Event:
    about = {"interrupt_id": "interrupt-1", "tool_call_id": tool_call_id, "name": "get_location"}
    return event(4, "calls", data={"event": kind, **about, **data})


# --- names ---


def test_names_that_are_new_in_the_thread() -> None:
    names = [plain.renamed(call(), seq) for seq in (1, 12)]
    assert [each.interrupt_id for each in names] == ["interrupt-1~1", "interrupt-1~12"]
    assert [each.tool_call_id for each in names] == ["call-1~1", "call-1~12"]


@pytest.mark.parametrize(
    ("name", "first"),
    [("a~1", "a"), ("a~12", "a"), ("a~1~2", "a~1"), ("a", None), ("~1", None), ("a~", None), ("a~x", None)],
)
def test_the_name_before(name: str, first: str | None) -> None:
    assert plain.first_name(name) == first


# --- what is heard ---


@pytest.mark.parametrize(
    ("told", "is_heard"),
    [
        (event(1, "messages"), True),
        (event(1, "messages", data={"event": "message-removed", "message_id": "m1"}), False),
        (event(1, "tools", data={"event": "tool-finished"}), True),
        (lifecycle("running"), True),
        (lifecycle("completed"), True),
        (lifecycle("interrupted"), True),
        (lifecycle("queued"), False),
        (lifecycle("interrupted", replaced_by="run-2"), False),
    ],
)
def test_what_plain_connections_hear_as_it_is(told: Event, is_heard: bool) -> None:
    assert list(plain.heard(told)) == ([told] if is_heard else [])


@pytest.mark.parametrize("kind", ["opened", "offered", "claimed", "released", "progress"])
def test_the_life_of_a_call_is_not_heard(kind: str) -> None:
    assert list(plain.heard(calls(kind))) == []


RUNNING = ("lifecycle", {"event": "running", "run_id": "run-1"})
FINISHED = ("tools", {"event": "tool-finished", "tool_call_id": "call-1", "output": 7})
FAILED = ("tools", {"event": "tool-error", "tool_call_id": "call-1", "message": "too late", "code": "timed_out"})


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (calls("settled", result=OK), [FINISHED, RUNNING]),
        (calls("settled", result=BAD), [FAILED, RUNNING]),
        (calls("expired", result=BAD), [FAILED, RUNNING]),
        (calls("cancelled", result=BAD), [FAILED]),
        (calls("settled", "", result=OK), [RUNNING]),
    ],
)
def test_the_end_of_a_call_is_the_end_of_its_card(told: Event, expected: list[tuple[str, Any]]) -> None:
    heard = list(plain.heard(told))
    assert [(each.method, each.data) for each in heard] == expected
    assert {each.seq for each in heard} == {told.seq}
    assert len({each.event_id for each in heard}) == len(heard), "a client drops an id that it knows"


def test_what_is_heard_is_encoded_anew() -> None:
    """The frame of the event itself is for others."""
    told = calls("settled", result=OK)
    told.frames["json"] = "the frame of calls"
    assert [each.frames for each in plain.heard(told)] == [{}, {}]


# --- a replay ---


def block(kind: str, content: dict[str, Any], *, seq: int = 1, message_id: str = "m1", index: int = 0) -> Event:
    return event(seq, data={"event": kind, "message_id": message_id, "index": index, "content": content})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def reasoning(words: str) -> dict[str, Any]:
    return {"type": "reasoning", "reasoning": words}


def finish(content: dict[str, Any], **where: Any) -> Event:
    return block("content-block-finish", content, seq=2, **where)


CALL = {"type": "tool_call", "id": "c", "name": "ask", "args": {}}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (text(""), finish(text("all of it")), text("all of it")),
        (text("all"), finish(text("all of it")), text("all of it")),
        (reasoning(""), finish(reasoning("because")), reasoning("because")),
        ({**text(""), "annotations": []}, finish(text("all")), {**text("all"), "annotations": []}),
        (text(""), finish({"type": "text"}), text("")),
    ],
)
def test_the_start_of_a_block_that_has_ended_has_all_of_it(start: Any, end: Event, expected: Any) -> None:
    shown = block("content-block-start", start)
    shown.frames["json"] = "the frame of the start as it was"
    first, last = plain.replayed([shown, end], None)
    assert first.data == {**shown.data, "content": expected}
    assert (first.event_id, first.frames) == (shown.event_id, {})
    assert last is end
    assert shown.data["content"] == start, "others hear it as it was"


@pytest.mark.parametrize(
    ("start", "ends"),
    [
        (text("so"), []),
        (text("so"), [finish(text("another's"), message_id="m2")]),
        (text("so"), [finish(text("another's"), index=1)]),
        (text("so"), [finish(reasoning("because"))]),
        (CALL, [finish({**CALL, "args": {"q": 1}})]),
        ({"type": "image", "url": "a"}, [finish({"type": "image", "url": "b"})]),
    ],
)
def test_any_other_start_is_as_it_was(start: Any, ends: list[Event]) -> None:
    shown = block("content-block-start", start)
    assert plain.replayed([shown, *ends], None)[0].data == shown.data


def test_all_else_of_a_replay_is_as_it_was() -> None:
    events = [
        lifecycle("running"),
        event(2, data={"event": "message-start"}),
        finish(text("a")),
        lifecycle("completed"),
    ]
    assert all(shown is told for shown, told in zip(plain.replayed(events, None), events, strict=True))


VALUES = event(3, "values", data={"messages": []})


@pytest.mark.parametrize(
    ("events", "place"),
    [
        ([lifecycle("running"), lifecycle("completed")], 1),
        ([lifecycle("running"), lifecycle("completed", "inner:1")], 2),
        ([lifecycle("running"), lifecycle("completed"), lifecycle("running")], 3),
        ([lifecycle("running"), event(2)], 2),
        ([], 0),
    ],
)
def test_the_state_comes_before_the_end_of_the_run(events: list[Event], place: int) -> None:
    assert plain.replayed(events, VALUES) == [*events[:place], VALUES, *events[place:]]


# --- runs ---


@pytest.mark.parametrize(
    ("told", "begins", "ends"),
    [
        (lifecycle("running"), True, False),
        (lifecycle("completed"), False, True),
        (lifecycle("failed"), False, True),
        (lifecycle("interrupted"), False, True),
        (lifecycle("running", "inner:1"), False, False),
        (lifecycle("completed", "inner:1"), False, False),
        (event(1, "tools", data={"event": "completed"}), False, False),
    ],
)
def test_where_a_run_begins_and_ends(told: Event, begins: bool, ends: bool) -> None:
    assert (plain.begins_run(told), plain.ends_run(told)) == (begins, ends)


@pytest.mark.parametrize(
    ("unsettled", "waits"),
    [
        ([], False),
        ([call()], False),
        ([question()], True),
        ([question(), question()], True),
        ([question(), call()], False),
    ],
)
def test_a_run_that_waits_for_people_alone_is_interrupted(unsettled: list[Call], waits: bool) -> None:
    told = plain.waits(unsettled, 9)
    assert (told is not None) == waits
    if told is not None:
        assert (told.method, told.seq, told.data) == ("lifecycle", 9, {"event": "interrupted", "run_id": "run-1"})
        assert told.event_id != lifecycle("running").event_id
