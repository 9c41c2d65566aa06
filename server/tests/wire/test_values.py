"""The data model: what is let through, what is refused, and how the refusal is worded."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.errors import FarsideError
from farside.wire.values import Limits, check, escape, is_escape_key, unescape
from server.tests.strategies import VALUES
from server.tests.vectors import entries


class Text(StrEnum):
    A = "a"


class Number(IntEnum):
    ONE = 1


FOREIGN: list[Any] = [
    object(),
    (1, 2),
    {1},
    datetime(2020, 1, 1, tzinfo=UTC),
    1j,
    bytearray(b"a"),
    memoryview(b"a"),
    Text.A,
    Number.ONE,
    OrderedDict(a=1),
    int,
    {1: 2},
    {b"a": 1},
    {None: 1},
    {10**5000: 1},
]


def made(make: Any) -> list[Any]:
    """The values that an entry of "unencodable" describes; vectors/README.md says how."""
    match make:
        case str():
            return [make]
        case {"number": str(text)}:
            # Python reads 5,000 digits only bit by bit.
            return [int(text[:4000]) * 10 ** max(0, len(text) - 4000) if text.lstrip("-").isdigit() else float(text)]
        case {"utf16": list(units)}:
            return ["".join(map(chr, units))]
        case {"key": key}:
            return [{each: 1} for each in made(key)]
        case {"levels": int(levels), "of": kind}:
            value: Any = [] if kind == "arrays" else {}
            for _ in range(levels - 1):
                value = [value] if kind == "arrays" else {"a": value}
            return [value]
        case {"elements": int(elements)}:
            return [[None] * elements]
        case {"foreign": True}:
            return FOREIGN
        case _:
            raise AssertionError(f"vectors/README.md does not know {make}")


@pytest.mark.parametrize("entry", entries("values.json", "unencodable"))
def test_refuses_what_may_not_travel(entry: Any) -> None:
    for value in made(entry["make"]):
        for placed in (value, [value], {"a": [value, 1]}):
            with pytest.raises(FarsideError) as caught:
                check(placed)
            assert caught.value.code == entry["code"]
            assert len(caught.value.message) < 400
            caught.value.message.encode()


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (2**53, "$"),
        ([0, 2**53], "$[1]"),
        ({"a": [{"b c": 2**53}]}, "$.a[0].b c"),
        ({"\ud800": 1}, "$.\\ud800"),
        ({"k" * 5000: [2**53]}, f"$.{'k' * 100}[0]"),
    ],
)
def test_names_the_place(value: Any, place: str) -> None:
    with pytest.raises(FarsideError) as caught:
        check(value)
    assert caught.value.message.startswith(f"at {place}: ")


def nested(depth: int, wrap: Callable[[Any], Any], value: Any) -> Any:
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}], ids=["arrays", "objects"])
def test_counts_levels(wrap: Callable[[Any], Any]) -> None:
    limits = Limits(depth=3)
    for leaf in (None, 1, "a", b"a"):
        check(nested(3, wrap, leaf), limits)
    for inner in ([], {}):
        check(nested(2, wrap, inner), limits)
        with pytest.raises(FarsideError) as caught:
            check(nested(3, wrap, inner), limits)
        assert caught.value.code == "too_deep"


@pytest.mark.parametrize(
    ("value", "elements"), [([], 0), ([1, 2], 2), ([[1], {"a": 2}, []], 5), ({"a": {"b": {}}}, 2), ([b"a"], 1)]
)
def test_counts_elements(value: Any, elements: int) -> None:
    check(value, Limits(items=elements))
    with pytest.raises(FarsideError) as caught:
        check([value], Limits(items=elements))
    assert caught.value.code == "too_large"


def test_says_whether_to_escape() -> None:
    assert not check([1, {"$bytes": 1, "a": 2}, {"a": "$bytes"}])
    assert check([{"a": b""}])
    assert check([{"$bytes": 1}])
    assert check([{"$$bytes": 1}])


@given(VALUES)
def test_unescape_undoes_escape(value: Any) -> None:
    check(value)
    assert unescape(escape(value)) == value


@given(VALUES)
def test_an_escaped_value_is_plain_json(value: Any) -> None:
    def visit(item: Any) -> None:
        assert not isinstance(item, bytes)
        for inner in item.values() if isinstance(item, dict) else item if isinstance(item, list) else ():
            visit(inner)

    visit(escape(value))


@given(st.from_regex(r"\A\$*bytes.?\Z"))
def test_escape_keys(key: str) -> None:
    assert is_escape_key(key) == (key.startswith("$") and key.endswith("$bytes"))
