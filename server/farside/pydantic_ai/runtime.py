"""The runtime for Pydantic AI agents.

Pydantic AI has no checkpointer, so the history is kept in the thread's journal: the messages that a run has made before
its tools run, what each tool on the server has returned, and the rest at the run's end. A run whose process died goes
on with that history, at the tool calls that it ends with.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic_ai import ModelResponse, UsageLimits
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.messages import ModelRequestPart, TextPart, ToolCallPart, UserPromptPart
from pydantic_graph import End

from farside.core.model import Call, Event, JournalEntry, failure
from farside.core.ports import AgentState, Desk, Emit, Leg, Opened
from farside.errors import FarsideError
from farside.pydantic_ai.asking import interrupt_id, is_return
from farside.pydantic_ai.capabilities import Asking, Following, reminding
from farside.pydantic_ai.history import closing, left_open
from farside.pydantic_ai.kept import Kept, calls_of, entry, finish_of, is_over, kept_in, step, usage_of
from farside.pydantic_ai.messages import prompt, request, said_in, shown
from farside.pydantic_ai.outbox import Outbox
from farside.pydantic_ai.results import tool_return
from farside.pydantic_ai.toolset import declarations_in
from farside.pydantic_ai.turn import Turn
from farside.tools import HeadlessTool


async def _nothing(leg: Leg) -> Any:
    return None


class PydanticAIRuntime:
    """Executes a Pydantic AI agent; one instance per agent. Implements :class:`farside.core.ports.Runtime`.

    ``Farside({"assistant": agent})`` makes one by itself. Where runs have limits, make it in place of the agent::

        Farside({"assistant": PydanticAIRuntime(agent, usage_limits=UsageLimits(request_limit=10))})

    Args:
        agent: the agent. Its ``output_type`` stays as it is.
        usage_limits: Pydantic AI's limits of one run, also across restarts; None for its defaults.
        context: makes a run's ``deps``: called for each run, and again when one goes on after a restart.
        tools: headless tools to know from the start, beside those of the agent's toolsets.

    What tools return, its ``metadata`` included, is written to the store, so pydantic must be able to serialize it.
    What the agent's history processors make of the history is told to the model, not kept: they are given all of it.

    Raises:
        ValueError: headless tools are to be approved.
    """

    replays = True
    graph = None

    def __init__(
        self,
        agent: AbstractAgent[Any, Any],
        *,
        usage_limits: UsageLimits | None = None,
        context: Callable[[Leg], Awaitable[Any]] = _nothing,
        tools: Iterable[HeadlessTool] = (),
    ) -> None:
        self._agent = agent
        self._context = context
        self._usage_limits = usage_limits
        self._tools: dict[str, HeadlessTool | None] = {}
        self._turns: dict[str, Turn] = {}
        for tool in declarations_in(agent):
            self._learn(tool)
        for tool in tools:
            self._tools.setdefault(tool.name, tool)

    async def run(self, leg: Leg, desk: Desk) -> AsyncGenerator[Emit | Opened, None]:
        """Execute one leg; see :meth:`farside.core.ports.Runtime.run`.

        Raises:
            FarsideError: ``invalid_argument``: the input holds no message of the user's.
            Exception: whatever the agent raised, ``UsageLimitExceeded`` included.
        """
        outbox = Outbox(desk)
        body = asyncio.create_task(self._body(leg, desk, outbox))
        try:
            async for item in outbox.drain():
                yield item
        finally:
            body.cancel()
            await asyncio.wait([body])

    async def _body(self, leg: Leg, desk: Desk, outbox: Outbox) -> None:
        try:
            await self._execute(leg, desk, outbox)
        except Exception as error:
            outbox.end(error)
        except BaseException as error:
            outbox.end(RuntimeError(f"the agent was ended by {error!r}"))
            raise
        else:
            outbox.end(None)

    async def _execute(self, leg: Leg, desk: Desk, outbox: Outbox) -> None:
        runs = kept_in(await desk.history())
        mine = runs.pop(leg.run_id, [])
        if is_over(mine):
            return
        for run_id, run in runs.items():
            if (returns := closing([kept.message for kept in run], left_open)) is not None:
                await outbox.write([entry(leg.thread_id, run_id, len(run), Kept(returns))])
                run.append(Kept(returns))
        history = [kept.message for run in (*runs.values(), mine) for kept in run]
        said = [] if mine else said_in(leg.input)
        turn = self._turns[leg.thread_id] = Turn(leg, desk, outbox, mine, said, self._learn)
        running = self._agent.iter(
            prompt(said) if said else None,
            message_history=history,
            conversation_id=leg.thread_id,
            deps=await self._context(leg),
            usage=usage_of(mine),
            usage_limits=self._usage_limits,
            capabilities=[Following(turn), Asking(turn), *reminding(history)],
        )
        async with running as run:
            node = run.next_node
            while not isinstance(node, End):
                if self._agent.is_model_request_node(node):
                    turn.ask_model(node.request)
                elif self._agent.is_call_tools_node(node) and node.model_response.tool_calls:
                    await turn.write()
                node = await run.next(node)
                turn.take(run)
            await turn.write()
        if self._turns.get(leg.thread_id) is turn:
            del self._turns[leg.thread_id]

    def given(self, context: Callable[[Leg], Awaitable[Any]], tools: Iterable[HeadlessTool] = ()) -> PydanticAIRuntime:
        """The same agent and limits, with this context, and these tools beside its own."""
        return PydanticAIRuntime(self._agent, usage_limits=self._usage_limits, context=context, tools=tools)

    @property
    def agent(self) -> AbstractAgent[Any, Any]:
        """The agent that it executes."""
        return self._agent

    async def state(
        self,
        thread_id: str,
        events: Callable[[], Awaitable[list[Event]]],
        history: Callable[[], Awaitable[Sequence[JournalEntry]]],
    ) -> AgentState:
        """The history, in LangChain's shape: what the user, the model and the tools said."""
        runs = kept_in(await history())
        return AgentState(values={"messages": [message for run in runs.values() for message in shown(run)]})

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
        """Write what the history lacks: the user's messages, the returns of open calls, and what was being said.

        Args:
            reason: told to the model as the failure ``cancelled`` of each call that neither ``answers`` nor the journal
                has an end of.
        """
        mine = kept_in(desk.journal.values()).get(run_id, [])
        turn = self._turns.pop(thread_id, None)
        added = [] if turn is None or turn.run_id != run_id else turn.unwritten(len(mine))
        if not mine and not added:
            added = _heard(input)
        history = [*mine, *added]

        def answer(call: ToolCallPart) -> Sequence[ModelRequestPart]:
            asking = next(kept for kept in reversed(history) if isinstance(kept.message, ModelResponse))
            ended = self._ended(asking, call, desk, answers)
            return ended or (tool_return(call, failure("cancelled", reason)),)

        if (returns := closing([kept.message for kept in history], answer)) is not None:
            added.append(Kept(returns))
        known = {name for kept in history for name in kept.ids}
        broken_off = {name: text for name, text in said.items() if name not in known}
        added.extend(Kept(ModelResponse(parts=[TextPart(text)]), (name,)) for name, text in broken_off.items())
        for index, kept in enumerate(added, len(mine)):
            await desk.record(entry(thread_id, run_id, index, kept))

    def _ended(
        self, asking: Kept, call: ToolCallPart, desk: Desk, answers: Mapping[str, Call]
    ) -> Sequence[ModelRequestPart]:
        """How a call of the run's last message has ended; nothing when it has not."""
        message_id = asking.ids[0]
        if (known := finish_of(step(message_id, call.tool_call_id), desk.journal)) is not None:
            part, beside = known
            return (part,) if beside is None else (part, UserPromptPart(beside))
        order = [each.tool_call_id for each in calls_of(asking.message)]
        settled = answers.get(interrupt_id(message_id, order, call))
        if settled is None or settled.result is None or not is_return(settled):
            return ()
        tool = self.tool(settled.name)
        return (tool_return(call, settled.result if tool is None else tool.check_result(settled.result)),)

    async def delete(self, thread_id: str) -> None:
        """The history is in the journal, and goes with it."""
        self.forget(thread_id)

    def forget(self, thread_id: str) -> None:
        """What its run has not written will be said again."""
        self._turns.pop(thread_id, None)

    def tool(self, name: str) -> HeadlessTool | None:
        """The declaration of that name: found in the agent's toolsets, or learned when it was called. None where
        there are several: a toolset may be made for each run, and two may be told apart by their prefixes."""
        return self._tools.get(name)

    def _learn(self, tool: HeadlessTool) -> None:
        known = self._tools.setdefault(tool.name, tool)
        if known is not None and known is not tool and known.fingerprint != tool.fingerprint:
            self._tools[tool.name] = None


def tools_of(agent: AbstractAgent[Any, Any] | PydanticAIRuntime) -> Iterator[HeadlessTool]:
    """The headless tools that an agent's toolsets show before it runs.

    Raises:
        ValueError: they are to be approved, which Pydantic AI would never ask for.
    """
    return declarations_in(agent.agent if isinstance(agent, PydanticAIRuntime) else agent)


def is_agent(agent: Any) -> bool:
    """Whether this is an agent of Pydantic AI's, or a runtime for one."""
    return isinstance(agent, (AbstractAgent, PydanticAIRuntime))


def _heard(input: Any) -> list[Kept]:
    """What the user said, to an agent that did not come to it; nothing where the input is none that it takes."""
    try:
        said = said_in(input)
    except FarsideError:
        return []
    return [Kept(request(said), tuple(each.id for each in said))]
