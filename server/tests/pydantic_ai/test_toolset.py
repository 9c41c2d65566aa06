"""What is refused before an agent runs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from farside.pydantic_ai import HeadlessToolset, PydanticAIRuntime
from farside.tools import tool
from server.tests.pydantic_ai.scripted import scripted, steps

WHERE = tool(name="where", description="Where?", args_schema={"properties": {"high": {"type": "boolean"}}})


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="where twice; rename one"):
        HeadlessToolset[Any]([WHERE, tool(name="other"), WHERE])


def test_the_tools_of_an_agent_are_found() -> None:
    agent = scripted(steps(), toolsets=[HeadlessToolset([WHERE]).prefixed("a").filtered(lambda ctx, tool: True)])
    assert PydanticAIRuntime(agent).tool("where") is WHERE
    assert PydanticAIRuntime(agent).tool("a_where") is None


async def test_the_model_is_told_of_the_tools() -> None:
    model = TestModel(call_tools=[], custom_output_text="fine")
    await Agent(model, toolsets=[HeadlessToolset([WHERE])]).run("Go")
    assert model.last_model_request_parameters is not None
    (told,) = model.last_model_request_parameters.function_tools
    assert (told.name, told.description, told.kind) == ("where", "Where?", "external")
    assert told.parameters_json_schema == WHERE.args_json_schema
