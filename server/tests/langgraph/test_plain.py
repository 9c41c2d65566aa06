from __future__ import annotations

import enum
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command, Interrupt
from pydantic import BaseModel, SecretStr

from farside.langgraph.plain import has_bytes, plain
from farside.wire.values import check


class Color(enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    __slots__ = ()


@dataclass
class Point:
    x: int
    other: Any = None


class Model(BaseModel):
    a: int
    secret: SecretStr = SecretStr("hidden")


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no")


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**53 - 1, 2**53 - 1),
        (2**53, "9007199254740992"),
        (-(2**70), "-1180591620717411303424"),
        (1.5, 1.5),
        (float("nan"), None),
        (float("-inf"), None),
        (1e300, "1e+300"),
        (b"x", b"x"),
        (bytearray(b"x"), b"x"),
        (memoryview(b"x"), b"x"),
        ("Zürich 🎈", "Zürich 🎈"),
        ("a\ud800b", "a\ufffdb"),
        (Text("t"), "t"),
        (Color.RED, "red"),
        (Number.ONE, 1),
        (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        ((1, {2}), [1, [2]]),
        (deque([1]), [1]),
        (Pair(1, 2), [1, 2]),
        ({1: "a", None: "b", Color.RED: "c"}, {"1": "a", "None": "b", "red": "c"}),
        ({"__proto__": 1, "b": 2}, {"b": 2}),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (Point(1, Point(2)), {"x": 1, "other": {"x": 2, "other": None}}),
        (Model(a=2**60), {"a": str(2**60), "secret": "**********"}),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Decimal("1.10"), "1.10"),
        (PurePosixPath("/a"), "/a"),
        (Broken(), "<Broken>"),
        ([Broken()], ["<Broken>"]),
        (ValueError("text"), "text"),
        (Interrupt(value={1}, id="i"), {"value": [1], "id": "i", "response_schema": None}),
    ],
)
def test_everything_has_a_plain_form(value: Any, expected: Any) -> None:
    result = plain(value)
    assert result == expected
    assert type(result) is type(expected)
    check({"data": result})


def test_messages_look_as_on_the_official_server() -> None:
    message = ToolMessage(
        {"a": 1}.__repr__(), tool_call_id="c", name="n", id="m", artifact={"blob": b"x", "at": date(2026, 1, 1)}
    )
    assert plain(message) == {
        "content": "{'a': 1}",
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "tool",
        "name": "n",
        "id": "m",
        "tool_call_id": "c",
        "artifact": {"blob": b"x", "at": "2026-01-01"},
        "status": "success",
    }


def test_commands_are_shown() -> None:
    shown = plain(Command(update={"messages": [HumanMessage("x")]}, goto="there"))
    assert shown["update"]["messages"][0]["content"] == "x"
    assert shown["goto"] == "there"


def test_cycles_and_depths_end() -> None:
    cycle: list[Any] = []
    cycle.extend([cycle, {"self": cycle}])
    assert plain(cycle) == ["<too deep>", {"self": "<too deep>"}]
    deep: Any = "bottom"
    for _ in range(200):
        deep = [deep]
    check({"params": {"data": plain(deep)}})
    message = AIMessage("x", additional_kwargs={"cycle": cycle})
    check(plain(message))


def test_the_same_thing_twice_is_no_cycle() -> None:
    twin = {"a": 1}
    assert plain([twin, twin]) == [twin, twin]


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.binary()
    | st.text(st.characters())
    | st.datetimes()
    | st.decimals()
    | st.uuids()
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.text(st.characters()) | st.just("__proto__"), inner)
    ),
    max_leaves=30,
)


@given(anything)
def test_anything_can_travel_and_stays_as_it_is(value: Any) -> None:
    result = plain(value)
    check(result)
    assert plain(result) == result


def test_bytes_are_found() -> None:
    assert has_bytes([{"a": [b""]}])
    assert not has_bytes([{"a": ["b", 1, None]}])
