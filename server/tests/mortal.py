"""The app that the kill tests serve in a process of its own: one agent of each kind, in the folder MORTAL_FOLDER."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

import farside
import farside.langgraph
from server.tests.langgraph.scripted import Streaming, call

ANY_ARGS = {"type": "object", "additionalProperties": True}
FOLDER = Path(os.environ["MORTAL_FOLDER"])


def charge(amount: int) -> int:
    """A side effect that must happen once: each time is a line in a file."""
    with (FOLDER / "charges").open("a") as charges:
        charges.write(f"{amount}\n")
    return amount


async def function(turn: farside.Turn, value: Any) -> None:
    """Charges, asks the page twice at once, and says all three results."""
    locate = farside.tool(name="locate", args_schema=ANY_ARGS, timeout=600)
    charged = await turn.step(charge, 5)
    one, two = await asyncio.gather(turn.call(locate, n=1), turn.call(locate, n=2))
    await turn.say(f"{charged} {one} {two}")


def script(messages: list[BaseMessage]) -> AIMessage:
    """The same as a model would do it: all three calls in one message."""
    results = {m.tool_call_id: m.content for m in messages if isinstance(m, ToolMessage)}
    if results:
        return AIMessage(f"{results['charge']} {results['one']} {results['two']}")
    calls = [call("charge", "charge", amount=5), call("locate", "one", n=1), call("locate", "two", n=2)]
    return AIMessage("", tool_calls=calls)


graph = create_agent(
    Streaming(script=script),
    [
        farside.langgraph.tool(charge),
        farside.langgraph.tool(name="locate", description="Where?", args_schema=ANY_ARGS, timeout=600),
    ],
)

app = farside.Farside(
    {"function": function, "graph": graph},
    store=f"sqlite:///{FOLDER / 'farside.db'}",
    settings=farside.Settings(process_ms=3_000),
)
