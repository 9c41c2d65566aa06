"""Whatever is done to a thread, it looks as it does on LangGraph's own saver."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from farside.langgraph.saver import large
from server.tests.langgraph.saver.worlds import Ours, Stock, World

APIS = st.sampled_from(["async", "sync"])
DURABILITIES = st.sampled_from(["sync", "async", "exit"])
SETTLED = st.sampled_from(["sync", "exit"])
NUMBERS = st.integers(0, 12)
DEEDS = st.sampled_from(
    ["say", "replace", "remove", "clear", "overwrite", "change", "change silently", "give back", "keep", "pause"]
)
COMMANDS = st.one_of(
    st.tuples(st.just("run"), APIS, DURABILITIES, st.lists(st.tuples(DEEDS, st.integers(1, 9)), max_size=4)),
    st.tuples(st.just("resume"), APIS, SETTLED),
    st.tuples(st.just("update"), APIS, st.none() | NUMBERS, st.integers(1, 3)),
    st.tuples(st.just("replay"), APIS, SETTLED, NUMBERS),
    st.tuples(st.just("scribble"), APIS, NUMBERS),
    st.tuples(st.just("restart")),
)
BEGIN = ("run", "async", "sync", [("say", 9), ("keep", 3)])


async def play(script: list[Any], cache_messages: int, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, patch.object(large, "SIZE", size):
        theirs = World(Path(folder) / "stock.db", Stock)
        ours = World(Path(folder) / "ours.db", lambda: Ours(cache_messages))
        for world in (theirs, ours):
            await world.open()
        try:
            for number, (command, *arguments) in enumerate([BEGIN, *script]):
                for world in (theirs, ours):
                    await getattr(world, command)(*arguments)
                api = ("async", "sync")[number % 2]
                assert await ours.seen(api, 3) == await theirs.seen(api, 3), (number, command, arguments)
            assert await ours.seen("async") == await theirs.seen("sync")
        finally:
            for world in (theirs, ours):
                await world.close()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(COMMANDS, min_size=1, max_size=5), st.sampled_from([100_000, 20, 3]), st.sampled_from([large.SIZE, 5]))
@example([("run", "async", "sync", [("change", 2)]), ("run", "sync", "exit", [("change", 1), ("say", 5)])], 100_000, 5)
@example([("run", "sync", "exit", [("change silently", 3), ("say", 9)]), ("restart",)], 100_000, 5)
@example([("scribble", "async", 0), ("run", "async", "sync", [("say", 1)])], 100_000, 5)
@example([("run", "async", "exit", [("pause", 1)]), ("restart",), ("resume", "sync", "sync")], 100_000, 5)
@example([("run", "async", "async", [("overwrite", 3), ("pause", 1)]), ("update", "sync", 3, 2)], 3, 5)
@pytest.mark.timeout(120)
def test_a_random_script(script: list[Any], cache_messages: int, size: int) -> None:
    asyncio.run(play(script, cache_messages, size))
