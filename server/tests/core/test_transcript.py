"""A conversation as messages, folded from stored events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.core.model import Event
from farside.core.transcript import fold, input_messages, text_of
from server.tests.samples import event
from server.tests.strategies import VALUES


def running(seq: int, *messages: Any, **data: Any) -> Event:
    return event(seq, "lifecycle", data={"event": "running", "input": {"messages": list(messages)}, **data})


def human(message_id: str, text: str) -> dict[str, Any]:
    return {"type": "human", "id": message_id, "content": text}


def start(seq: int, message_id: str) -> Event:
    return event(seq, data={"event": "message-start", "role": "ai", "id": message_id, "message_id": message_id})


def text(seq: int, message_id: str, words: str, kind: str = "text") -> Event:
    block = {"type": kind, kind: words}
    return event(seq, data={"event": "content-block-finish", "index": 0, "content": block, "message_id": message_id})


def test_folds_a_conversation_in_order() -> None:
    said = [running(1, human("m1", "Hi")), start(2, "m2"), text(3, "m2", "Hello"), running(4, human("m3", "Bye"))]
    assert fold(said) == [
        human("m1", "Hi"),
        {"type": "ai", "id": "m2", "content": "Hello"},
        human("m3", "Bye"),
    ]


def test_joins_the_text_blocks_of_a_message_and_leaves_out_others() -> None:
    said = [start(1, "m1"), text(2, "m1", "a"), text(3, "m1", "thinking", "reasoning"), text(4, "m1", "b")]
    assert [message["content"] for message in fold(said)] == ["ab"]


def test_two_messages_may_stream_at_once() -> None:
    said = [start(1, "m1"), start(2, "m2"), text(3, "m2", "two"), text(4, "m1", "one")]
    assert [message["content"] for message in fold(said)] == ["one", "two"]


def test_a_message_that_was_sent_again_counts_once() -> None:
    assert fold([running(1, human("m1", "Hi")), running(2, human("m1", "Hi"))]) == [human("m1", "Hi")]


def test_leaves_out_what_is_not_at_the_root_and_what_is_no_message() -> None:
    deeper = Event("thread-1", "run-1", 2, "messages", ("a",), 0, start(2, "m2").data)
    others = [event(3, "tools", data={"event": "tool-started"}), event(4, "lifecycle", data={"event": "completed"})]
    assert fold([deeper, *others]) == []
    assert fold([text(1, "nobody", "words")]) == []


def test_does_not_change_the_events() -> None:
    said = [running(1, human("m1", "Hi")), start(2, "m2"), text(3, "m2", "a"), text(4, "m2", "b")]
    assert fold(said) == fold(said)


@pytest.mark.parametrize(
    "value",
    [None, 1, "a", [], {}, {"messages": None}, {"messages": {}}, {"messages": [None, 1, {}, {"id": 1}, {"id": None}]}],
    ids=str,
)
def test_input_without_messages(value: Any) -> None:
    assert input_messages(value) == []


@given(VALUES)
def test_any_input_can_be_folded(value: Any) -> None:
    fold([event(1, "lifecycle", data={"event": "running", "input": value})])
    fold([running(1, value, human("m", "x"))])


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, ""),
        ({"content": "a"}, "a"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": [None, 1, {"text": 1}, "a"]}, ""),
        ({"content": None}, ""),
        ({"content": 5}, ""),
    ],
    ids=str,
)
def test_text_of(message: dict[str, Any], words: str) -> None:
    assert text_of(message) == words


@given(st.dictionaries(st.sampled_from(["content", "type"]), VALUES))
def test_text_of_anything(message: dict[str, Any]) -> None:
    assert isinstance(text_of(message), str)
