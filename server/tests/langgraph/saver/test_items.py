"""Each message is stored once, and comes back as it was stored."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langgraph.checkpoint.base import Checkpoint
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from pydantic import BaseModel

from farside.langgraph import SqliteSaver
from server.tests.langgraph.saver.made import checkpoint, config, items, message, messages_of, put, rows


class Thing(BaseModel):
    """What a tool may leave as its artifact; the saver cannot tell whether it changes."""

    size: int


def lists(path: Path) -> list[Any]:
    """The ranges of each checkpoint's messages, oldest first."""
    found = rows(path, "SELECT lists FROM farside_saver_checkpoints ORDER BY checkpoint_id")
    return [json.loads(text)["messages"][1] for (text,) in found]


def stored(saver: SqliteSaver, given: list[BaseMessage], **place: Any) -> Any:
    return saver.put(*put(given, **place))


def test_a_list_that_grows_is_one_range(saver: SqliteSaver, path: Path) -> None:
    history: list[BaseMessage] = []
    for length in range(1, 6):
        history.append(message())
        stored(saver, history)
        assert items(path) == length
    assert lists(path) == [[[0, length]] for length in range(1, 6)]


def test_replacing_and_removing_split_the_range(saver: SqliteSaver, path: Path) -> None:
    first: list[BaseMessage] = [message() for _ in range(10)]
    stored(saver, first)
    new = message("instead")
    stored(saver, [*first[:3], new, *first[4:]])
    stored(saver, [*first[:3], *first[5:]])
    stored(saver, [first[9], first[0]])
    assert lists(path) == [[[0, 10]], [[0, 3], [10, 11], [4, 10]], [[0, 3], [5, 10]], [[9, 10], [0, 1]]]
    assert items(path) == 11
    assert messages_of(saver.get_tuple(config())) == [first[9], first[0]]


@pytest.mark.parametrize("cold", [False, True])
def test_every_checkpoint_stays_as_it_was(path: Path, cold: bool) -> None:
    with SqliteSaver(path, cache_messages=0 if cold else 100) as saver:
        first: list[BaseMessage] = [message(str(number)) for number in range(6)]
        names = [stored(saver, first)]
        first[5].content = "changed in place"
        names.append(stored(saver, first))
        names.append(stored(saver, first[1:]))
        contents = [[each.content for each in messages_of(saver.get_tuple(name))] for name in names]
        assert contents[0] == ["0", "1", "2", "3", "4", "5"]
        assert contents[1] == ["0", "1", "2", "3", "4", "changed in place"]
        assert contents[2] == contents[1][1:]


@pytest.mark.parametrize("change", ["content", "deep", "extra"])
@pytest.mark.parametrize("age", [0, 9])
def test_what_a_reader_changes_is_not_stored(saver: SqliteSaver, change: str, age: int) -> None:
    stored(saver, [message(additional_kwargs={"deep": [{"n": 1}]}) for _ in range(10)])
    before = [each.model_dump() for each in messages_of(saver.get_tuple(config()))]
    got = messages_of(saver.get_tuple(config()))
    if change == "content":
        got[age].content = "changed"
    elif change == "deep":
        got[age].additional_kwargs["deep"][0]["n"] = 2
    else:
        got[age].more = "a field that the class does not declare"
    got.pop(3)
    got.clear()
    assert [each.model_dump() for each in messages_of(saver.get_tuple(config()))] == before


@pytest.mark.parametrize(
    "write",
    [
        lambda each: each,
        lambda each: [each],
        lambda each: (message(), each),
        lambda each: {"__overwrite__": [each]},
        lambda each: {"do": "replace", "with": each},
    ],
)
def test_an_old_message_that_a_task_changes_and_returns(saver: SqliteSaver, path: Path, write: Any) -> None:
    history: list[BaseMessage] = [message(str(number)) for number in range(10)]
    name = stored(saver, history)
    history[2].content = "changed"
    saver.put_writes(name, [("messages", write(history[2]))], "task")
    stored(saver, history, parent=name["configurable"]["checkpoint_id"])
    assert lists(path)[1] == [[0, 2], [10, 11], [3, 10]]
    assert messages_of(saver.get_tuple(name))[2].content == "2"
    assert messages_of(saver.get_tuple(config()))[2].content == "changed"


def test_any_message_may_have_changed_where_no_task_was_seen(saver: SqliteSaver, path: Path) -> None:
    """With durability "exit", only the end of a run is put."""
    history: list[BaseMessage] = [message(str(number)) for number in range(10)]
    name = stored(saver, history)
    history[2].content = "changed"
    stored(saver, history, parent=name["configurable"]["checkpoint_id"])
    assert messages_of(saver.get_tuple(config()))[2].content == "changed"


@pytest.mark.parametrize("age", range(1, 5))
def test_one_of_the_last_four_may_change_without_a_word(saver: SqliteSaver, age: int) -> None:
    history: list[BaseMessage] = [message(str(number)) for number in range(10)]
    name = stored(saver, history)
    history[-age].content = "changed"
    place = config(parent=name["configurable"]["checkpoint_id"])
    saver.put(place, checkpoint(history), {}, {})
    assert messages_of(saver.get_tuple(config()))[-age].content == "changed"
    assert messages_of(saver.get_tuple(name))[-age].content != "changed"


def test_a_message_with_what_cannot_be_compared(saver: SqliteSaver, path: Path) -> None:
    history: list[BaseMessage] = [message(additional_kwargs={"thing": Thing(size=1)})]
    name = stored(saver, history)
    stored(saver, history)
    assert items(path) == 1
    history[0].additional_kwargs["thing"].size = 2
    stored(saver, history)
    assert items(path) == 2
    assert messages_of(saver.get_tuple(name))[0].additional_kwargs["thing"] == {"size": 1}
    got = messages_of(saver.get_tuple(config()))[0]
    assert got.additional_kwargs["thing"] == {"size": 2}
    assert got is not history[0]


class Incomparable(BaseModel):
    """As arrays are: whoever asks whether it is equal to something gets an error."""

    size: int

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of this is ambiguous")


def test_a_message_that_has_come_to_hold_what_cannot_be_compared(saver: SqliteSaver) -> None:
    empty = {"thing": None}
    history: list[BaseMessage] = [message(additional_kwargs=dict(empty)) for _ in range(6)]
    name = stored(saver, history)
    for each in (history[0], messages_of(saver.get_tuple(name))[1]):
        each.additional_kwargs["thing"] = Incomparable(size=1)
    assert [each.additional_kwargs for each in messages_of(saver.get_tuple(name))] == [empty] * 6
    saver.put_writes(name, [("messages", history[0])], "task")
    stored(saver, history, parent=name["configurable"]["checkpoint_id"])
    got = messages_of(saver.get_tuple(config()))
    assert got[0].additional_kwargs["thing"] == {"size": 1}


@pytest.mark.parametrize("gone", [0, 1])
def test_a_message_whose_class_is_gone(path: Path, gone: int) -> None:
    """LangGraph's serializer gives its fields then; so do its own savers."""

    class Gone(AIMessage):
        """Cannot be imported."""

    history: list[BaseMessage] = [message() for _ in range(3)]
    history[gone] = Gone(content="it was here", id="gone")
    with SqliteSaver(path) as saver:
        stored(saver, history)
    with SqliteSaver(path) as saver:
        for _ in range(2):
            got = messages_of(saver.get_tuple(config()))
            assert got[gone]["content"] == "it was here"
            assert [*got[:gone], *got[gone + 1 :]] == [*history[:gone], *history[gone + 1 :]]
            stored(saver, [*got, message()])
            history.append(messages_of(saver.get_tuple(config()))[-1])


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"in": value}
    return value


def test_a_value_as_deep_as_the_serializer_takes_it(saver: SqliteSaver) -> None:
    """However deep the stack is already."""

    def stored_from(frames: int) -> Any:
        return stored(saver, [deep]) if not frames else stored_from(frames - 1)

    deep = message(additional_kwargs=nested(200))
    stored_from(500)
    assert messages_of(saver.get_tuple(config())) == [deep]


@pytest.mark.parametrize(
    "value",
    [[], [1, 2], [message(), "a string"], (message(),), message(), {"messages": [message()]}, None],
    ids=["empty", "numbers", "mixed", "tuple", "one message", "inside", "none"],
)
def test_other_values_are_stored_as_they_are(saver: SqliteSaver, path: Path, value: Any) -> None:
    put_: Checkpoint = checkpoint([message()], other=value)
    saver.put(config(), put_, {}, {})
    found: Any = saver.get_tuple(config())
    expected = list(value) if isinstance(value, tuple) else value
    assert found.checkpoint["channel_values"]["other"] == expected
    assert list(found.checkpoint["channel_values"]) == ["messages", "other"]
    assert rows(path, "SELECT lists FROM farside_saver_checkpoints") == [('{"messages":["list",[[0,1]]]}',)]


def test_the_snapshot_of_a_delta_channel(saver: SqliteSaver, path: Path) -> None:
    history: list[BaseMessage] = [message(), message()]
    saver.put(config(), checkpoint(history, delta=_DeltaSnapshot(history)), {}, {})
    found: Any = saver.get_tuple(config())
    assert found.checkpoint["channel_values"]["delta"] == _DeltaSnapshot(history)
    assert items(path) == 2


def test_channels_namespaces_and_subclasses_share_the_items_of_a_thread(saver: SqliteSaver, path: Path) -> None:
    history: list[BaseMessage] = [message(), RemoveMessage(id="x")]
    stored(saver, history)
    stored(saver, [*history, message()], ns="child:1")
    saver.put(config(ns="child:2"), checkpoint(history[:1], kept=history), {}, {})
    assert items(path) == 3
    stored(saver, history, thread_id="another")
    assert items(path) == 5


def test_a_list_that_was_read_is_known(path: Path) -> None:
    with SqliteSaver(path) as saver:
        stored(saver, [message() for _ in range(5)])
    with SqliteSaver(path) as saver:
        stored(saver, [*messages_of(saver.get_tuple(config())), message()])
    assert items(path) == 6


def test_a_message_that_cannot_be_encoded_leaves_nothing(saver: SqliteSaver, path: Path) -> None:
    good = message()
    with pytest.raises(TypeError):
        stored(saver, [good, AIMessage("x", id="x", additional_kwargs={"bad": object()})])
    stored(saver, [good])
    assert messages_of(saver.get_tuple(config())) == [good]
    assert items(path) == 1


def test_a_file_that_lost_a_message_says_so(path: Path) -> None:
    with SqliteSaver(path) as saver:
        stored(saver, [message(), message()])
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM farside_saver_items WHERE seq = 1")
    with SqliteSaver(path) as saver, pytest.raises(RuntimeError, match=r"expected the messages \[1\] in the file"):
        saver.get_tuple(config())
