"""Where a turn takes part in a run of Pydantic AI's."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import (
    AgentStreamEvent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessage,
    ModelRequest,
    RunContext,
    ToolDefinition,
)
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering, ReinjectSystemPrompt
from pydantic_ai.messages import SystemPromptPart, ToolCallPart
from pydantic_ai.output import OutputContext

from farside.pydantic_ai.turn import Turn


@dataclass
class Following(AbstractCapability[Any]):
    """Shows the run's events, and runs tools on the server. Outside of what else the agent has."""

    turn: Turn

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="outermost")

    async def wrap_run_event_stream(
        self, ctx: RunContext[Any], *, stream: AsyncIterable[AgentStreamEvent]
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        async for event in stream:
            await self.turn.follow(event)
            yield event

    async def wrap_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> dict[str, Any]:
        checked = await handler(args)
        self.turn.checked(call.tool_call_id, checked)
        return checked

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> Any:
        return await self.turn.run_tool(call.tool_call_id, lambda: handler(args))

    async def wrap_output_process(
        self, ctx: RunContext[Any], *, output_context: OutputContext, output: Any, handler: Any
    ) -> Any:
        call = output_context.tool_call
        if call is None:
            return await handler(output)
        return await self.turn.run_output(call.tool_call_id, lambda: handler(output))


@dataclass
class Asking(AbstractCapability[Any]):
    """Has deferred calls answered that nothing else of the agent's answers."""

    turn: Turn

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        return await self.turn.ask(requests, ctx.tools)


def reminding(history: Sequence[ModelMessage]) -> Sequence[AbstractCapability[Any]]:
    """What tells the model the agent's system prompt where the first run ended before it was: Pydantic AI does so only
    at the beginning of a history."""
    first = next((message for message in history if isinstance(message, ModelRequest)), None)
    if first is None or any(isinstance(part, SystemPromptPart) for part in first.parts):
        return ()
    return (ReinjectSystemPrompt(id="farside_system_prompt"),)
