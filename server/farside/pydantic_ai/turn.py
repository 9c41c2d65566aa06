"""One leg of a run: what the agent does reaches the engine, and what the engine knows reaches the agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from pydantic_ai import (
    AgentRun,
    AgentStreamEvent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelRetry,
    ToolDefinition,
    ToolReturn,
    UserContent,
)
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import (
    CustomEvent,
    FunctionToolResultEvent,
    OutputToolResultEvent,
    ToolCallPart,
    ToolReturnPart,
)

from farside.core.model import JournalEntry, ToolResult
from farside.core.ports import Desk, Leg, Opened
from farside.pydantic_ai.asking import answers, deferred, interrupt_id, new_call
from farside.pydantic_ai.events import Message, call_ended, custom, tool_ended, tool_started
from farside.pydantic_ai.kept import Kept, calls_of, entry, finish_of, finished, step, usage_at
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
        self._request: ModelRequest | None = None
        self._taken: set[tuple[str, object]] = set()
        self._steps = [each for each in desk.journal.values() if each.kind == "step" and each.value is not None]
        self._calls: dict[str, ToolCallPart] = {}
        self._checked: dict[str, dict[str, Any]] = {}
        self._begun: set[str] = set()
        self._asked: dict[str, tuple[str, ToolResult]] = {}
        self._number = -1
        self._message = Message("")
        if mine:
            self._number = int(mine[-1].ids[0].rpartition(":")[2])
            self._message = Message(mine[-1].ids[0])
            self._look_at(mine[-1].message)

    @property
    def run_id(self) -> str:
        """The run that is followed."""
        return self._leg.run_id

    # --- the model's messages ---

    def ask_model(self, request: ModelRequest) -> None:
        """The model is about to be asked."""
        self._finish(None)
        self._request = request
        self._number += 1
        self._message = Message(f"{self._leg.run_id}:{self._number}")
        # Ids of calls may repeat in another message.
        self._checked.clear()
        self._begun.clear()
        self._asked.clear()

    def take(self, run: AgentRun[Any, Any]) -> None:
        """Note what the run has said since. Of what came before, a history processor may have left anything."""
        newest = takewhile(lambda message: self._is_new(message, run.run_id), reversed(run.all_messages()))
        for message in reversed(list(newest)):
            self._taken.add(_moment(message))
            if isinstance(message, ModelResponse):
                self._request = None
                self._pending.append(Kept(message, (self._message.id,), usage_at(run.usage)))
                self._look_at(message)
            else:
                self._pending.append(self._told(message))
                self._said = ()

    async def write(self) -> None:
        """Write what is noted; on return it survives a crash."""
        self._finish(self._pending[-1].message if self._pending else None)
        await self._outbox.write(self._entries())
        self._index += len(self._pending)
        self._steps = [] if self._pending else self._steps
        self._pending = []

    def unwritten(self, written: int) -> list[Kept]:
        """What the run has said, and told the model last, beyond so many messages. Not a message that is last: it may
        not have ended for those who listen, so what they have heard of it counts."""
        told = [] if self._request is None else [self._told(self._request)]
        missing = [*self._pending, *told][written - self._index :]
        return missing[:-1] if missing and isinstance(missing[-1].message, ModelResponse) else missing

    def _is_new(self, message: ModelMessage, agent_run_id: str) -> bool:
        return message.run_id == agent_run_id and _moment(message) not in self._taken

    def _told(self, request: ModelRequest) -> Kept:
        return Kept(spoken(request, self._said), tuple(each.id for each in self._said))

    def _finish(self, message: ModelMessage | None) -> None:
        for emit in self._message.finish(message if isinstance(message, ModelResponse) else None):
            self._outbox.put(emit)

    def _look_at(self, message: ModelMessage) -> None:
        if isinstance(message, ModelResponse):
            self._calls = {call.tool_call_id: call for call in calls_of(message)}

    def _entries(self) -> list[JournalEntry]:
        """What is noted, as entries; the returns in it need not be kept beside it any more."""
        ended = [replace(each, value=None) for each in self._steps] if self._pending else []
        messages = enumerate(self._pending, self._index)
        return [*ended, *(entry(self._leg.thread_id, self._leg.run_id, index, kept) for index, kept in messages)]

    # --- what happens meanwhile ---

    async def follow(self, event: AgentStreamEvent) -> None:
        """Show an event of the run, and keep what a tool has returned."""
        match event:
            case FunctionToolResultEvent():
                await self._returned(event.part, event.content)
            case OutputToolResultEvent() if event.tool_call_id in self._calls:
                await self._returned(event.part, None)
            case CustomEvent() if type(event).ui:
                self._outbox.put(custom(event))
            case _:
                for emit in self._message.emits(event):
                    self._outbox.put(emit)

    async def _returned(self, part: ToolReturnPart, beside: str | Sequence[UserContent] | None) -> None:
        call_id = part.tool_call_id
        if call_id in self._asked:
            self._outbox.put(call_ended(call_id, *self._asked[call_id]))
            return
        if finish_of(step(self._message.id, call_id), self._desk.journal) is not None:
            return  # shown and kept before the process died
        if call_id not in self._begun and call_id in self._calls:  # an output, or nothing that could begin
            self._outbox.put(tool_started(self._calls[call_id]))
        self._outbox.put(tool_ended(part))
        ended = finished(self._leg, step(self._message.id, call_id), part, beside)
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

    async def run_output(self, call_id: str, run: Callable[[], Any]) -> Any:
        """Process what a call puts out, unless that had to be made again before the process died: then it has to.

        Raises:
            ModelRetry: as the output's function or validator did.
        """
        known = finish_of(step(self._message.id, call_id), self._desk.journal)
        if known is not None and known[0].outcome == "retried":
            raise ModelRetry(text_of(known[0]))
        return await run()

    # --- tools in the browser ---

    def checked(self, call_id: str, args: dict[str, Any]) -> None:
        """A call's arguments have passed the checks."""
        self._checked[call_id] = args

    async def ask(self, requests: DeferredToolRequests, tools: dict[str, ToolDefinition]) -> DeferredToolResults:
        """Have the calls answered. What was opened before the process died is not opened again."""
        calls = {interrupt_id(self._message.id, self._calls, call): call for call in deferred(requests)}
        declared = {name: declaration_of(tools.get(call.tool_name)) for name, call in calls.items()}
        for tool in declared.values():
            if tool is not None:
                self._learn(tool)
        unknown = {name: call for name, call in calls.items() if name not in self._desk.calls}
        if unknown:
            new = (
                new_call(name, call, requests, declared[name], self._checked.get(call.tool_call_id))
                for name, call in unknown.items()
            )
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


def _moment(message: ModelMessage) -> tuple[str, object]:
    """What a message has in common with its copies."""
    return message.kind, message.timestamp
