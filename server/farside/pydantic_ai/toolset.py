"""Headless tools as a toolset of a Pydantic AI agent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic_ai import ModelRetry, RunContext, ToolDefinition
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import (
    AbstractToolset,
    ApprovalRequiredToolset,
    CombinedToolset,
    ExternalToolset,
    ToolsetTool,
    WrapperToolset,
)

from farside.core.model import failure
from farside.errors import ToolError
from farside.pydantic_ai.results import told
from farside.tools import HeadlessTool

_KEY = "farside_tool"
"""Where a tool definition's ``metadata`` has the declaration: it stays there when a toolset is prefixed or renamed."""


class HeadlessToolset(ExternalToolset[AgentDepsT]):
    """Tools whose bodies are in the user's browser, for ``Agent(toolsets=[...])``.

    Arguments are checked against the declaration before any page hears of the call. Where they do not fit, the model is
    told so and has the tool's retries to do better, as with a tool on the server.

    The calls of a message open together, when the tools on the server that the message calls too have ended. Two things
    Pydantic AI knows only of tools on the server: ``approval_required()`` is refused here, so have the tool's body ask
    the user; and an agent that a tool runs cannot have headless tools, only the agent that is served.

    Args:
        tools: the declarations, made by ``farside.tools.tool``.
        max_retries: how many times in a row the model may call a tool with arguments that do not fit; None for the
            agent's own number.
        id: the toolset's id, which Pydantic AI asks for where there are several.

    Raises:
        ValueError: two tools have the same name.
    """

    def __init__(self, tools: Sequence[HeadlessTool], *, max_retries: int | None = None, id: str | None = None) -> None:
        names = [tool.name for tool in tools]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"expected each tool name once, got {', '.join(sorted(twice))} twice; rename one of them")
        super().__init__([_definition(tool) for tool in tools], id=id)
        self.max_retries = max_retries
        self._tools = tuple(tools)

    @property
    def tools(self) -> Sequence[HeadlessTool]:
        """The declarations."""
        return self._tools

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        retries = ctx.max_retries if self.max_retries is None else self.max_retries
        return {
            tool.name: ToolsetTool(
                toolset=self, tool_def=definition, max_retries=retries, args_validator=_Arguments(tool)
            )
            for tool, definition in zip(self._tools, self.tool_defs, strict=True)
        }


def declaration_of(definition: ToolDefinition | None) -> HeadlessTool | None:
    """The declaration that a tool definition was made of, None when it is another's."""
    found = None if definition is None or definition.metadata is None else definition.metadata.get(_KEY)
    return found if isinstance(found, HeadlessTool) else None


def declarations_in(agent: AbstractAgent[Any, Any]) -> Iterator[HeadlessTool]:
    """The headless tools of an agent, as far as its toolsets are known before it runs.

    Raises:
        ValueError: they are to be approved, which Pydantic AI would never ask for.
    """
    for toolset in agent.toolsets:
        yield from _declared_in(toolset, needs_approval=False)


def _declared_in(toolset: AbstractToolset[Any], *, needs_approval: bool) -> Iterator[HeadlessTool]:
    if isinstance(toolset, HeadlessToolset):
        if needs_approval and toolset.tools:
            names = ", ".join(tool.name for tool in toolset.tools)
            raise ValueError(
                f"expected no approval_required() around the headless tools {names}: Pydantic AI asks for no approval "
                "of tools that run elsewhere, so the page would execute them unasked; have their bodies ask the user"
            )
        yield from toolset.tools
    elif isinstance(toolset, WrapperToolset):
        needs_approval = needs_approval or isinstance(toolset, ApprovalRequiredToolset)
        yield from _declared_in(cast("WrapperToolset[Any]", toolset).wrapped, needs_approval=needs_approval)
    elif isinstance(toolset, CombinedToolset):
        for each in toolset.toolsets:
            yield from _declared_in(each, needs_approval=needs_approval)


def _definition(tool: HeadlessTool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description or None,
        parameters_json_schema=tool.args_json_schema,
        return_schema=tool.result_json_schema,
        kind="external",
        metadata={_KEY: tool},
    )


class _Arguments:
    """Puts a model's arguments through the declaration. Pydantic AI calls it as a pydantic validator."""

    def __init__(self, tool: HeadlessTool) -> None:
        self._tool = tool

    def validate_json(self, input: str | bytes | bytearray, **_options: Any) -> dict[str, Any]:
        try:
            return self.validate_python(json.loads(input))
        except ValueError as error:
            raise self._refusal(f"expected a JSON object: {error}") from None

    def validate_python(self, input: Any, **_options: Any) -> dict[str, Any]:
        if not isinstance(input, dict):
            raise self._refusal(f"expected an object, got {input!r:.100}")
        try:
            return self._tool.parse_args(cast("dict[str, Any]", input))
        except ToolError as error:
            raise ModelRetry(told(failure(error.code, error.message))) from None

    def _refusal(self, problem: str) -> ModelRetry:
        return ModelRetry(told(failure("invalid_args", f"{self._tool.name}: {problem}")))
