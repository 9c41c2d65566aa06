"""Which events a subscription sees."""

from __future__ import annotations

from typing import Any

import pytest

from farside.core.subscriptions import Subscription, channel_of
from farside.wire.messages import SubscribeParams
from server.tests.samples import event


def subscription(**params: Any) -> Subscription:
    return Subscription.of("s1", SubscribeParams.model_validate(params))


CHANNELS = ("values", "updates", "messages", "tools", "lifecycle", "checkpoints", "tasks", "calls", "custom")


@pytest.mark.parametrize("method", [*CHANNELS, "input.requested"])
def test_by_channel(method: str) -> None:
    for channel in (*CHANNELS, "input"):
        sees = subscription(channels=[channel])
        assert sees.wants(method) == sees.matches(event(1, method)) == (channel == method.removesuffix(".requested"))


def test_by_several_channels() -> None:
    sees = subscription(channels=["messages", "tools"])
    assert [method for method in ("messages", "tools", "calls") if sees.wants(method)] == ["messages", "tools"]


@pytest.mark.parametrize(
    ("channel", "name", "seen"),
    [
        ("custom", None, True),
        ("custom", "a", True),
        ("custom:a", "a", True),
        ("custom:a", "b", False),
        ("custom:a", None, False),
        ("custom:a:b", "a:b", True),
        ("custom:a", "a:b", False),
    ],
)
def test_by_the_name_of_a_custom_event(channel: str, name: str | None, seen: bool) -> None:
    data = {"payload": 1} if name is None else {"payload": 1, "name": name}
    sees = subscription(channels=[channel])
    assert sees.wants("custom")
    assert sees.matches(event(1, "custom", data=data)) == seen
    assert not sees.matches(event(1, "messages", data=data))


ROOT, A, AB, ABC, B, AB2 = (), ("a",), ("a", "b"), ("a", "b", "c"), ("b",), ("ab",)


@pytest.mark.parametrize(
    ("params", "seen"),
    [
        ({}, {ROOT, A, AB, ABC, B, AB2}),
        ({"depth": 0}, {ROOT}),
        ({"depth": 1}, {ROOT, A, B, AB2}),
        ({"depth": 9}, {ROOT, A, AB, ABC, B, AB2}),
        ({"namespaces": []}, {ROOT, A, AB, ABC, B, AB2}),
        ({"namespaces": [], "depth": 0}, {ROOT}),
        ({"namespaces": [[]]}, {ROOT, A, AB, ABC, B, AB2}),
        ({"namespaces": [["a"]]}, {A, AB, ABC}),
        ({"namespaces": [["a"]], "depth": 0}, {A}),
        ({"namespaces": [["a"]], "depth": 1}, {A, AB}),
        ({"namespaces": [["a", "b"], ["b"]]}, {AB, ABC, B}),
        ({"namespaces": [["a", "b"], []], "depth": 0}, {AB, ROOT}),
        ({"namespaces": [["c"]]}, set()),
    ],
)
def test_by_namespace_and_depth(params: dict[str, Any], seen: set[tuple[str, ...]]) -> None:
    sees = subscription(channels=["messages"], **params)
    assert {path for path in (ROOT, A, AB, ABC, B, AB2) if sees.matches(event(1, namespace=path))} == seen


@pytest.mark.parametrize(
    ("prefix", "seen"),
    [
        (["tools"], {("tools:1",), ("tools:1", "model:2")}),
        (["tools:1"], {("tools:1",), ("tools:1", "model:2")}),
        (["tools", "model"], {("tools:1", "model:2")}),
        (["tools:2"], set()),
        (["tool"], set()),
        ([""], set()),
    ],
)
def test_by_the_name_of_a_node(prefix: list[str], seen: set[tuple[str, ...]]) -> None:
    """A filter may name a node without its task, which no client can know beforehand."""
    sees = subscription(channels=["messages"], namespaces=[prefix])
    paths = ((), ("tools:1",), ("tools:1", "model:2"), ("other:1",))
    assert {path for path in paths if sees.matches(event(1, namespace=path))} == seen


def test_channel_of() -> None:
    assert channel_of("input.requested") == "input"
    assert channel_of("messages") == "messages"
