"""How long a page waits for the model after its answer: ``make bench``.

In one run, in turns: a raw WebSocket echo; answer sent -> first event of the next message, for a plain function and for
a LangGraph agent, both on SQLite, over a real socket to a server in a process of its own; and the same graph resumed in
process, without a server. What counts is the ratios.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from farside.langgraph import SqliteSaver
from farside.testing import ServerProcess, SocketLink

TURNS = 200
WARM_UP = 20
RESULT = {"status": "success", "value": {"lat": 1.5, "lon": 2.5}}

Measure = Callable[[], Awaitable[float]]


@asynccontextmanager
async def server(app: str, store: str) -> AsyncIterator[str]:
    """A server in a process of its own; gives ``127.0.0.1:port``."""
    environment = {"FARSIDE_BENCH_STORE": store, "PYTHONWARNINGS": "ignore"}
    process = await ServerProcess.start(app, folder=Path(__file__).parent, environment=environment)
    try:
        yield process.address
    finally:
        await process.stop()


async def echo_trip(socket: Any) -> float:
    """200 bytes there and back."""
    began = time.perf_counter()
    await socket.send(b"x" * 200)
    await socket.recv()
    return time.perf_counter() - began


class Page:
    """A page on a thread of its own that answers its call by hand and takes the time."""

    threads = itertools.count(1)

    def __init__(self, address: str, agent: str) -> None:
        self.address, self.agent = address, agent

    async def trip(self) -> float:
        """One turn on a fresh thread."""
        ids = itertools.count(1)
        thread = f"{self.agent}-{next(self.threads)}"
        async with SocketLink.open(f"ws://{self.address}", thread) as link:

            async def send(method: str, **params: Any) -> None:
                await link.send({"id": next(ids), "method": method, "params": params})

            async def event(method: str, name: str) -> dict[str, Any]:
                while True:
                    message = await link.receive()
                    if message.get("method") == method and message["params"]["data"]["event"] == name:
                        return message["params"]["data"]

            await send("client.announce", client_id="bench", tools=[{"name": "locate"}])
            await send("subscription.subscribe", channels=["lifecycle", "messages", "calls"])
            await send(
                "run.start", assistant_id=self.agent, input={"messages": [{"type": "human", "content": "Where?"}]}
            )
            opened = await event("calls", "opened")
            held = {"interrupt_id": opened["interrupt_id"], "claim_id": "bench"}
            await send("call.claim", **held)
            await event("calls", "claimed")
            began = time.perf_counter()
            await send("call.settle", **held, result=RESULT)
            await event("messages", "message-start")
            took = time.perf_counter() - began
            await event("lifecycle", "completed")
        return took


async def in_process_trip(agent: Any, numbers: Any) -> float:
    """The graph paused and resumed without a server."""
    from langgraph.types import Command

    config = {"configurable": {"thread_id": f"in-process-{next(numbers)}"}}
    run = await agent.astream_events({"messages": [{"role": "user", "content": "Where?"}]}, config, version="v3")
    pauses = [pause async for event in run for pause in event["params"].get("interrupts", ())]
    began = time.perf_counter()
    run = await agent.astream_events(Command(resume={pauses[0].id: RESULT["value"]}), config, version="v3")
    took = 0.0
    async for event in run:
        if event["method"] == "messages" and not took:
            took = time.perf_counter() - began
    return took


async def medians(measures: dict[str, Measure]) -> dict[str, list[float]]:
    """All of them in turns, so that a slow moment of the machine hits each alike; milliseconds, sorted."""
    times: dict[str, list[float]] = {name: [] for name in measures}
    for turn in range(WARM_UP + TURNS):
        for name, measure in measures.items():
            took = await measure()
            if turn >= WARM_UP:
                times[name].append(took * 1000)
    return {name: sorted(taken) for name, taken in times.items()}


async def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).parent))
    graph = importlib.import_module("agents").graph()
    with tempfile.TemporaryDirectory() as folder:
        async with (
            server("echo:app", "memory") as echo,
            server("agents:app", f"sqlite:///{folder}/served.db") as served,
            connect(f"ws://{echo}/echo", compression=None, proxy=None) as socket,
            SqliteSaver(Path(folder) / "in-process.db") as saver,
        ):
            agent, numbers = graph.copy(update={"checkpointer": saver}), itertools.count(1)
            names = [
                "WebSocket echo, 200 B",
                "plain function, SQLite",
                "LangGraph, SQLite",
                "LangGraph in process, SQLite",
            ]
            page_function, page_graph = Page(served, "function"), Page(served, "graph")
            measures: list[Measure] = [
                lambda: echo_trip(socket),
                page_function.trip,
                page_graph.trip,
                lambda: in_process_trip(agent, numbers),
            ]
            times = await medians(dict(zip(names, measures, strict=True)))
    print(f"answer sent -> first event of the next message, {TURNS} turns, milliseconds")
    for name, taken in times.items():
        print(f"  {name:30} p50 {statistics.median(taken):7.3f}   p95 {taken[int(len(taken) * 0.95)]:7.3f}")
    echo_ms, function_ms, graph_ms, floor_ms = (statistics.median(times[name]) for name in names)
    print(f"  LangGraph served / in process: {graph_ms / floor_ms:.2f} (at most 3)")
    print(f"  plain function / echo: {function_ms / echo_ms:.1f}; plain function: {function_ms:.3f} ms (at most 1.5)")


if __name__ == "__main__":
    try:
        import uvloop
    except ImportError:
        asyncio.run(main())
    else:
        uvloop.run(main())
