"""Whole threads: deleted, copied, pruned, listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from farside.langgraph import SqliteSaver
from server.tests.langgraph.saver.made import checkpoint, config, items, message, messages_of, rows


def grown(saver: SqliteSaver, thread_id: str, length: int, **metadata: Any) -> tuple[list[BaseMessage], list[Any]]:
    """A thread of so many checkpoints, each with a message more; and the configs of all."""
    history: list[BaseMessage] = []
    names: list[Any] = [config(thread_id)]
    for step in range(length):
        history.append(message())
        saved: Any = {"source": "loop", "step": step, **metadata}
        names.append(saver.put(names[-1], checkpoint(history), saved, {"messages": "1"}))
        saver.put_writes(names[-1], [("a", step)], "task")
    return history, names[1:]


def count(path: Path) -> list[int]:
    names = ("threads", "items", "checkpoints", "writes")
    return [len(rows(path, f"SELECT * FROM farside_saver_{name}")) for name in names]  # noqa: S608


def test_nothing_is_left_of_a_deleted_thread(saver: SqliteSaver, path: Path) -> None:
    grown(saver, "a", 3)
    grown(saver, "b", 2)
    saver.delete_thread("a")
    assert count(path) == [1, 2, 2, 2]
    assert saver.get_tuple(config("a")) is None


def test_a_thread_goes_on_after_it_was_deleted_in_the_middle_of_a_run(saver: SqliteSaver, path: Path) -> None:
    history, names = grown(saver, "a", 3)
    saver.delete_thread("a")
    for _ in range(3):
        history.append(message())
        names.append(saver.put(names[-1], checkpoint(history), {}, {}))
    assert messages_of(saver.get_tuple(config("a"))) == history
    assert items(path) == 6


def test_another_saver_deletes_prunes_and_goes_on(path: Path) -> None:
    """As another process would: neither is told what the other does."""
    with SqliteSaver(path) as one, SqliteSaver(path) as two:
        history, names = grown(one, "a", 3)
        for change in (two.delete_thread, lambda _: grown(two, "a", 2), lambda _: two.prune(["a"])):
            change("a")
            for _ in range(3):
                history.append(message())
                names.append(one.put(names[-1], checkpoint(history), {}, {}))
                assert messages_of(two.get_tuple(config("a"))) == history
                assert messages_of(one.get_tuple(config("a"))) == history


def test_a_copy_has_everything_and_is_apart(saver: SqliteSaver, path: Path) -> None:
    history, names = grown(saver, "a", 3)
    other, _ = grown(saver, "b", 2)
    saver.copy_thread("a", "b")
    copied = [messages_of(each) for each in saver.list(config("b", ns=""))]
    assert sorted(map(len, copied)) == [1, 1, 2, 2, 3]
    assert history in copied
    assert other in copied
    assert items(path) == 3 + 2 + 3
    saver.delete_thread("a")
    name = config("b", parent=names[-1]["configurable"]["checkpoint_id"])
    found: Any = saver.get_tuple(name)
    assert messages_of(found) == history
    assert [write[1:] for write in found.pending_writes] == [("a", 2)]
    with pytest.raises(ValueError, match="expected another thread"):
        saver.copy_thread("b", "b")


def test_pruning_keeps_the_newest_and_its_messages(saver: SqliteSaver, path: Path) -> None:
    history, names = grown(saver, "a", 5)
    names.append(saver.put(names[-1], checkpoint(history[3:]), {}, {"messages": "2"}))
    saver.put(config("a", ns="child"), checkpoint(history[:1]), {}, {})
    grown(saver, "b", 2)
    saver.prune(["a", "unknown"])
    assert count(path) == [2, 3 + 2, 2 + 2, 2]
    assert messages_of(saver.get_tuple(config("a"))) == history[3:]
    assert messages_of(saver.get_tuple(config("a", ns="child"))) == history[:1]
    saver.put(names[-1], checkpoint([*messages_of(saver.get_tuple(config("a"))), message()]), {}, {"messages": "3"})
    assert items(path) == 6
    with pytest.raises(ValueError, match="expected strategy"):
        saver.prune(["a"], strategy="oldest")
    saver.prune(["a"], strategy="delete")
    assert count(path) == [1, 2, 2, 2]


def test_pruning_keeps_what_delta_channels_are_made_of(saver: SqliteSaver, path: Path) -> None:
    name = config("a")
    counting = {"counters_since_delta_snapshot": {"delta": (1, 1)}}
    for step in range(5):
        delta = {"delta": _DeltaSnapshot([message("snapshot")])} if step == 2 else {}
        metadata: Any = {"step": step, **({} if delta else counting)}
        name = saver.put(name, {**checkpoint([]), "channel_values": delta}, metadata, {})
        saver.put_writes(name, [("delta", f"write {step}")], "task")
    before: Any = saver.get_delta_channel_history(config=config("a"), channels=["delta", "unknown"])
    assert [value for *_, value in before["delta"]["writes"]] == ["write 2", "write 3"]
    assert before["delta"]["seed"].value[0].content == "snapshot"
    assert "seed" not in before["unknown"]
    assert len(before["unknown"]["writes"]) == 0
    saver.prune(["a"])
    assert saver.get_delta_channel_history(config=config("a"), channels=["delta", "unknown"]) == before
    assert [each.metadata.get("step") for each in saver.list(config("a"))] == [4, 3, 2]


async def test_the_asynchronous_twins(saver: SqliteSaver, path: Path) -> None:
    grown(saver, "a", 2, run_id="one")
    await saver.acopy_thread("a", "b")
    await saver.adelete_for_runs(["one"])
    assert count(path) == [0, 0, 0, 0]
    grown(saver, "a", 2)
    delta = await saver.aget_delta_channel_history(config=config("a"), channels=["a"])
    assert [write[1:] for write in delta["a"]["writes"]] == [("a", 0)]
    await saver.aprune(["a"])
    assert count(path) == [1, 2, 1, 1]
    await saver.adelete_thread("a")
    assert count(path) == [0, 0, 0, 0]


def test_deleting_a_run_deletes_the_messages_that_nobody_else_holds(saver: SqliteSaver, path: Path) -> None:
    history, names = grown(saver, "a", 2, run_id="first")
    history.append(message())
    names.append(saver.put(names[-1], checkpoint(history[1:]), {"run_id": "second"}, {"messages": "2"}))
    grown(saver, "b", 1, run_id="first")
    grown(saver, "c", 1, run_id="third")
    saver.delete_for_runs(["first", "unknown"])
    assert count(path) == [2, 2 + 1, 1 + 1, 1]
    assert messages_of(saver.get_tuple(config("a"))) == history[1:]


def test_a_list_is_read_page_by_page(saver: SqliteSaver) -> None:
    _, names = grown(saver, "a", 40)
    grown(saver, "b", 3)
    listed = list(saver.list(config("a")))
    assert [each.config for each in listed] == names[::-1]
    assert [len(messages_of(each)) for each in listed] == list(range(40, 0, -1))
    assert len(list(saver.list(None))) == 43
    assert [each.config for each in saver.list(config("a"), limit=35)] == names[:4:-1]
    assert list(saver.list(config("a"), limit=0)) == []
    assert list(saver.list(config("a"), limit=-1)) == listed
    assert [each.metadata.get("step") for each in saver.list(None, filter={"step": 1})] == [1, 1]
    assert [each.config for each in saver.list(config("a"), before=names[2])] == names[1::-1]
    with pytest.raises(ValueError, match="filter key"):
        list(saver.list(None, filter={"step') OR 1 --": 1}))


def test_a_thread_id_that_is_no_string(saver: SqliteSaver) -> None:
    place: Any = {"configurable": {"thread_id": 7, "checkpoint_ns": ""}}
    name: Any = saver.put(place, checkpoint([message()]), {}, {})
    assert name["configurable"]["thread_id"] == 7
    assert saver.get_tuple(place) == next(saver.list(place)) == saver.get_tuple(config("7"))


def test_a_config_without_a_thread_is_refused(saver: SqliteSaver) -> None:
    with pytest.raises(ValueError, match=r"expected configurable\.thread_id, got none"):
        saver.get_tuple({"configurable": {}})
