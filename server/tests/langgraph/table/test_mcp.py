"""Tools of an MCP server, loaded with langchain-mcp-adapters, in one message with a headless tool."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.shared.memory import create_connected_server_and_client_session

from farside.langgraph import ToolNode
from server.tests.langgraph.scripted import call, hand_built
from server.tests.langgraph.table import mcp_server
from server.tests.langgraph.table.beside import ASK, beside, told


@asynccontextmanager
async def tools_of_a_process(ran: Path) -> AsyncGenerator[list[BaseTool]]:
    """The tools of a server in a process of its own, for as long as the context lasts."""
    client = MultiServerMCPClient(
        {"places": {"transport": "stdio", "command": sys.executable, "args": [mcp_server.__file__, str(ran)]}}
    )
    async with client.session("places") as session:
        yield await load_mcp_tools(session)


@asynccontextmanager
async def tools_in_memory(ran: Path) -> AsyncGenerator[list[BaseTool]]:
    """The tools of the same server within this process."""
    async with create_connected_server_and_client_session(mcp_server.places(ran)) as session:
        yield await load_mcp_tools(session)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
async def test_mcp_tools(take: Any, tmp_path: Path) -> None:
    """What they return, and how they fail, is as without a headless tool beside them; each is called once."""
    ran = tmp_path / "ran"
    async with tools_of_a_process(ran) as tools:
        model = beside(call("add", "a", a=2, b=3), call("chart", "c"), call("fail", "f"), call("ask", "second"))
        turn = await take(create_agent(model, [ASK, *tools]))

    results = told(model)
    assert (results["ask"], results["second"]) == ("here", "here")
    assert [block["text"] for block in results["a"]] == ["5"]
    assert [(block["type"], block["mime_type"]) for block in results["c"]] == [("image", "image/png")]
    assert "no such place" in str(results["f"])
    assert turn.results["f"].status == "error"
    assert ran.read_text() == "add\n"


async def test_mcp_tools_of_a_tool_node(take: Any, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    async with tools_in_memory(ran) as tools:
        model = beside(call("add", "a", a=2, b=3), call("ask", "second"))

        async def think(state: Any) -> Any:
            return {"messages": [await model.ainvoke(state["messages"])]}

        await take(hand_built(think, ToolNode([ASK, *tools])).compile())

    assert [block["text"] for block in told(model)["a"]] == ["5"]
    assert told(model)["second"] == "here"
    assert ran.read_text() == "add\n"
