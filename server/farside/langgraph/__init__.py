"""Headless tools for LangChain and LangGraph.

::

    from farside import Farside
    from farside.langgraph import tool
    from langchain.agents import create_agent
    from pydantic import BaseModel


    class Position(BaseModel):
        latitude: float
        longitude: float


    get_location = tool(name="get_location", description="Get the user's position.", result_schema=Position, timeout=30)
    agent = create_agent("openai:gpt-5", tools=[get_location])
    app = Farside({"assistant": agent}, store="sqlite:///farside.db")
"""

from farside.langgraph.condition import tools_condition
from farside.langgraph.headless import HeadlessTool
from farside.langgraph.middleware import HeadlessToolMiddleware
from farside.langgraph.runtime import LangGraphRuntime
from farside.langgraph.saver.saver import SqliteSaver
from farside.langgraph.tool import tool
from farside.langgraph.tool_node import ToolNode

__all__ = [
    "HeadlessTool",
    "HeadlessToolMiddleware",
    "LangGraphRuntime",
    "SqliteSaver",
    "ToolNode",
    "tool",
    "tools_condition",
]
