"""What has been on a thread: the checkpoints of its agent, and which graphs its runs have entered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from farside.core.model import Run
from farside.core.ports import AgentGraph, AgentState
from farside.core.tree import statuses, tree
from farside.engine.forks import graph_of
from farside.errors import FarsideError

if TYPE_CHECKING:
    from farside.engine.engine import Engine


class Histories:
    """Reads the histories of an engine's threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def at(self, thread_id: str, namespace: Sequence[str], checkpoint_id: str) -> AgentState:
        """The agent's state at a checkpoint.

        Raises:
            FarsideError: ``not_found``, ``not_supported``, ``no_such_namespace``, ``no_such_checkpoint``.
        """
        return await (await self._graph(thread_id)).at(thread_id, namespace, checkpoint_id)

    async def checkpoints(
        self,
        thread_id: str,
        namespace: Sequence[str],
        limit: int,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Sequence[AgentState]:
        """The checkpoints, the newest first; see :meth:`farside.core.ports.AgentGraph.history`.

        Raises:
            FarsideError: ``not_found``, ``not_supported``, ``no_such_namespace``.
        """
        return await (await self._graph(thread_id)).history(thread_id, namespace, limit, before, metadata)

    async def tree(self, thread_id: str, run_id: str | None) -> dict[str, Any]:
        """Which graphs a run, by default the newest, has entered; see :func:`farside.core.tree.tree`.

        Raises:
            FarsideError: ``not_found``, ``no_such_run``.
        """
        await self._engine.thread(thread_id)
        newest = await self._engine.store.latest_run(thread_id)
        run = newest if run_id is None else await self._run(thread_id, run_id)
        if run is None:
            raise FarsideError("no_such_run", f"expected a run of thread {thread_id}, none has started yet")
        after = await self._engine.before_run(thread_id) if newest is not None and newest.id == run.id else 0
        async with self._engine.threads.using(thread_id) as live:
            return tree(run, await live.log.replay(after))

    async def missed(self, thread_id: str, run_id: str, last_event_id: str | None) -> dict[str, Any]:
        """What a client that was away wants to know before it subscribes anew. Raises as :meth:`tree`."""
        entered = await self.tree(thread_id, run_id)
        result: dict[str, Any] = {"restored": False, "current_namespaces": statuses(entered)}
        seq = (last_event_id or "").rpartition(":")[2]
        if seq.isascii() and seq.isdigit():
            async with self._engine.threads.using(thread_id) as live:
                result["missed_events"] = len(await live.log.replay(min(int(seq), live.log.shown)))
        return result

    async def _graph(self, thread_id: str) -> AgentGraph:
        thread = await self._engine.thread(thread_id)
        return graph_of(self._engine.runtime_of(thread_id, thread.agent), thread.agent)

    async def _run(self, thread_id: str, run_id: str) -> Run:
        run = await self._engine.store.run(thread_id, run_id)
        if run is None:
            raise FarsideError("no_such_run", f"expected a run of thread {thread_id}, got {run_id!r}")
        return run
