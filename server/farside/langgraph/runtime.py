"""The runtime for compiled LangGraph graphs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import Interrupt, StateSnapshot

from farside.core.model import Call, failure
from farside.core.ports import AgentState, Desk, Emit, Leg, Opened
from farside.errors import FarsideError
from farside.langgraph.checkpoints import CheckpointedGraph, state_of
from farside.langgraph.closing import add_messages, close
from farside.langgraph.configs import run_config
from farside.langgraph.declarations import Declarations, declarations_of
from farside.langgraph.entries import Entry, resume
from farside.langgraph.events import Events
from farside.langgraph.graph import COPY, START, Graph, has_breakpoints, has_saver, is_graph, saver_of
from farside.langgraph.history import Answer, ends_open, has_open_calls, left_behind
from farside.langgraph.pauses import new_call
from farside.langgraph.plain import plain
from farside.langgraph.recent import Recent
from farside.langgraph.results import tool_message
from farside.langgraph.served import RUN_ID, Served
from farside.langgraph.stream import open_stream
from farside.tools import HeadlessTool

__all__ = ["LangGraphRuntime", "is_graph"]

REPAIRED = "farside.history_repaired"
"""The name of the event ``custom`` that tells of calls which were found without an answer, and got one."""

_LEFT_OPEN = "the run that made this call ended before it was answered"


async def _no_context(leg: Leg) -> Any:
    return None


class LangGraphRuntime:
    """Executes a compiled graph; one instance per agent. Implements :class:`farside.core.ports.Runtime`.

    Args:
        graph: a compiled graph. If it brings a checkpointer it keeps it.
        checkpointer: where the graph's state survives otherwise.
        context: makes the run's ``context`` for each of its legs; LangGraph forgets it at a pause.
        tools: headless tools to know from the start, beside those that the graph's nodes show.

    Raises:
        ValueError: neither has a checkpointer.
    """

    replays = False

    def __init__(
        self,
        graph: Graph,
        *,
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        context: Callable[[Leg], Awaitable[Any]] = _no_context,
        tools: Iterable[HeadlessTool] = (),
    ) -> None:
        if not has_saver(graph):
            if checkpointer is None:
                raise ValueError(
                    f"graph {graph.name!r}: expected a checkpointer, in the graph or as an argument, got none; "
                    "a pause must be stored somewhere"
                )
            graph = graph.copy(update={"checkpointer": checkpointer})
        self._graph = graph
        self.graph = CheckpointedGraph(graph)
        self._context = context
        self._declarations = Declarations((*tools, *declarations_of(graph)))
        self._closed: Recent[bool] = Recent()
        """Threads that were left with a closed history and nothing under way."""
        self._begun: Recent[tuple[str, ...]] = Recent()
        """The tool calls of paused threads that have begun and not ended: resuming begins them again."""

    async def delete(self, thread_id: str) -> None:
        """Delete the thread's checkpoints.

        Raises:
            FarsideError: ``not_supported``: the graph's checkpointer cannot delete.
        """
        self.forget(thread_id)
        saver = saver_of(self._graph)
        try:
            await saver.adelete_thread(thread_id)
        except NotImplementedError:
            message = f"expected a checkpointer that deletes threads, {type(saver).__name__} has no adelete_thread"
            raise FarsideError("not_supported", message) from None

    def forget(self, thread_id: str) -> None:
        """The thread was elsewhere meanwhile."""
        self._closed.take(thread_id)
        self._begun.take(thread_id)

    def tool(self, name: str) -> HeadlessTool | None:
        """The declaration of that name: found in the graph's nodes, or learned when it was called."""
        return self._declarations.get(name)

    async def run(self, leg: Leg, desk: Desk) -> AsyncGenerator[Emit | Opened, None]:
        """Execute one leg; see :meth:`farside.core.ports.Runtime.run`.

        Pauses are reported when LangGraph's stream has ended: only then are they on disk (L1).

        Raises:
            FarsideError: ``invalid_argument``: the run's config is malformed. ``state_lost``: it cannot be recovered.
            Exception: whatever the agent raised, ``GraphRecursionError`` included.
        """
        config = run_config(leg, Served(self._declarations, desk.implements))
        if leg.kind == "start":
            entry = Entry(leg.input, checkpoint_id=leg.checkpoint_id)
        elif leg.kind == "resume":
            entry = resume(leg.answers.values(), leg.directives)
        else:
            entry = await self._recovered(leg, desk)
        if isinstance(entry, Opened):
            yield entry
        if not isinstance(entry, Entry):
            return
        if is_fork := entry.checkpoint_id is not None:
            entry, told = await self._forked(leg.thread_id, entry, desk)
            for emit in told:
                yield emit
        elif leg.kind == "start" and (repaired := await self._tidied(leg.thread_id, desk)):
            yield Emit("custom", {"name": REPAIRED, "payload": {"tool_calls": repaired}})
        if entry.checkpoint_id is not None:
            config.get("configurable", {})["checkpoint_id"] = entry.checkpoint_id
        begun = self._begun.take(leg.thread_id)
        events = Events(desk.wanted, () if leg.kind == "start" else begun or entry.resumed)
        pauses: dict[str, Interrupt[Any]] = {}
        values: Any = None
        stream = await open_stream(self._graph, entry.input, config, await self._context(leg))
        try:
            async for event in stream:
                params = cast("dict[str, Any]", event["params"])
                if event["method"] == "values" and not params["namespace"]:
                    pauses.update((pause.id, pause) for pause in params.get("interrupts", ()))
                    values = params["data"]
                for emit in events.emits(event):
                    yield emit
                    if is_fork and emit.method == "values" and not emit.namespace:
                        # Once more, without a checkpoint before it: an official client takes a state whose step is
                        # lower than one that it knows for an old one, and keeps the messages that it lacks.
                        is_fork = False
                        yield emit
        finally:
            await stream.abort()
        calls = tuple(new_call(pause, self.tool) for pause in pauses.values())
        waiting = {call.tool_call_id for call in calls}
        # A pause that is no tool call may be that of any of the server's own tools.
        for emit in events.withdrawn(lambda call_id, name: call_id in waiting or bool(calls and not self.tool(name))):
            yield emit
        if calls:
            self._begun.note(leg.thread_id, events.begun)
            yield Opened(calls)
        elif not has_breakpoints(self._graph) and not ends_open(values):
            self._closed.note(leg.thread_id, True)

    async def state(self, thread_id: str, events: Callable[[], Any], history: Any = None) -> AgentState:
        """The graph's state in plain values; empty for a thread that it does not know."""
        return state_of(await self._snapshot(thread_id))

    async def abandon(
        self,
        thread_id: str,
        run_id: str,
        reason: str,
        answers: Mapping[str, Call] | None = None,
        input: Any = None,
        said: Mapping[str, str] | None = None,
        desk: Desk | None = None,
    ) -> None:
        """Leave a history in which every tool call has its one tool message; nothing of the agent runs for it.

        Args:
            reason: told to the model as the failure ``cancelled`` of each call that has no answer.
            answers: the run's settled calls, by interrupt id: their results are kept.
            input: the run's input; written now if the run was stopped before the graph had stored it.
            said: texts of messages that the model had not finished, by message id; kept where the state has messages.
        """
        snapshot = await self._snapshot(thread_id)
        if _run_of(snapshot) != run_id and isinstance(input, dict):
            config = self._config_of(thread_id, run_id)
            await self._graph.aupdate_state(config, cast("dict[str, Any]", input), as_node=START)
            snapshot = await self._snapshot(thread_id)
        if _run_of(snapshot) == run_id:
            await self._close(thread_id, snapshot, reason, answers or {})
            if said and isinstance(_values(snapshot).get("messages"), list):
                spoken = [AIMessage(text, id=message_id) for message_id, text in said.items()]
                await add_messages(self._graph, self._config_of(thread_id, run_id), spoken)
            self._closed.note(thread_id, True)

    def _config_of(self, thread_id: str, run_id: str) -> RunnableConfig:
        return {"configurable": {"thread_id": thread_id}, "metadata": {RUN_ID: run_id}}

    async def _tidied(self, thread_id: str, desk: Desk) -> list[dict[str, str]]:
        """Close what an earlier run left open: its process died before it was abandoned, or it knew nothing of us.

        Returns the tool calls that nobody had answered, each ``{id, name}``. What a page has answered is told (L4).

        Reading the state costs more the longer the history is, so a thread that was left closed is not looked at.
        """
        if self._closed.take(thread_id):
            return []
        snapshot = await self._snapshot(thread_id)
        if snapshot.metadata is None:
            return []
        run_id = _run_of(snapshot)
        return await self._close(thread_id, snapshot, _LEFT_OPEN, await desk.settled(run_id) if run_id else {})

    async def _close(
        self, thread_id: str, snapshot: StateSnapshot, reason: str, answers: Mapping[str, Call]
    ) -> list[dict[str, str]]:
        """Returns the tool calls that nobody had answered, each ``{id, name}``."""
        closed: list[dict[str, str]] = []

        def answering() -> Answer:
            results = {(call.tool_call_id, call.name): call.result for call in answers.values()}  # each is told once

            def answer(call: ToolCall) -> ToolMessage:
                call_id, name = call["id"] or "", call["name"]
                result = results.pop((call_id, name), None)
                if result is None:
                    closed.append({"id": call_id, "name": name})
                    result = failure("cancelled", reason)
                declaration = self.tool(name)
                return tool_message(name, call_id, result if declaration is None else declaration.check_result(result))

            return answer

        metadata = {} if (run_id := _run_of(snapshot)) is None else {RUN_ID: run_id}
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}, "metadata": metadata}
        await close(self._graph, config, snapshot, answering)
        return closed

    async def _snapshot(self, thread_id: str) -> StateSnapshot:
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        try:
            return await self._graph.aget_state(config)
        except InvalidUpdateError:  # the writes of the step that failed contradict each other: the state before it
            saved = await saver_of(self._graph).aget_tuple(config)
            return await self._graph.aget_state(config if saved is None else saved.config)

    async def _forked(self, thread_id: str, entry: Entry, desk: Desk) -> tuple[Entry, list[Emit]]:
        """Leave where the thread stands for an older checkpoint of its; returns how to enter the graph there, and what
        every page must hear of: the state there, and each message that is gone.

        With an input, what was under way at the checkpoint is dropped, and its open tool calls are closed in a copy of
        it, so that the checkpoint itself stays as it is. Without one, LangGraph does it again.
        """
        self._closed.take(thread_id)
        left = await self._snapshot(thread_id)
        try:
            snapshot = await self.graph.snapshot(thread_id, (), entry.checkpoint_id)
        except FarsideError as error:
            raise FarsideError(
                "state_lost", f"the run was to begin at a checkpoint that is gone; {error.message}"
            ) from None
        if entry.input is not None and has_open_calls(snapshot.values):
            run_id = _run_of(snapshot)
            await self._graph.aupdate_state(snapshot.config, None, as_node=COPY)
            copy = await self._snapshot(thread_id)
            await self._close(thread_id, copy, _LEFT_OPEN, await desk.settled(run_id) if run_id else {})
            snapshot, entry = await self._snapshot(thread_id), replace(entry, checkpoint_id=None)
        gone = left_behind(left.values, (snapshot.values, entry.input))
        removed = [Emit("messages", {"event": "message-removed", "message_id": each}) for each in gone]
        return entry, [Emit("values", plain(snapshot.values)), *removed]

    async def _recovered(self, leg: Leg, desk: Desk) -> Entry | Opened | None:
        """Where a run stands whose process died: how to enter the graph, what is unanswered, or None: it is over."""
        snapshot = await self._snapshot(leg.thread_id)
        pending = snapshot.interrupts
        if _run_of(snapshot) != leg.run_id and not any(pause.id in leg.answers for pause in pending):
            if leg.answers:
                expected = (
                    f"expected the checkpoint of run {leg.run_id}, whose tool calls were answered, it is not there"
                )
                raise FarsideError("state_lost", f"{expected}; give the graph a checkpointer that survives a restart")
            if leg.checkpoint_id is None:
                await self._tidied(leg.thread_id, desk)
            return Entry(leg.input, checkpoint_id=leg.checkpoint_id)
        if unanswered := [pause for pause in pending if pause.id not in leg.answers]:
            return Opened(tuple(new_call(pause, self.tool) for pause in unanswered))
        if pending:
            saved = await saver_of(self._graph).aget_tuple(snapshot.config) if leg.directives else None
            return resume((leg.answers[pause.id] for pause in pending), leg.directives, saved)
        # Not `next`: it leaves out tasks that have written and whose checkpoint has not been stored.
        return Entry(None) if snapshot.tasks else None


def _values(snapshot: StateSnapshot) -> dict[str, Any]:
    values = cast("Any", snapshot.values)
    return cast("dict[str, Any]", values) if isinstance(values, dict) else {}


def _run_of(snapshot: StateSnapshot) -> Any:
    """The run that wrote the checkpoint, None when it was no run of ours."""
    return cast("Mapping[str, Any]", snapshot.metadata or {}).get(RUN_ID)
