"""Both encodings: the vectors, round trips, hostile frames, limits."""

import json
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.errors import FarsideError
from farside.wire.codec import JSON, MESSAGEPACK, Codec
from farside.wire.values import Limits
from server.tests.strategies import VALUES
from server.tests.vectors import entries, frames

CODECS: dict[str, Codec] = {"json": JSON, "msgpack": MESSAGEPACK}
DECODE_CODES = {"malformed_frame", "invalid_value", "too_deep", "too_large"}

both = pytest.mark.parametrize("codec", [JSON, MESSAGEPACK], ids=["json", "msgpack"])


@pytest.mark.parametrize("entry", entries("values.json", "values"))
def test_reads_every_encoding_as_the_same_value(entry: Any) -> None:
    decoded = [CODECS[name].decode(frame) for name, several in frames(entry).items() for frame in several]
    assert len(decoded) >= 2
    for value in decoded:
        assert value == decoded[0]
        assert type(value) is type(decoded[0]) or {type(value), type(decoded[0])} == {int, float}
        for codec in CODECS.values():
            assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("entry", entries("values.json", "refused"))
def test_refuses(entry: Any) -> None:
    limits = Limits(**entry.get("limits", {}))
    tried = 0
    for name, several in frames(entry).items():
        for frame in several:
            with pytest.raises(FarsideError) as caught:
                CODECS[name].decode(frame, limits)
            assert caught.value.code == entry["code"], name
            tried += 1
    assert tried > 0


@given(VALUES)
def test_round_trips_and_agrees(value: Any) -> None:
    for codec in CODECS.values():
        assert codec.decode(codec.encode(value)) == value


@given(VALUES)
def test_writes_what_any_reader_reads(value: Any) -> None:
    json.loads(JSON.encode(value))
    assert msgpack.unpackb(MESSAGEPACK.encode(value), strict_map_key=False) == value


@pytest.mark.parametrize("leaf", [None, b"a", [], {}, {"$bytes": 1}], ids=repr)
@both
def test_reads_back_what_it_wrote_at_the_deepest_level(codec: Codec, leaf: Any) -> None:
    limits = Limits(depth=4)
    levels = 3 if isinstance(leaf, list | dict) else 4
    value = leaf
    for _ in range(levels):
        value = [value]
    assert codec.decode(codec.encode(value, limits), limits) == value
    for work in (codec.encode, lambda value, limits: codec.decode(codec.encode(value), limits)):
        with pytest.raises(FarsideError) as caught:
            work([value], limits)
        assert caught.value.code == "too_deep"


@given(st.binary())
def test_any_bytes_give_a_value_or_a_code(frame: bytes) -> None:
    try:
        value = MESSAGEPACK.decode(frame)
    except FarsideError as error:
        assert error.code in DECODE_CODES
    else:
        assert MESSAGEPACK.decode(MESSAGEPACK.encode(value)) == value


@given(VALUES, st.data())
def test_damaged_frames_give_a_value_or_a_code(value: Any, data: st.DataObject) -> None:
    frame = bytearray(MESSAGEPACK.encode(value))
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    try:
        MESSAGEPACK.decode(bytes(frame))
    except FarsideError as error:
        assert error.code in DECODE_CODES
    text = JSON.encode(value)
    place = data.draw(st.integers(0, len(text) - 1))
    try:
        JSON.decode(text[:place] + data.draw(st.characters()) + text[place + 1 :])
    except FarsideError as error:
        assert error.code in DECODE_CODES


@given(st.text() | st.text('[]{}:,"\\$bytes0123456789eE+-.uld '))
def test_any_text_gives_a_value_or_a_code(frame: str) -> None:
    try:
        value = JSON.decode(frame)
    except FarsideError as error:
        assert error.code in DECODE_CODES
        error.message.encode()
    else:
        assert JSON.decode(JSON.encode(value)) == value


def test_a_frame_of_the_wrong_kind_is_malformed() -> None:
    for codec, frame in ((JSON, b"{}"), (MESSAGEPACK, "\x80")):
        with pytest.raises(FarsideError) as caught:
            codec.decode(frame)
        assert caught.value.code == "malformed_frame"


@pytest.mark.parametrize(("codec", "size"), [(JSON, 7), (MESSAGEPACK, 6)], ids=["json", "msgpack"])
def test_counts_the_bytes_of_a_frame_on_both_sides(codec: Codec, size: int) -> None:
    value = ["aé", 1] if codec is MESSAGEPACK else ["aéa"]
    frame = codec.encode(value, Limits(frame_bytes=size + 1))
    assert len(frame.encode() if isinstance(frame, str) else frame) in (size, size + 1)
    size = len(frame.encode() if isinstance(frame, str) else frame)
    codec.decode(frame, Limits(frame_bytes=size))
    for work in (lambda: codec.decode(frame, Limits(frame_bytes=size - 1)),
                 lambda: codec.encode(value, Limits(frame_bytes=size - 1))):  # fmt: skip
        with pytest.raises(FarsideError) as caught:
            work()
        assert caught.value.code == "too_large"


@pytest.mark.parametrize(
    "value",
    [
        [[]] * 50,
        [{}] * 50,
        [b"", b""],
        ['[[[{{{,,,"\\'] * 20,
        {"[,": "],", "{": '"'},
        [[None] * 20, [], {"a": [1]}],
        ["\\", '"', "\\\\"],
        {"$bytes": ","},
    ],
    ids=repr,
)
@both
def test_counts_elements_exactly_on_both_sides(codec: Codec, value: Any) -> None:
    def elements(item: Any) -> int:
        inner = list(item.values()) if isinstance(item, dict) else item if isinstance(item, list) else []
        return len(inner) + sum(map(elements, inner))

    limits = Limits(items=elements(value))
    assert codec.decode(codec.encode(value, limits), limits) == value
    fewer = Limits(items=limits.items - 1)
    for work in (lambda: codec.encode(value, fewer), lambda: codec.decode(codec.encode(value), fewer)):
        with pytest.raises(FarsideError) as caught:
            work()
        assert caught.value.code == "too_large"


@given(VALUES)
def test_never_counts_more_elements_than_there_are(value: Any) -> None:
    def elements(item: Any) -> int:
        inner = list(item.values()) if isinstance(item, dict) else item if isinstance(item, list) else []
        return len(inner) + sum(map(elements, inner))

    limits = Limits(items=elements(value))
    for codec in CODECS.values():
        assert codec.decode(codec.encode(value, limits), limits) == value


@pytest.mark.parametrize(
    ("codec", "frame"),
    [
        (JSON, "[" + "[]," * 2_000_000 + "[]]"),
        (JSON, '{"a":[' + "1," * 2_000_000 + "1]}"),
        (JSON, "[" + "[[[[[]]]]]," * 500_000 + "[]]"),
        (MESSAGEPACK, b"\xdd" + (2_000_000).to_bytes(4, "big") + b"\x90" * 2_000_000),
        (MESSAGEPACK, b"\xdd" + (2_000_000).to_bytes(4, "big") + b"\xc0" * 2_000_000),
        (MESSAGEPACK, b"\xdd" + (700_000).to_bytes(4, "big") + b"\x91\x80" * 700_000),
    ],
    ids=["json arrays", "json numbers", "json deep arrays", "msgpack arrays", "msgpack nulls", "msgpack deep objects"],
)
def test_refuses_crowded_frames(codec: Codec, frame: Any) -> None:
    with pytest.raises(FarsideError) as caught:
        codec.decode(frame)
    assert caught.value.code == "too_large"
