"""What is refused before an agent runs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import CombinedToolset

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


@pytest.mark.parametrize(
    "wrapped",
    [
        HeadlessToolset[Any]([WHERE]).approval_required(),
        HeadlessToolset[Any]([WHERE]).approval_required(lambda ctx, tool, args: False).prefixed("a"),
        CombinedToolset[Any]([HeadlessToolset[Any]([WHERE]).prefixed("a")]).approval_required(),
    ],
)
def test_nobody_would_be_asked_for_an_approval(wrapped: Any) -> None:
    """Pydantic AI passes over it where a tool runs elsewhere."""
    with pytest.raises(ValueError, match=r"expected no approval_required\(\) around the headless tools where"):
        PydanticAIRuntime(scripted(steps(), toolsets=[wrapped]))


def test_tools_of_one_name_are_told_apart_by_nobody() -> None:
    """What a page calls by that name is either; the one that was called checks its own result."""
    same = tool(name="where", description="Where now?", args_schema=WHERE.args_json_schema)
    other = tool(name="where", result_schema={"type": "string"})
    toolsets = [HeadlessToolset([WHERE]), HeadlessToolset([same]).prefixed("a")]
    assert PydanticAIRuntime(scripted(steps(), toolsets=toolsets)).tool("where") is WHERE
    toolsets.append(HeadlessToolset([other]).prefixed("b"))
    assert PydanticAIRuntime(scripted(steps(), toolsets=toolsets)).tool("where") is None


async def test_the_model_is_told_of_the_tools() -> None:
    model = TestModel(call_tools=[], custom_output_text="fine")
    await Agent(model, toolsets=[HeadlessToolset([WHERE])]).run("Go")
    assert model.last_model_request_parameters is not None
    (told,) = model.last_model_request_parameters.function_tools
    assert (told.name, told.description, told.kind) == ("where", "Where?", "external")
    assert told.parameters_json_schema == WHERE.args_json_schema
