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
from farside.langgraph import LangGraphRuntime, tool
from farside.langgraph.savers import open_sqlite_saver
from server.tests.langgraph.scripted import FakeDesk, Streaming, call, once, start


def agent(folder: Path) -> Any:
    """An agent with two browser calls and a server tool in one message; the tool leaves a line in a file."""

    @langchain_tool
    def charge() -> str:
        """Charge the card."""
        with (folder / "charged").open("a") as file:
            file.write("once\n")
        return "charged"

    model = Streaming(script=once(call("where", "a"), call("charge", "b"), call("where", "c")))
    return create_agent(model, [tool(name="where", timeout=9), charge])


async def main(folder: Path) -> None:
    async with open_sqlite_saver(folder / "graph.db") as saver:
        runtime = LangGraphRuntime(agent(folder), checkpointer=saver)
        async for item in runtime.run(start(), FakeDesk()):
            if isinstance(item, Opened):
                print(json.dumps(sorted(new.tool_call_id for new in item.calls)), flush=True)
                await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
