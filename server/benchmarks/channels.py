"""What asking LangGraph for every channel costs: ``python server/benchmarks/channels.py``.

A turn of an agent with a headless tool, paused and resumed in process, in turns: with the stream modes that are needed
anyway; with all, of which nobody wants any, as ``farside.langgraph`` asks for them; and with all wanted, so that their
data is made. Processor time, since other processes make a turn of a few milliseconds longer or shorter than it is.
"""

from __future__ import annotations

import asyncio
import importlib
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from farside.langgraph import stream
from farside.langgraph.events import Events

TURNS = 100
WARM_UP = 10
HISTORIES = (1, 500)
NEEDED = ("tools", "custom")
ALL = stream._Channels.required_stream_modes


async def turn(graph: Any, thread: str, length: int, wanted: Callable[[str], bool]) -> float:
    """One turn on a thread whose history has this many messages; seconds of the processor."""
    config: Any = {"configurable": {"thread_id": thread}}
    given: Any = {"messages": [{"role": "user", "content": "Where?"}] * length}
    began = time.process_time()
    for _ in range(2):
        events, pauses = Events(wanted), list[Any]()
        run = await stream.open_stream(graph, given, config, None)
        async for event in run:
            pauses += event["params"].get("interrupts", ())
            for _emit in events.emits(event):
                pass
        given = Command(resume={pause.id: 1 for pause in pauses})
    return time.process_time() - began


async def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).parent))
    graph = importlib.import_module("agents").graph().copy(update={"checkpointer": InMemorySaver()})
    kinds: dict[str, tuple[tuple[str, ...], Callable[[str], bool]]] = {
        "what is needed anyway": (NEEDED, lambda method: False),
        "all, nobody listens": (ALL, lambda method: False),
        "all, somebody listens to all": (ALL, lambda method: True),
    }
    for length in HISTORIES:
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for number in range(WARM_UP + TURNS):
            for name, (modes, wanted) in kinds.items():
                stream._Channels.required_stream_modes = modes
                took = await turn(graph, f"{length}-{number}-{name}", length, wanted)
                if number >= WARM_UP:
                    times[name].append(took * 1000)
        print(f"a turn with a pause, history of {length}, {TURNS} turns, milliseconds of the processor")
        for name, taken in times.items():
            print(f"  {name:30} p50 {statistics.median(taken):7.3f}   fastest {min(taken):7.3f}")


if __name__ == "__main__":
    asyncio.run(main())
