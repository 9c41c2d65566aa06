"""Processes that share a file, and processes that die."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from farside.langgraph import SqliteSaver
from server.tests.langgraph.saver.made import checkpoint, config, message, messages_of
from server.tests.langgraph.saver.talking import answer, say, step, talking
from server.tests.langgraph.scripted import check_history

ROOT = Path(__file__).resolve().parents[4]
THREADS = 5


async def child(path: Path, threads: int = THREADS) -> Process:
    """A process that talks on so many threads of the file."""
    search = os.pathsep.join([str(ROOT), str(ROOT / "server"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "server.tests.langgraph.saver.talking", str(path), str(threads)]
    return await asyncio.create_subprocess_exec(*command, stdout=PIPE, env={**os.environ, "PYTHONPATH": search})


async def heard(process: Process, lines: int, lengths: dict[str, int]) -> None:
    """Listen to so many lines, or to all that are left for -1; remembers each thread's last length."""
    assert process.stdout is not None
    while lines:
        line = (await process.stdout.readline()).decode()
        if not line.endswith("\n"):
            return
        thread_id, length = line.split()
        lengths[thread_id] = int(length)
        lines -= 1


async def killed(path: Path, lines: int, lengths: dict[str, int]) -> None:
    """Have a process talk, and kill it when it has told so much."""
    process = await child(path)
    await heard(process, lines, lengths)
    process.send_signal(signal.SIGKILL)
    await heard(process, -1, lengths)
    assert await process.wait() == -signal.SIGKILL


async def goes_on(path: Path, lengths: dict[str, int]) -> None:
    """Nothing that was told is lost, and every thread can be gone on with."""
    async with SqliteSaver(path) as saver:
        graph = talking(saver)
        for thread_id, length in lengths.items():
            state = await graph.aget_state(config(thread_id))
            assert len(state.values["messages"]) >= length
            for _ in range(4):
                await step(graph, thread_id)
                if not (await graph.aget_state(config(thread_id))).tasks:
                    break
            messages = (await graph.aget_state(config(thread_id))).values["messages"]
            check_history(messages)
            assert len(messages) % 4 == 0


@pytest.mark.timeout(120)
async def test_nothing_that_was_told_is_lost_when_a_process_is_killed(path: Path) -> None:
    lengths: dict[str, int] = {}
    for lines in (1, 2 * THREADS, 7 * THREADS + 3):
        await killed(path, lines, lengths)
    assert len(lengths) == THREADS
    await goes_on(path, lengths)


@pytest.mark.timeout(120)
async def test_two_processes_write_to_the_same_threads(path: Path) -> None:
    """Two at once on one conversation make forks of it; each finds exactly what it stored."""
    async with SqliteSaver(path) as saver:
        process = await child(path, 2)
        lengths: dict[str, int] = {}
        await heard(process, 4, lengths)
        stored: list[tuple[Any, list[BaseMessage]]] = []
        for _ in range(20):
            for thread_id in lengths:
                found: Any = await saver.aget_tuple(config(thread_id))
                history = [*messages_of(found), message(), message()]
                for length in (len(history) - 1, len(history)):
                    place, old = config(thread_id, ns="fork"), checkpoint(history[:length])
                    stored.append((await saver.aput(place, old, {}, {"messages": "1"}), history[:length]))
            await heard(process, 1, lengths)
        process.send_signal(signal.SIGKILL)
        await heard(process, -1, lengths)
        await process.wait()
    async with SqliteSaver(path) as saver:
        for name, history in stored:
            found = await saver.aget_tuple(name)
            assert messages_of(found) == history
    await goes_on(path, lengths)


async def test_two_savers_on_one_thread_do_not_use_the_same_numbers(path: Path) -> None:
    async with SqliteSaver(path) as one, SqliteSaver(path) as two:
        graphs = [talking(one), talking(two)]
        for turn in range(6):
            await say(graphs[turn % 2], "t")
            await answer(graphs[(turn + 1) % 2], "t")
        states = [(await graph.aget_state(config("t"))).values["messages"] for graph in graphs]
        assert states[0] == states[1]
        check_history(states[0])
        assert len(states[0]) == 24


async def test_the_first_open_of_a_file_by_several_at_once(path: Path) -> None:
    savers = [SqliteSaver(path) for _ in range(8)]
    await asyncio.gather(*(asyncio.to_thread(saver.open) for saver in savers))
    for saver in savers:
        saver.close()
