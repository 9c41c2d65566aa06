"""A pause that was reported survives the death of the process (L1), and what had finished does not run again (L5)."""

from __future__ import annotations

import json
import os
import signal
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from farside.core.ports import Opened
from farside.langgraph import LangGraphRuntime, SqliteSaver
from server.tests.langgraph import dying
from server.tests.langgraph.scripted import FakeDesk, answering, drive, messages_of, start

ROOT = Path(__file__).resolve().parents[3]


async def killed_after_opened(folder: Path, kind: str) -> None:
    """Run a leg in a process of its own and kill it with the first pause that it reports."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "server"), os.environ.get("PYTHONPATH", "")])
    process = await create_subprocess_exec(
        sys.executable,
        "-m",
        "server.tests.langgraph.dying",
        str(folder),
        kind,
        stdout=PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    line = await process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert json.loads(line) == ["a", "c"]
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("kind", ["agent", "node"])
async def test_a_new_process_answers_what_a_killed_one_opened(tmp_path: Path, kind: str) -> None:
    await killed_after_opened(tmp_path, kind)
    async with SqliteSaver(tmp_path / "graph.db") as saver:
        runtime = LangGraphRuntime(dying.agent(tmp_path, kind), checkpointer=saver)

        items = [item async for item in runtime.run(answering(start(), kind="recover"), FakeDesk())]

        (opened,) = items
        assert isinstance(opened, Opened)
        calls = sorted(opened.calls, key=lambda new: new.tool_call_id)
        assert [(new.tool_call_id, new.timeout) for new in calls] == [("a", 9), ("c", 9)]
        _, more = await drive(runtime, answering(start(), *((new, f"for {new.tool_call_id}") for new in calls)))
        assert not more
        contents = {m["tool_call_id"]: m["content"] for m in await messages_of(runtime) if m["type"] == "tool"}
        assert contents == {"a": "for a", "b": "charged", "c": "for c"}
    assert (tmp_path / "charged").read_text() == "once\n"


@pytest.mark.parametrize("kind", ["agent", "node"])
async def test_a_new_process_abandons_what_a_killed_one_opened(tmp_path: Path, kind: str) -> None:
    await killed_after_opened(tmp_path, kind)
    async with SqliteSaver(tmp_path / "graph.db") as saver:
        runtime = LangGraphRuntime(dying.agent(tmp_path, kind), checkpointer=saver)

        await runtime.abandon("thread", "run-1", "stopped")

        contents = {m["tool_call_id"]: m["content"] for m in await messages_of(runtime) if m["type"] == "tool"}
        stopped = "Error (cancelled): stopped"
        assert contents == {"a": stopped, "b": "charged", "c": stopped}
    assert (tmp_path / "charged").read_text() == "once\n"
