"""The runs of all threads: what becomes of a message, the queue, and stopping."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from farside.core.model import Run, RunStatus, ThreadUpdate
from farside.engine.doubles import same_message
from farside.engine.forks import beginning_at, fork_of, graph_of
from farside.engine.legs import cancelled
from farside.engine.log import Draft
from farside.engine.thread import LiveRun, LiveThread
from farside.errors import FarsideError
from farside.wire.messages import MISSING, RunStartParams, StateForkParams, Strategy

if TYPE_CHECKING:
    from farside.engine.engine import Engine
    from farside.engine.settings import Policy

_POLICIES: dict[Strategy, Policy | Literal["rollback"]] = {
    "reject": "refuse",
    "interrupt": "cancel",
    "rollback": "rollback",
    "enqueue": "queue",
}
"""What LangGraph's clients call what becomes of a message."""


class Runs:
    """Starts, queues and stops the runs of an engine's threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def start(self, thread_id: str, params: RunStartParams, starter: str) -> str:
        """Start a run, or queue it, as the client or else the settings say; returns its id.

        Raises:
            FarsideError: ``not_found`` (agent), ``run_active``, ``run_interrupted``, ``no_such_checkpoint``;
                ``not_supported`` for a fork or a rollback of an agent that has no checkpoints.
        """
        runtime, checkpoint_id = self._engine.runtime(params.assistant_id), fork_of(params)
        async with self._engine.threads.locked(thread_id, params.assistant_id) as live:
            known = await self._known(live, params, checkpoint_id)
            if known is not None:
                await self._engine.chores.do(live)
                return known
            if checkpoint_id is not None:
                await graph_of(runtime, params.assistant_id).at(thread_id, (), checkpoint_id)
            run_id = self._engine.new_id() if params.run_id is MISSING else params.run_id
            policy = self._policy(live, params)
            if policy == "rollback" and live.active is not None:
                start = await self._roll_back(live, live.active, run_id)
                checkpoint_id = checkpoint_id or start
            elif policy == "cancel" and live.active is not None:
                said = "the user sent a new message"
                await self._engine.legs.cancel(live, live.active, said, replaced_by=run_id)
            run = self._run(thread_id, run_id, params, starter, checkpoint_id)
            metadata = _thread_metadata(params)
            if live.active is None and not live.queue:
                await self._begin(live, run, metadata)
                return run_id
            try:
                await self._enqueue(live, run, metadata)
            finally:
                await self._engine.chores.do(live)
            return run_id

    async def cancel(self, thread_id: str, run_id: str | None) -> None:
        """Stop the active run, or the named one, and what is queued behind it. A run that has ended stays as it is.

        Raises:
            FarsideError: ``no_such_run``.
        """
        async with self._engine.threads.locked(thread_id) as live:
            active = live.active
            queued = next((run for run in live.queue if run.id == run_id), None)
            if queued is not None:
                await self._withdraw(live, [queued])
                return
            if run_id is not None and (active is None or active.run.id != run_id):
                if await self._engine.store.run(thread_id, run_id) is None:
                    raise FarsideError("no_such_run", f"expected a run of thread {thread_id}, got {run_id!r}")
                return
            if active is not None:
                await self._engine.legs.cancel(live, active, "the run was stopped", withdrawn=tuple(live.queue))
            else:
                await self._withdraw(live, live.queue)

    async def go_on(self, thread_id: str) -> None:
        """A run has ended: start the next one, if one waits."""
        async with self._engine.threads.locked(thread_id) as live:
            await self.next(live)

    async def take_up(self, live: LiveThread) -> None:
        """Under the lock: go on where the process that had the thread before has stopped."""
        for runtime in self._engine.runtimes.values():
            runtime.forget(live.id)
        if live.active is not None and self._engine.served(live.active.run.agent) is not None:
            self._engine.legs.recover(live, live.active)
        await self._engine.chores.do(live)
        self._engine.look_at_time()

    async def fork(self, thread_id: str, params: StateForkParams, starter: str) -> str:
        """Start a run of the thread's agent at a checkpoint. Raises as :meth:`start`, ``not_found`` for the thread."""
        thread = await self._engine.thread(thread_id)
        config = beginning_at({} if params.config is MISSING else params.config, params.checkpoint_id)
        start = RunStartParams(assistant_id=thread.agent, input=params.input, config=config)
        return await self.start(thread_id, start, starter)

    async def _known(self, live: LiveThread, params: RunStartParams, checkpoint_id: str | None) -> str | None:
        """The run that the command has started already, when it comes once more."""
        if params.run_id is not MISSING:
            return None if await self._engine.store.run(live.id, params.run_id) is None else params.run_id
        if checkpoint_id is not None or params.input is MISSING:
            return None
        newest = live.newest if live.active is None else live.active.run
        runs = live.queue if newest is None else [*live.queue, newest]
        known = same_message(params.input, params.assistant_id, runs)
        return None if known is None else known.id

    async def _roll_back(self, live: LiveThread, active: LiveRun, run_id: str) -> str | None:
        """Stop a run, and leave what it and its user have said behind; returns the checkpoint with which it began."""
        graph = graph_of(self._engine.runtime(active.run.agent), active.run.agent)
        said = "the user took the message back"
        await self._engine.legs.cancel(live, active, said, replaced_by=run_id, keeps_input=False)
        return await graph.start_of(live.id, active.run.id)

    def _policy(self, live: LiveThread, params: RunStartParams) -> Policy | Literal["rollback"]:
        active, settings = live.active, self._engine.settings
        if settings.max_queued is not None and len(live.queue) >= settings.max_queued:
            message = f"expected at most {settings.max_queued} messages to wait for their turn; wait until one has run"
            raise FarsideError("run_active", message)
        if active is None:
            return "queue"
        waits = bool(live.open_calls(active.run.id))
        policy = settings.on_new_message if waits else settings.on_active_run
        if params.multitask_strategy is not MISSING:
            policy = _POLICIES[params.multitask_strategy]
        if policy == "refuse":
            does = "waits for an answer" if waits else "is executing"
            message = f"expected an idle thread, run {active.run.id} {does}; wait until it has ended, or cancel it"
            raise FarsideError("run_interrupted" if waits else "run_active", message, details={"run_id": active.run.id})
        return policy

    def _run(self, thread_id: str, run_id: str, params: RunStartParams, starter: str, checkpoint_id: str | None) -> Run:
        return Run(
            id=run_id,
            thread_id=thread_id,
            agent=params.assistant_id,
            input=None if params.input is MISSING else self.with_ids(params.input),
            config=beginning_at(_config(params), checkpoint_id),
            status="running",
            created_at=self._engine.clock.now(),
            starter=starter,
        )

    async def _begin(self, live: LiveThread, run: Run, metadata: dict[str, Any]) -> None:
        run = replace(run, status="running", started=True)
        live.log.serve(run.agent)
        began = {"event": "running", "graph_name": run.agent, "run_id": run.id, "input": run.input}
        await live.log.commit([run, self._changed(live, metadata)], [Draft(run.id, "lifecycle", began)])
        self._engine.legs.start(live, run)

    async def _enqueue(self, live: LiveThread, run: Run, metadata: dict[str, Any]) -> None:
        waiting = replace(run, status=cast("RunStatus", "queued"), started=False)
        # The event does not belong to the run: its own events begin when it does.
        before = "" if live.active is None else live.active.run.id
        told = {"event": "queued", "graph_name": run.agent, "run_id": run.id, "input": run.input}
        await live.log.commit([waiting, self._changed(live, metadata)], [Draft(before, "lifecycle", told)])
        live.queue.append(waiting)

    async def next(self, live: LiveThread) -> None:
        """Under the lock: start the run whose turn it is, if none is under way."""
        if live.active is None and live.queue and self._engine.served(live.queue[0].agent) is not None:
            await self._begin(live, live.queue[0], {})
            live.queue.pop(0)

    async def _withdraw(self, live: LiveThread, runs: list[Run]) -> None:
        """End queued runs, which have done nothing yet."""
        gone = [replace(run, status=cast("RunStatus", "cancelled")) for run in runs]
        drafts = [Draft(run.id, "lifecycle", cancelled(run)) for run in gone]
        if gone:
            await live.log.commit([*gone, self._changed(live, {})], drafts)
            live.queue = [run for run in live.queue if run not in runs]

    def _changed(self, live: LiveThread, metadata: dict[str, Any]) -> ThreadUpdate:
        return ThreadUpdate(live.id, self._engine.clock.now(), metadata, has_run=True)

    def with_ids(self, value: Any) -> Any:
        """A chat input's messages, each with an id: the same in events, state and history."""
        if isinstance(value, str):
            value = {"messages": [{"type": "human", "content": value}]}
        if not isinstance(value, dict):
            return value
        chat = cast("dict[str, Any]", value)
        if not isinstance(chat.get("messages"), list):
            return chat
        return {**chat, "messages": [self._with_id(message) for message in chat["messages"]]}

    def _with_id(self, message: Any) -> Any:
        if not isinstance(message, dict) or "id" in message:
            return cast("Any", message)
        return {**cast("dict[str, Any]", message), "id": self._engine.new_id()}


def _config(params: RunStartParams) -> dict[str, Any]:
    """The run's config, with the command's metadata in it, where LangChain has them."""
    config: dict[str, Any] = {} if params.config is MISSING else params.config
    if params.metadata is MISSING:
        return config
    return {**config, "metadata": {**config.get("metadata", {}), **params.metadata}}


def _thread_metadata(params: RunStartParams) -> dict[str, Any]:
    """What a command says of its thread: the command's metadata, and by which agent clients look for it."""
    metadata = {} if params.metadata is MISSING else params.metadata
    return {**metadata, "graph_id": params.assistant_id, "assistant_id": params.assistant_id}
