"""LangGraph's own suite for checkpointers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from farside.langgraph import SqliteSaver


async def test_the_suite_passes_with_every_capability_that_it_knows(tmp_path: Path) -> None:
    count = 0

    @checkpointer_test(name="farside.langgraph.SqliteSaver")
    async def made() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        nonlocal count
        count += 1
        async with SqliteSaver(tmp_path / f"{count}.db") as saver:
            yield saver

    report = await validate(made)

    failed = {name: result.failures for name, result in report.results.items() if result.failures}
    assert not failed
    assert {name for name, result in report.results.items() if result.passed} == {each.value for each in Capability}
    assert count == len(Capability)
