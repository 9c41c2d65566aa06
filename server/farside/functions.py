"""Agents that are plain async functions: ``async def agent(turn, input)``.

A run is durable by replay: what the function did through its :class:`Turn` is recorded under a position, and after a
crash the function is called again and gets the recorded results instead of doing things twice. Positions are taken when
``turn`` is used, one count per asyncio task, so ``asyncio.gather`` finds its results whatever order they came in. A
task's place is that of its first use of ``turn`` among its siblings: let that come before anything else it waits for.
What is not done through ``turn`` is done again on a replay: put it into ``turn.step``.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

from farside.core.journal import Journal
from farside.core.model import Call, Event, JournalEntry, ToolResult
from farside.core.ports import AgentState, Desk, Emit, Leg, NewCall, Opened, ToolSpec
from farside.core.transcript import fold, input_messages, text_of
from farside.errors import FarsideError, ToolError
from farside.tools import HeadlessTool
from farside.wire.messages import MISSING, Failure
from farside.wire.values import check

P = ParamSpec("P")
T = TypeVar("T")

Agent = Callable[["Turn", Any], Awaitable[Any]]
"""A plain function agent. Its second argument is the run's input, for a chat ``{"messages": [...]}``."""


class Turn:
    """What a plain function agent does things with, for one run.

    ``thread_id`` and ``run_id`` say where it is; ``input`` is the run's input; ``text`` the newest message's text.
    """

    def __init__(self, leg: Leg, desk: Desk, declare: Callable[[HeadlessTool], None], outbox: _Outbox) -> None:
        self.thread_id = leg.thread_id
        self.run_id = leg.run_id
        self.input: Any = leg.input
        self._desk = desk
        self._declare = declare
        self._outbox = outbox
        self._journal = Journal(leg.run_id, desk.journal, desk.calls)

    @property
    def text(self) -> str:
        """The text of the newest message of a chat input, empty when there is none."""
        messages = input_messages(self.input)
        return text_of(messages[-1]) if messages else ""

    def call(self, tool: HeadlessTool, /, **args: Any) -> Awaitable[Any]:
        """Have the user's browser execute a tool; await the result.

        The call is opened at once, so ``asyncio.gather(turn.call(a), turn.call(b))`` runs both at the same time.

        Raises (when awaited):
            ToolError: ``invalid_args``, or what the page, the deadline or the user made of the call.
            FarsideError: ``journal_mismatch``.
        """
        interrupt_id = self._position()
        try:
            parsed = tool.parse_args(args)
            known = self._journal.call(interrupt_id, tool.name, parsed)
        except FarsideError as error:
            return _raise(error)
        self._declare(tool)
        if known is None:
            opening = NewCall(
                interrupt_id=interrupt_id,
                kind="tool",
                tool_call_id=interrupt_id,
                name=tool.name,
                args=parsed,
                title=tool.title,
                idempotent=tool.idempotent,
                timeout=tool.timeout,
            )
            self._outbox.put(opening)
        return self._answer(interrupt_id, tool, known)

    async def say(self, text: str | AsyncIterable[str]) -> None:
        """Send a message to the user: a text, or the pieces of one as they come.

        Raises:
            FarsideError: ``journal_mismatch``.
        """
        position = self._position()
        if self._journal.entry(position, "say", "") is not None:
            return
        self._message(position, {"event": "message-start", "role": "ai", "id": position})
        self._message(position, {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}})
        whole: list[str] = []
        async for piece in _pieces(text):
            whole.append(piece)
            delta = {"type": "text-delta", "text": piece}
            self._message(position, {"event": "content-block-delta", "index": 0, "delta": delta}, durable=False)
        block = {"type": "text", "text": "".join(whole)}
        self._message(position, {"event": "content-block-finish", "index": 0, "content": block})
        self._message(position, {"event": "message-finish"})
        self._outbox.put(JournalEntry(self.thread_id, self.run_id, position, "say", "", None))

    @overload
    async def step(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    async def step(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    async def step(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Do something once: a coroutine function, or a function that is called in a thread.

        The result, a plain value (protocol/README.md, "Values"), is stored before it is returned, and a replay gets it
        instead of doing the step again. A step that raises is not recorded.

        Raises:
            FarsideError: ``journal_mismatch``; ``invalid_value`` when the result is no plain value.
        """
        position = self._position()
        name = str(getattr(function, "__qualname__", type(function).__name__))
        entry = self._journal.entry(position, "step", name)
        if entry is not None:
            return entry.value
        is_async = inspect.iscoroutinefunction(function)
        value = await function(*args, **kwargs) if is_async else await asyncio.to_thread(function, *args, **kwargs)
        check(value)
        await self._desk.record(JournalEntry(self.thread_id, self.run_id, position, "step", name, value))
        return value

    def finish(self) -> None:
        """The function returned. Raises FarsideError ``journal_mismatch``."""
        self._journal.finish()

    async def _answer(self, interrupt_id: str, tool: HeadlessTool, known: Call | None) -> Any:
        result = known.result if known is not None else None
        if result is None:
            result = await self._desk.answer(interrupt_id)
        # Checked when it was settled, unless the tool was not known yet: after a restart the function comes later.
        result = tool.check_result(result)
        self._outbox.put(Emit("tools", _tool_ended(interrupt_id, result)))
        if isinstance(result, Failure):
            details = None if result.error.details is MISSING else result.error.details
            raise ToolError(result.error.code, f"{tool.name}: {result.error.message}", details=details)
        return deepcopy(result.value)

    def _message(self, position: str, data: dict[str, Any], *, durable: bool = True) -> None:
        self._outbox.put(Emit("messages", {**data, "message_id": position}, durable=durable))

    def _position(self) -> str:
        branch = _branch.get(None)
        if branch is None or self._outbox.closed:
            raise RuntimeError("turn was used outside the agent function, or after its run; use it there and then")
        return f"{self.run_id}:{branch.take()}"


@dataclass
class _Branch:
    """The count of positions of one asyncio task. A task that the function starts counts on its own."""

    prefix: str
    task: asyncio.Task[Any] | None
    taken: int = 0
    children: int = 0

    def take(self) -> str:
        task = asyncio.current_task()
        if task is not self.task:
            self.children += 1
            child = _Branch(f"{self.prefix}{self.children}/", task)
            _branch.set(child)
            return child.take()
        self.taken += 1
        return f"{self.prefix}{self.taken}"


_branch: ContextVar[_Branch | None] = ContextVar("farside_branch", default=None)


@dataclass(frozen=True)
class _End:
    error: Exception | None


class _Outbox:
    """What the function asked for, on its way to the engine.

    ``closed``: the leg is over, nobody takes any more.
    """

    def __init__(self, desk: Desk) -> None:
        self.closed = False
        self._desk = desk
        self._items: deque[Emit | NewCall | JournalEntry | _End] = deque()
        self._filled = asyncio.Event()

    def put(self, item: Emit | NewCall | JournalEntry | _End) -> None:
        self._items.append(item)
        self._filled.set()

    async def drain(self) -> AsyncGenerator[Emit | Opened, None]:
        """Items as they come; calls that were opened together stay together. Ends, or raises, as the function did."""
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._items:
                item = self._items.popleft()
                if isinstance(item, Emit):
                    yield item
                elif isinstance(item, JournalEntry):
                    self._desk.record_soon(item)  # behind the events that it stands for
                elif isinstance(item, NewCall):
                    calls = [item]
                    while self._items and isinstance(follower := self._items[0], NewCall):
                        calls.append(follower)
                        self._items.popleft()
                    yield Opened(tuple(calls))
                    for call in calls:
                        yield Emit("tools", _tool_started(call))
                elif item.error is not None:
                    raise item.error
                else:
                    return


class FunctionRuntime:
    """Executes a plain function agent. Implements :class:`farside.core.ports.Runtime`.

    Args:
        function: ``async def agent(turn, input)``.
        tools: headless tools to know from the start; others are learned when they are first called.
    """

    replays = True
    graph = None

    def __init__(self, function: Agent, tools: Iterable[HeadlessTool] = ()) -> None:
        self._function = function
        self._tools = {tool.name: tool for tool in tools}

    async def run(self, leg: Leg, desk: Desk) -> AsyncGenerator[Emit | Opened, None]:
        outbox = _Outbox(desk)
        body = asyncio.create_task(self._body(Turn(leg, desk, self._declare, outbox), outbox))
        try:
            async for item in outbox.drain():
                yield item
        finally:
            outbox.closed = True
            body.cancel()
            await asyncio.wait([body])

    async def _body(self, turn: Turn, outbox: _Outbox) -> None:
        _branch.set(_Branch("", asyncio.current_task()))
        try:
            await self._function(turn, turn.input)
            turn.finish()
        except Exception as error:
            outbox.put(_End(error))
        except BaseException as error:
            outbox.put(_End(RuntimeError(f"the agent function was ended by {error!r}")))
            raise
        else:
            outbox.put(_End(None))

    def _declare(self, tool: HeadlessTool) -> None:
        self._tools[tool.name] = tool

    async def state(
        self,
        thread_id: str,
        events: Callable[[], Awaitable[list[Event]]],
        history: Callable[[], Awaitable[Sequence[JournalEntry]]],
    ) -> AgentState:
        return AgentState(values={"messages": fold(await events())})

    async def abandon(
        self,
        thread_id: str,
        run_id: str,
        reason: str,
        answers: Mapping[str, Call],
        input: Any,
        said: Mapping[str, str],
        desk: Desk,
    ) -> None:
        """Nothing to close: a function's history is what was said, and holds no tool messages."""

    async def delete(self, thread_id: str) -> None:
        """Nothing is stored beside the events and the journal."""

    def forget(self, thread_id: str) -> None:
        """Nothing is remembered between legs."""

    def tool(self, name: str) -> ToolSpec | None:
        return self._tools.get(name)


async def _raise(error: FarsideError) -> Any:
    raise error


async def _pieces(text: str | AsyncIterable[str]) -> AsyncGenerator[str, None]:
    if isinstance(text, str):
        yield text
        return
    async for piece in text:
        yield piece


def _tool_started(call: NewCall) -> dict[str, Any]:
    return {"event": "tool-started", "tool_call_id": call.tool_call_id, "tool_name": call.name, "input": call.args}


def _tool_ended(tool_call_id: str, result: ToolResult) -> dict[str, Any]:
    if isinstance(result, Failure):
        error = {"message": result.error.message, "code": result.error.code}
        return {"event": "tool-error", "tool_call_id": tool_call_id, **error}
    return {
        "event": "tool-finished",
        "tool_call_id": tool_call_id,
        "interrupt_id": tool_call_id,
        "output": result.value,
    }
