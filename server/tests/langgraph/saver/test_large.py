"""Large values are stored once a thread, and come back as they were."""

from __future__ import annotations

import base64
import json
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver as StockSqliteSaver

from farside.langgraph import SqliteSaver
from farside.langgraph.saver.large import SIZE, decode, encode
from server.tests.langgraph.saver.made import checkpoint, config, message, messages_of, rows

SERDE = JsonPlusSerializer()
PICTURE = bytes(range(256)) * (SIZE // 256)
NOTE = "n" * (SIZE + 1)
BASE64 = base64.b64encode(PICTURE).decode()
BOTH = [len(PICTURE), len(NOTE)]
LEAVES = st.one_of(
    st.binary(max_size=20),
    st.binary(min_size=SIZE, max_size=SIZE + 3),
    st.binary(min_size=SIZE, max_size=SIZE + 3).map(lambda data: base64.b64encode(data).decode()),
    st.text(max_size=20),
    st.sampled_from(["x" * SIZE, BASE64, "A" * SIZE + "AB==", "\u00e9" * SIZE, "farside-large:bytes:00", PICTURE]),
    st.integers(0, 9),
    st.none(),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


def told(content: Any, **fields: Any) -> ToolMessage:
    return ToolMessage(content, tool_call_id="call", id="told", **fields)


def block(data: str = BASE64) -> dict[str, Any]:
    return {"type": "image", "base64": data, "mime_type": "image/png"}


def sizes(path: Path) -> list[int]:
    return sorted(size for [size] in rows(path, "SELECT LENGTH(value) FROM farside_saver_large"))


def elsewhere(path: Path) -> int:
    """How many bytes are in the other tables."""
    tables = {"checkpoints": "checkpoint", "items": "value", "writes": "value"}
    found = [rows(path, f"SELECT SUM(LENGTH({each})) FROM farside_saver_{name}") for name, each in tables.items()]  # noqa: S608
    return sum(size or 0 for [[size]] in found)


def shot(saver: SqliteSaver, thread_id: str = "t") -> Any:
    """A picture in a resume value, in what a tool wrote and its message, and a long note; the checkpoints' names."""
    first = saver.put(config(thread_id), checkpoint([message()]), {"run_id": "one"}, {})
    saver.put_writes(first, [("__resume__", [{"data": PICTURE, "mime_type": "image/png"}])], "task")
    saver.put_writes(first, [("messages", [told([block()])])], "task")
    history = [message(), told([block()])]
    return first, saver.put(first, checkpoint(history, note={"text": NOTE}), {"run_id": "two"}, {})


@given(VALUES)
def test_what_was_taken_out_is_put_back(value: Any) -> None:
    kind, encoded, digests, values = encode(SERDE, value)
    assert decode(SERDE, kind, encoded, values) == value
    assert json.loads(digests or "[]") == list(values)
    assert len(encoded) < 64 * SIZE or not values


@pytest.mark.parametrize(
    "whole",
    [
        told("x" * SIZE),
        told([block(), {"type": "text", "text": "y" * SIZE}]),
        told("", artifact={"data": PICTURE}),
        HumanMessage([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}}]),
        message("", tool_calls=[{"name": "draw", "args": {"text": "x" * SIZE}, "id": "call"}]),
    ],
)
def test_a_message_is_the_same_and_its_original_untouched(whole: Any) -> None:
    before = whole.model_dump()
    kind, encoded, _, values = encode(SERDE, whole)
    assert decode(SERDE, kind, encoded, values) == whole
    assert whole.model_dump() == before
    assert len(encoded) < SIZE
    assert values


def test_a_text_that_looks_like_what_stands_for_a_large_value_stays_that_text() -> None:
    _, _, digests, _ = encode(SERDE, PICTURE)
    literal = f"farside-large:bytes:{json.loads(str(digests))[0]}"
    kind, encoded, _, values = encode(SERDE, [PICTURE, literal])
    assert decode(SERDE, kind, encoded, values) == [PICTURE, literal]


class Text(str):
    """A serializer makes a plain one of it, or of what is in an OrderedDict."""


@pytest.mark.parametrize("text", ["", "text", "text:00", "text:{digest}", "pixels:{digest}"])
@pytest.mark.parametrize("odd", [Text, lambda text: OrderedDict(text=text)])
def test_a_text_that_is_not_looked_into_may_look_so_too(text: str, odd: Any) -> None:
    _, _, digests, _ = encode(SERDE, PICTURE)
    literal = odd("farside-large:" + text.format(digest=json.loads(str(digests))[0]))
    kind, encoded, _, values = encode(SERDE, [PICTURE, literal])
    assert decode(SERDE, kind, encoded, values) == [PICTURE, literal]


class Cipher:
    """Turns every bit over."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "turned", bytes(each ^ 255 for each in plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "turned"
        return bytes(each ^ 255 for each in ciphertext)


def test_what_is_to_be_encrypted_is_never_stored_in_clear(path: Path) -> None:
    with SqliteSaver(path, serde=EncryptedSerializer(Cipher())) as saver:
        shot(saver)
    with SqliteSaver(path, serde=EncryptedSerializer(Cipher())) as saver:
        found: Any = saver.get_tuple(config())
        assert messages_of(found)[-1].content == [block()]
        assert found.checkpoint["channel_values"]["note"] == {"text": NOTE}
    assert sizes(path) == []
    assert PICTURE not in path.read_bytes()
    assert NOTE.encode() not in path.read_bytes()


def test_a_picture_is_stored_once_however_many_hold_it(path: Path) -> None:
    with SqliteSaver(path) as saver:
        first, _ = shot(saver)
        assert sizes(path) == BOTH
        assert elsewhere(path) < 5_000
        shot(saver, "another")
        assert sizes(path) == sorted(BOTH * 2)
    with SqliteSaver(path) as saver:
        found: Any = saver.get_tuple(config())
        assert messages_of(found)[-1].content == [block()]
        assert found.checkpoint["channel_values"]["note"] == {"text": NOTE}
        before: Any = saver.get_tuple(first)
        assert [write[2] for write in before.pending_writes] == [
            [{"data": PICTURE, "mime_type": "image/png"}],
            [told([block()])],
        ]


def test_large_values_follow_their_thread(saver: SqliteSaver, path: Path) -> None:
    shot(saver)
    saver.copy_thread("t", "copy")
    assert sizes(path) == sorted(BOTH * 2)
    saver.delete_thread("t")
    assert sizes(path) == BOTH
    found: Any = saver.get_tuple(config("copy"))
    assert messages_of(found)[-1].content == [block()]
    saver.delete_thread("copy")
    assert sizes(path) == []


@pytest.mark.parametrize("drop", ["prune", "delete_for_runs"])
def test_what_no_checkpoint_holds_any_more_goes(saver: SqliteSaver, path: Path, drop: str) -> None:
    def drop_first() -> None:
        if drop == "prune":
            saver.prune(["t"])
        else:
            saver.delete_for_runs(["one"])

    _, name = shot(saver)
    saver.put_writes(config(parent="to come"), [("a", b"0" * 2 * SIZE)], "task")
    drop_first()
    assert sizes(path) == [*BOTH, 2 * SIZE]
    assert messages_of(saver.get_tuple(name))[-1].content == [block()]
    name = saver.put(name, checkpoint([message()]), {"run_id": "three"}, {})
    saver.prune(["t"])
    assert sizes(path) == [2 * SIZE]
    saver.put(name, checkpoint([message(), told([block()])]), {}, {})
    assert messages_of(saver.get_tuple(config()))[-1].content == [block()]


def test_an_export_has_them_where_the_stock_saver_looks_for_them(saver: SqliteSaver, tmp_path: Path) -> None:
    first, last = shot(saver)
    saver.put(last, checkpoint([], note=NOTE), {}, {})
    saver.export(tmp_path / "stock.db")
    with StockSqliteSaver.from_conn_string(str(tmp_path / "stock.db")) as stock:
        theirs, ours = list(stock.list(None)), list(saver.list(None))
        assert [each.checkpoint for each in theirs] == [each.checkpoint for each in ours]
        before: Any = stock.get_tuple(first)
        assert before.pending_writes == next(each for each in ours if each.config == first).pending_writes


def test_a_large_value_that_is_not_there_is_named(path: Path) -> None:
    with SqliteSaver(path) as saver:
        shot(saver)
        rows(path, "DELETE FROM farside_saver_large")
    with SqliteSaver(path) as saver, pytest.raises(RuntimeError, match=r"thread 't', checkpoint .* large values"):
        saver.get_tuple(config())


def test_a_large_message_counts_as_several_in_memory(path: Path) -> None:
    with SqliteSaver(path, cache_messages=SIZE // 2_048) as saver:
        for thread_id, data in (("small", "abcd"), ("large", BASE64)):
            saver.put(config(thread_id), checkpoint([told([block(data)])]), {}, {})
        cache = saver._shared.open().cache
        assert [cache.holds(saver.serde, thread_id) for thread_id in ("small", "large")] == [False, True]
        assert messages_of(saver.get_tuple(config("large")))[0].content == [block()]
