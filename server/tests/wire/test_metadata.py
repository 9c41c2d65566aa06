"""What a thread's metadata may be, and what facts it states."""

from __future__ import annotations

from typing import Any

import pytest

from farside.errors import FarsideError
from farside.wire.metadata import MAX_BYTES, MAX_LABELS, checked, labels, merged


def test_members_are_merged_at_the_top_alone() -> None:
    before = {"a": {"x": 1}, "b": 1}
    assert merged(before, {"a": {"y": 2}, "c": None}) == {"a": {"y": 2}, "b": 1, "c": None}
    assert before == {"a": {"x": 1}, "b": 1}


def test_labels_are_those_that_are_stored() -> None:
    """Stores keep them: they never change."""
    assert sorted(
        label.hex() for label in labels({"graph_id": "agent", "deep": {"n": [1.0, {"b": 1, "a": -0.0}]}})
    ) == [
        "49d6919347608f2203388f78c3492f35",
        "4ed2b367ffa856837aec80b3b3ceced5",
        "736336a9acdb01a5ad3ff753c8f946bf",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 1.0}),
        ({"a": 0}, {"a": -0.0}),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2.0, "b": 1}]}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2, "b": 1}}),
    ],
)
def test_equal_values_have_equal_labels(one: Any, other: Any) -> None:
    assert labels(one) == labels(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": {}}, {"a": []}),
        ({"a": None}, {}),
        ({"a": {"b": 1}}, {"a.b": 1}),
        ({"a": ["b", 1]}, {"a": {"b": 1}}),
        ({"a": b"b"}, {"a": "b"}),
        ({"a": {"b": {}}}, {"a": {"b": {}}, "b": {}}),
    ],
)
def test_other_values_have_other_labels(one: Any, other: Any) -> None:
    assert labels(one) != labels(other)


@pytest.mark.parametrize(
    "metadata",
    [
        {"a": "x" * MAX_BYTES},
        {"a": list(range(MAX_BYTES))},
        {str(number): number for number in range(MAX_LABELS + 1)},
        {"a": {str(number): {} for number in range(MAX_LABELS)}},
    ],
)
def test_what_is_too_large_is_refused(metadata: Any) -> None:
    with pytest.raises(FarsideError, match=r"at most 65536 bytes and 256 members") as refused:
        checked(metadata)
    assert refused.value.code == "too_large"
    with pytest.raises(FarsideError):
        merged({}, metadata)


def test_the_largest_are_taken() -> None:
    metadata = {str(number): number for number in range(MAX_LABELS)}
    assert checked(metadata) is metadata
    deep: Any = 1
    for _ in range(62):
        deep = [deep]
    assert len(labels(checked({"a": deep}))) == 1
