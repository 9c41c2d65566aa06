"""One leg of a run: what the agent does reaches the engine, and what the engine knows reaches the agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import (
    AgentStreamEvent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessage,
    ModelResponse,
    ModelRetry,
    RunContext,
    ToolDefinition,
    ToolReturn,
)
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import CustomEvent, FunctionToolResultEvent, OutputToolResultEvent, ToolCallPart

from farside.core.model import JournalEntry, ToolResult
from farside.core.ports import Desk, Leg, Opened
from farside.pydantic_ai.asking import answers, deferred, interrupt_id, new_call
from farside.pydantic_ai.events import Message, call_ended, custom, tool_ended, tool_started
from farside.pydantic_ai.kept import Kept, calls_of, entry, finish_of, finished, step
from farside.pydantic_ai.messages import Said, spoken, text_of
from farside.pydantic_ai.outbox import Outbox
from farside.pydantic_ai.toolset import declaration_of
from farside.tools import HeadlessTool


class Turn:
    """Follows a run of the agent.

    Args:
        mine: what the run has written before its process died.
        said: what the user said, where it has written nothing.
        learn: is told of the headless tools that are called.
    """

    def __init__(
        self,
        leg: Leg,
        desk: Desk,
        outbox: Outbox,
        mine: Sequence[Kept],
        said: Sequence[Said],
        learn: Callable[[HeadlessTool], None],
    ) -> None:
        self._leg = leg
        self._desk = desk
        self._outbox = outbox
        self._learn = learn
        self._said = said
        self._index = len(mine)
        self._pending: list[Kept] = []
        self._seen = 0
        self._steps = [each for each in desk.journal.values() if each.kind == "step" and each.value is not None]
        self._calls: dict[str, ToolCallPart] = {}
        self._begun: set[str] = set()
        self._asked: dict[str, tuple[str, ToolResult]] = {}
        self._number = -1
        self._message = Message("")
        if mine:
            self._number = int(mine[-1].ids[0].rpartition(":")[2])
            self._message = Message(mine[-1].ids[0])
            self._look_at(mine[-1].message)

    # --- the model's messages ---

    def ask_model(self) -> None:
        """The model is about to be asked."""
        self._finish(None)
        self._number += 1
        self._message = Message(f"{self._leg.run_id}:{self._number}")
        # Ids of calls may repeat in another message.
        self._begun.clear()
        self._asked.clear()

    def take(self, messages: Sequence[ModelMessage]) -> None:
        """Note what is new among the messages that the run has made."""
        for message in messages[self._seen :]:
            if isinstance(message, ModelResponse):
                self._pending.append(Kept(message, (self._message.id,)))
                self._look_at(message)
            else:
                said, self._said = self._said, ()
                self._pending.append(Kept(spoken(message, said), tuple(each.id for each in said)))
        self._seen = len(messages)

    async def write(self) -> None:
        """Write what is noted; on return it survives a crash."""
        self._finish(self._pending[-1].message if self._pending else None)
        await self._outbox.write(self._entries())

    def _finish(self, message: ModelMessage | None) -> None:
        for emit in self._message.finish(message if isinstance(message, ModelResponse) else None):
            self._outbox.put(emit)

    def _look_at(self, message: ModelMessage) -> None:
        if isinstance(message, ModelResponse):
            self._calls = {call.tool_call_id: call for call in calls_of(message)}

    def _entries(self) -> list[JournalEntry]:
        """What is noted, as entries; the returns in it need not be kept beside it any more."""
        written, self._pending = self._pending, []
        entries = [replace(ended, value=None) for ended in self._steps] if written else []
        self._steps = [] if written else self._steps
        for kept in written:
            entries.append(entry(self._leg.thread_id, self._leg.run_id, self._index, kept))
            self._index += 1
        return entries

    # --- what happens meanwhile ---

    async def follow(self, event: AgentStreamEvent) -> None:
        """Show an event of the run, and keep what a tool has returned."""
        match event:
            case FunctionToolResultEvent():
                await self._returned(event)
            case OutputToolResultEvent() if event.tool_call_id in self._calls:
                self._outbox.put(tool_started(self._calls[event.tool_call_id]))
                self._outbox.put(tool_ended(event.part))
            case CustomEvent() if type(event).ui:
                self._outbox.put(custom(event))
            case _:
                for emit in self._message.emits(event):
                    self._outbox.put(emit)

    async def _returned(self, event: FunctionToolResultEvent) -> None:
        call_id = event.tool_call_id
        if call_id in self._asked:
            self._outbox.put(call_ended(call_id, *self._asked[call_id]))
            return
        if finish_of(step(self._message.id, call_id), self._desk.journal) is not None:
            return  # shown and kept before the process died
        if call_id not in self._begun and call_id in self._calls:  # its arguments did not fit, or there is no such tool
            self._outbox.put(tool_started(self._calls[call_id]))
        self._outbox.put(tool_ended(event.part))
        ended = finished(self._leg, step(self._message.id, call_id), event)
        self._steps.append(ended)
        await self._outbox.write([ended])

    # --- tools on the server ---

    async def run_tool(self, call_id: str, run: Callable[[], Any]) -> Any:
        """Run a tool, unless it has ended before the process died: then it ends as it did.

        Raises:
            ToolFailed, ModelRetry: as the tool did.
        """
        known = finish_of(step(self._message.id, call_id), self._desk.journal)
        if known is not None:
            part, beside = known
            if part.outcome == "retried":
                raise ModelRetry(text_of(part))
            if part.outcome != "success":
                raise ToolFailed(text_of(part))
            return ToolReturn(part.content, content=beside, metadata=part.metadata)
        if call_id in self._calls and call_id not in self._begun:
            self._begun.add(call_id)
            self._outbox.put(tool_started(self._calls[call_id]))
        return await run()

    # --- tools in the browser ---

    async def ask(self, requests: DeferredToolRequests, tools: dict[str, ToolDefinition]) -> DeferredToolResults:
        """Have the calls answered. What was opened before the process died is not opened again."""
        calls = {interrupt_id(self._message.id, self._calls, call): call for call in deferred(requests)}
        declared = {name: declaration_of(tools.get(call.tool_name)) for name, call in calls.items()}
        for tool in declared.values():
            if tool is not None:
                self._learn(tool)
        unknown = {name: call for name, call in calls.items() if name not in self._desk.calls}
        if unknown:
            new = (new_call(name, call, requests, declared[name]) for name, call in unknown.items())
            self._outbox.put(Opened(tuple(new)))
        external = {call.tool_call_id for call in requests.calls if requests.kind(call.tool_call_id) == "external"}
        for call in unknown.values():
            if call.tool_call_id in external:
                self._outbox.put(tool_started(call))
        results: dict[str, ToolResult] = {}
        for name, call in calls.items():
            results[call.tool_call_id] = result = await self._result(name, declared[name])
            if call.tool_call_id in external:
                self._asked[call.tool_call_id] = (name, result)
        return answers(requests, results)

    async def _result(self, name: str, tool: HeadlessTool | None) -> ToolResult:
        known = self._desk.calls.get(name)
        result = known.result if known is not None else None
        if result is None:
            result = await self._desk.answer(name)
        # Checked when it was settled, unless the tool was not known yet: after a restart the agent comes later.
        return result if tool is None else tool.check_result(result)


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

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> Any:
        return await self.turn.run_tool(call.tool_call_id, lambda: handler(args))


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
