"""Headless tools for Pydantic AI.

::

    from farside import Farside
    from farside.pydantic_ai import HeadlessToolset
    from farside.tools import tool
    from pydantic import BaseModel
    from pydantic_ai import Agent


    class Position(BaseModel):
        latitude: float
        longitude: float


    get_location = tool(name="get_location", description="Get the user's position.", result_schema=Position, timeout=30)
    agent = Agent("openai:gpt-5", toolsets=[HeadlessToolset([get_location])])
    app = Farside({"assistant": agent}, store="sqlite:///farside.db")

The ``deps`` of its runs are the app's ``context``: ``Farside(..., context=Deps(database))``, or a function of the run.
"""

from farside.pydantic_ai.runtime import PydanticAIRuntime
from farside.pydantic_ai.toolset import HeadlessToolset

__all__ = ["HeadlessToolset", "PydanticAIRuntime"]
