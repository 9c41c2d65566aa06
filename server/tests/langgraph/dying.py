"""The process that test_durability kills: runs one leg, prints what it opened, and waits for its death."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool as langchain_tool

from farside.core.ports import Opened
from farside.langgraph import LangGraphRuntime, SqliteSaver, ToolNode, tool
from server.tests.langgraph.scripted import FakeDesk, Streaming, call, hand_built, once, start


def agent(folder: Path, kind: str) -> Any:
    """An agent, or a hand-built graph, with two browser calls and a server tool in one message, which leaves a line."""

    @langchain_tool
    def charge() -> str:
        """Charge the card."""
        with (folder / "charged").open("a") as file:
            file.write("once\n")
        return "charged"

    model = Streaming(script=once(call("where", "a"), call("charge", "b"), call("where", "c")))
    tools = [tool(name="where", timeout=9), charge]
    if kind == "agent":
        return create_agent(model, tools)
    return hand_built(lambda state: {"messages": [model.invoke(state["messages"])]}, ToolNode(tools)).compile()


async def main(folder: Path, kind: str) -> None:
    async with SqliteSaver(folder / "graph.db") as saver:
        runtime = LangGraphRuntime(agent(folder, kind), checkpointer=saver)
        async for item in runtime.run(start(), FakeDesk()):
            if isinstance(item, Opened):
                print(json.dumps(sorted(new.tool_call_id for new in item.calls)), flush=True)
                await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
