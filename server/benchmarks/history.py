"""What a turn costs in a long conversation: ``python server/benchmarks/history.py``.

In one run, in turns: LangGraph's own SQLite saver, farside's, and one that keeps everything in memory as it is, which
costs nothing, so that LangGraph's own floor is seen. A turn is a question, a pause and the answer that resumes it; for
an agent of ``create_agent`` and for a graph that is built by hand. What counts is the ratios.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import sqlite3
import statistics
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, get_checkpoint_metadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from farside.langgraph import SqliteSaver

LENGTHS = (10, 1_000)
TURNS = 25
THREADS = 50
ROUNDS = 7
TEXT = "x" * 200

_K = TypeVar("_K", bound=Hashable)
Measure = Callable[[], Awaitable[float]]


class Floor(BaseCheckpointSaver[Any]):
    """Keeps the newest checkpoint of each thread as the object that it is; nothing is encoded or written."""

    def __init__(self) -> None:
        super().__init__()
        self._tuples: dict[str, CheckpointTuple] = {}

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._tuples.get(_thread(config))

    async def aput(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        named: Any = {"configurable": {**config.get("configurable", {}), "checkpoint_id": checkpoint["id"]}}
        metadata = get_checkpoint_metadata(config, metadata)
        self._tuples[_thread(config)] = CheckpointTuple(named, checkpoint, metadata, config, [])
        return named

    async def aput_writes(self, config: RunnableConfig, writes: Any, task_id: str, task_path: str = "") -> None:
        pending: Any = self._tuples[_thread(config)].pending_writes
        pending.extend((task_id, channel, value) for channel, value in writes)


def _thread(config: RunnableConfig) -> str:
    return config.get("configurable", {})["thread_id"]


@asynccontextmanager
async def stock(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """LangGraph's saver, as durable as ours."""
    async with aiosqlite.connect(path) as connection:
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=FULL")
        yield AsyncSqliteSaver(connection)


@asynccontextmanager
async def floor(path: Path) -> AsyncIterator[Floor]:
    """No saver, as far as LangGraph can do without."""
    yield Floor()


SAVERS: dict[str, Callable[[Path], Any]] = {"stock": stock, "farside": SqliteSaver, "floor": floor}


def by_hand() -> StateGraph[Any]:
    """Ask, pause, and tell what was answered."""

    def ask(state: MessagesState) -> dict[str, Any]:
        call = {"name": "locate", "args": {}, "id": str(uuid.uuid4())}
        return {"messages": [AIMessage(TEXT, id=str(uuid.uuid4()), tool_calls=[call])]}

    def locate(state: MessagesState) -> dict[str, Any]:
        answer = interrupt("Where?")
        call: Any = state["messages"][-1]
        told = ToolMessage(str(answer), tool_call_id=call.tool_calls[0]["id"], id=str(uuid.uuid4()))
        return {"messages": [told, AIMessage(TEXT, id=str(uuid.uuid4()))]}

    graph: StateGraph[Any] = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("locate", locate)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "locate")
    graph.add_edge("locate", END)
    return graph


async def seed(graph: Any, config: Any, length: int) -> None:
    """A thread of so many messages."""
    messages: list[AnyMessage] = []
    for number in range(length):
        kind = AIMessage if number % 2 else HumanMessage
        messages.append(kind(TEXT, id=str(uuid.uuid4())))
    await graph.aupdate_state(config, {"messages": messages}, as_node="__start__")


async def turn(graph: Any, config: Any) -> None:
    """Question, pause, answer."""
    question = {"messages": [HumanMessage(TEXT, id=str(uuid.uuid4()))]}
    paused = await graph.ainvoke(question, config, durability="sync")
    answer = Command(resume={paused["__interrupt__"][0].id: {"lat": 1.5}})
    await graph.ainvoke(answer, config, durability="sync")


def stored(path: Path) -> int:
    """Bytes of all columns of all rows of a file."""
    if not path.exists():
        return 0
    with sqlite3.connect(path) as db:
        total = 0
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            lengths = " + ".join(f"COALESCE(LENGTH(CAST({column} AS BLOB)), 0)" for column in columns)
            total += db.execute(f"SELECT COALESCE(SUM({lengths}), 0) FROM {table}").fetchone()[0]  # noqa: S608
    return total


class Measured:
    """One saver under one graph."""

    numbers = itertools.count(1)

    def __init__(self, graph: Any, path: Path) -> None:
        self.graph, self.path = graph, path

    async def thread(self, length: int) -> Any:
        config = {"configurable": {"thread_id": f"thread-{next(self.numbers)}"}}
        await seed(self.graph, config, length)
        await turn(self.graph, config)
        return config

    async def one_turn(self, length: int) -> float:
        """Milliseconds of a turn of a fresh thread, after one that warms it up."""
        config = await self.thread(length)
        began = time.perf_counter()
        await turn(self.graph, config)
        return (time.perf_counter() - began) * 1_000

    async def bytes_of_a_turn(self, length: int) -> int:
        config = await self.thread(length)
        before = stored(self.path)
        await turn(self.graph, config)
        return stored(self.path) - before

    async def threads(self, length: int) -> list[Any]:
        """Many threads, ready for a turn."""
        return [await self.thread(length) for _ in range(THREADS)]

    async def turns_per_second(self, configs: list[Any]) -> float:
        """A turn of each thread, all at once."""
        began = time.perf_counter()
        await asyncio.gather(*(turn(self.graph, config) for config in configs))
        return len(configs) / (time.perf_counter() - began)


async def in_turns(measures: Mapping[_K, Measure], rounds: int) -> dict[_K, float]:
    """The median of each; in turns, so that a slow moment of the machine hits each alike."""
    taken: dict[_K, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(await measure())
    return {name: statistics.median(times) for name, times in taken.items()}


async def table(kind: str, graph: Any, folder: Path, names: Sequence[str]) -> None:
    """Measure one graph and print its table."""
    async with AsyncExitStack() as opened:
        savers: dict[str, Measured] = {}
        for name in names:
            path = folder / f"{kind}-{name}.db"
            saver = await opened.enter_async_context(SAVERS[name](path))
            savers[name] = Measured(graph(saver), path)
        short, long = LENGTHS
        alone = {(name, length): partial(each.one_turn, length) for name, each in savers.items() for length in LENGTHS}
        at = await in_turns(alone, TURNS)
        rate: dict[int, dict[str, float]] = {}
        for length in LENGTHS:
            together: dict[str, Measure] = {}
            for name, each in savers.items():
                together[name] = partial(each.turns_per_second, await each.threads(length))
            rate[length] = await in_turns(together, ROUNDS)
        size = {name: await each.bytes_of_a_turn(long) for name, each in savers.items()}
    print(f"\n{kind}: ms per turn at {short} -> {long} messages, kB stored per turn, turns/s of {THREADS} threads")
    for name in names:
        print(
            f"  {name:8} {at[name, short]:6.1f} -> {at[name, long]:6.1f} ({at[name, long] / at[name, short]:.2f}x)"
            f"  {size[name] / 1_000:8.1f} kB  {rate[short][name]:6.0f} / {rate[long][name]:4.0f}"
        )
    if "stock" in names and "farside" in names:
        faster = [rate[length]["farside"] / rate[length]["stock"] for length in LENGTHS]
        print(f"  farside / stock, turns/s: {faster[0]:.1f} (at least 2) and {faster[1]:.1f} (at least 5)")


async def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).parent))
    agent = importlib.import_module("agents").graph

    names = sys.argv[1:] or list(SAVERS)
    print("SQLite synchronous=FULL, WAL; median of", TURNS, "fresh threads; messages of", len(TEXT), "bytes")
    with tempfile.TemporaryDirectory() as folder:
        await table("create_agent", lambda saver: agent().copy(update={"checkpointer": saver}), Path(folder), names)
        await table("by hand", lambda saver: by_hand().compile(checkpointer=saver), Path(folder), names)


if __name__ == "__main__":
    asyncio.run(main())
