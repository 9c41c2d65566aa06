"""What is known of threads is bounded, and forgetting is never seen."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from farside.langgraph import SqliteSaver
from farside.langgraph.saver.cache import Cache
from farside.langgraph.saver.known import Known
from farside.langgraph.saver.large import encode
from server.tests.langgraph.saver.made import config, items, message, messages_of, put

SERDE = JsonPlusSerializer()


def filled(known: Known, count: int) -> None:
    known.split(("", "messages"), [message() for _ in range(count)], partial(encode, SERDE), wary=False)


def test_the_thread_that_was_used_longest_ago_is_forgotten_first() -> None:
    cache = Cache(10)
    for thread_id in ("a", "b", "a", "c"):
        filled(cache.known(SERDE, thread_id), 3)
        cache.trim(SERDE, thread_id)
    assert len(cache) == 9
    assert [cache.known(SERDE, thread_id).weight for thread_id in ("a", "b", "c")] == [6, 0, 3]


def test_a_thread_that_is_too_long_is_kept_while_it_is_in_use() -> None:
    cache = Cache(10)
    filled(cache.known(SERDE, "a"), 11)
    cache.trim(SERDE, "a")
    assert (len(cache), cache.known(SERDE, "a").weight) == (11, 11)
    filled(cache.known(SERDE, "b"), 1)
    cache.trim(SERDE, "b")
    assert (len(cache), cache.known(SERDE, "a").weight) == (1, 0)


def test_nothing_is_kept_where_nothing_may_be() -> None:
    cache = Cache(0)
    filled(cache.known(SERDE, "a"), 1)
    cache.trim(SERDE, "a")
    assert (len(cache), cache.holds(SERDE, "a")) == (0, False)


def test_messages_are_stored_once_also_of_a_thread_that_is_too_long(path: Path) -> None:
    with SqliteSaver(path, cache_messages=5) as saver:
        history = [message() for _ in range(20)]
        for _ in range(5):
            history.append(message())
            saver.put(*put(history))
    assert items(path) == 25


def test_what_one_serializer_decoded_is_not_shown_to_another() -> None:
    cache = Cache(10)
    filled(cache.known(SERDE, "a"), 3)
    assert cache.known(JsonPlusSerializer(), "a").weight == 0


def test_an_older_incarnation_of_a_thread_is_forgotten_and_a_newer_one_left_alone() -> None:
    cache = Cache(10)
    known = cache.known(SERDE, "a", 5)
    filled(known, 3)
    assert cache.known(SERDE, "a", 5) is known
    assert cache.known(SERDE, "a", 4).weight == 0
    assert cache.known(SERDE, "a", 5) is known
    assert cache.known(SERDE, "a", 6).weight == 0


def test_a_message_that_changed_is_not_counted_twice() -> None:
    known, history = Known(), [message(), message()]
    for text in ("one", "two"):
        history[-1].content = text
        known.split(("", "messages"), history, partial(encode, SERDE), wary=False)
    assert known.weight == 2


@pytest.mark.parametrize("text", ["words " * 2_000, "words " * 20_000])
def test_a_long_message_counts_as_several(text: str) -> None:
    known = Known()
    known.split(("", "messages"), [message(text)], partial(encode, SERDE), wary=False)
    assert len(text) // 2_048 <= known.weight - 1 <= len(text) // 2_048 + 1


async def test_forgetting_while_writes_are_under_way(path: Path) -> None:
    """Every put evicts every thread."""
    async with SqliteSaver(path, cache_messages=1) as saver:
        histories: dict[str, list[BaseMessage]] = {f"t{number}": [] for number in range(5)}

        async def grow(thread_id: str, history: list[BaseMessage]) -> None:
            for _ in range(10):
                history.append(message())
                writing = asyncio.ensure_future(saver.aput(*put(list(history), thread_id)))
                await asyncio.sleep(0)
                reading = asyncio.ensure_future(saver.aget_tuple(config(thread_id)))
                await writing
                found: Any = await reading
                assert messages_of(found) == history

        await asyncio.gather(*(grow(thread_id, history) for thread_id, history in histories.items()))
    with SqliteSaver(path) as saver:
        for thread_id, history in histories.items():
            assert messages_of(saver.get_tuple(config(thread_id))) == history
