"""A conversation as messages, folded from stored events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.core.model import Event
from farside.core.transcript import ending, fold, input_messages, text_of, text_so_far
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


def streamed(*parts: tuple[str, int, dict[str, Any]]) -> list[Event]:
    """A message that is being written: ``start``, ``delta`` or ``finish`` of blocks by index."""
    shapes = {"start": "content", "delta": "delta", "finish": "content"}
    blocks = [
        {"event": f"content-block-{what}", "index": index, shapes[what]: content} for what, index, content in parts
    ]
    return [start(1, "m1"), *(event(2, data={**block, "message_id": "m1"}) for block in blocks)]


THOUGHT = (
    ("start", 0, {"type": "reasoning", "reasoning": ""}),
    ("delta", 0, {"type": "reasoning-delta", "reasoning": "hm"}),
)


def test_what_a_thinking_model_has_said_is_its_text() -> None:
    said = streamed(
        *THOUGHT,
        ("start", 1, {"type": "text", "text": "One"}),
        ("delta", 1, {"type": "text-delta", "text": "."}),
        ("finish", 1, {"type": "text", "text": "One."}),
        ("start", 2, {"type": "text", "text": ""}),
        ("delta", 2, {"type": "text-delta", "text": " Two"}),
    )
    assert text_so_far(said) == "One. Two"
    assert ending(said, "One. Two") == [
        {
            "event": "content-block-finish",
            "index": 2,
            "content": {"type": "text", "text": " Two"},
            "message_id": "m1",
        },
        {"event": "message-finish", "message_id": "m1"},
    ]


@pytest.mark.parametrize(
    "said", [streamed(), streamed(*THOUGHT), streamed(("start", 0, {"type": "tool_call_chunk", "id": "a"}))]
)
def test_what_has_said_nothing_or_does_more_is_taken_back(said: list[Event]) -> None:
    assert text_so_far(said) is None
    assert [data["code"] for data in ending(said, None)] == ["interrupted"]
