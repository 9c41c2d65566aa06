"""The threads as a list of conversations shows them: made, found, described, deleted."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from farside.core.model import Event, ThreadInfo, ThreadUpdate
from farside.core.ports import ThreadQuery
from farside.errors import FarsideError

if TYPE_CHECKING:
    from farside.engine.engine import Engine

logger = logging.getLogger("farside.engine")

CLOSE_DELETED = 4404
"""The WebSocket close code for the connections of a thread that was deleted. The official clients read 4000 and an HTTP
status: 404 ends their stream."""


class Directory:
    """The list of an engine's threads. What it says of one is what is stored, whichever process drives it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def create(self, thread_id: str | None, metadata: Mapping[str, Any], *, may_exist: bool) -> ThreadInfo:
        """Make an empty thread; None for a new id. With ``may_exist`` one that is there is left as it is.

        Raises:
            FarsideError: ``thread_exists``, or ``unavailable`` as :meth:`farside.engine.threads.Threads.using`.
        """
        thread_id = thread_id or self._engine.new_id()
        found = await self._find(thread_id)
        if found is None:
            async with self._engine.threads.locked(thread_id) as live:
                found = await self._find(thread_id)
                if found is None:
                    update = ThreadUpdate(thread_id, self._engine.clock.now(), dict(metadata))
                    await live.log.commit([update])
                    return await self.get(thread_id)
        if not may_exist:
            message = f"expected the id of no thread, there is a thread {thread_id!r}; use it, or take another id"
            raise FarsideError("thread_exists", message)
        return found

    async def get(self, thread_id: str) -> ThreadInfo:
        """One thread. Raises FarsideError ``not_found``."""
        found = await self._find(thread_id)
        if found is None:
            raise unknown(thread_id)
        return found

    async def search(self, query: ThreadQuery) -> Sequence[ThreadInfo]:
        """The threads that fit."""
        return await self._engine.store.search(query)

    async def count(self, query: ThreadQuery) -> int:
        """How many threads fit."""
        return await self._engine.store.count(query)

    async def describe(self, thread_id: str, metadata: Mapping[str, Any]) -> ThreadInfo:
        """Merge members into a thread's metadata. The store does, so it does not matter which process drives it.

        Raises:
            FarsideError: ``not_found``, ``too_large``.
        """
        await self.get(thread_id)
        await self._engine.store.commit([ThreadUpdate(thread_id, self._engine.clock.now(), dict(metadata))])
        return await self.get(thread_id)

    async def values(self, info: ThreadInfo) -> dict[str, Any]:
        """The agent's state as it is stored; empty before the first run. No lock is taken and no thread is loaded.

        Raises:
            FarsideError: ``unavailable``: the agent is not served any more.
        """
        runtime = self._engine.runtime_of(info.id, info.agent)
        if runtime is None:
            return {}

        async def events() -> list[Event]:
            return list(await self._engine.store.events(info.id))

        state = await runtime.state(info.id, events, partial(self._engine.store.history, info.id))
        return state.values

    async def values_if_readable(self, info: ThreadInfo) -> dict[str, Any] | None:
        """The same, None where it cannot be read: one thread must not keep the others from being listed."""
        try:
            return await self.values(info)
        except FarsideError as error:
            logger.warning("thread %s is listed without its state: %s", info.id, error)
        except Exception:
            logger.exception("thread %s is listed without its state", info.id)
        return None

    async def interrupts(self, info: ThreadInfo) -> dict[str, list[dict[str, Any]]]:
        """The questions that wait for a person. A tool call is none: who heard of it here would execute it too."""
        if info.status != "interrupted":
            return {}
        calls = await self._engine.store.calls(info.id, unsettled=True)
        questions = [call for call in calls if call.kind == "input"]
        return {call.interrupt_id: [{"id": call.interrupt_id, "value": call.payload()}] for call in questions}

    async def error(self, info: ThreadInfo) -> str | None:
        """Why the newest run failed, None when it did not."""
        run = await self._engine.store.latest_run(info.id) if info.status == "error" else None
        return None if run is None or run.error is None else run.error.message

    async def delete(self, thread_id: str) -> None:
        """Stop what is under way, and forget everything of the thread; its listeners are hung up.

        Raises:
            FarsideError: ``not_found``; ``unavailable`` while its agent is not served, or another process drives it;
                ``not_supported`` where the agent's own state cannot be deleted.
        """
        engine = self._engine
        await self.get(thread_id)
        async with engine.threads.locked(thread_id) as live:
            info = await self.get(thread_id)
            engine.runtime_of(thread_id, info.agent)
            if live.active is not None:
                await engine.legs.cancel(live, live.active, "the thread was deleted", withdrawn=tuple(live.queue))
            # The state goes first: what is left of a deletion that fails halfway can be deleted again.
            for runtime in engine.runtimes.values():
                await runtime.delete(thread_id)
            await engine.store.delete(thread_id, lease=live.lease)
            engine.threads.discard(live)
            for listener in engine.bus.listeners(thread_id):
                listener.retire()
                listener.hang_up(CLOSE_DELETED, "the thread was deleted")

    async def _find(self, thread_id: str) -> ThreadInfo | None:
        found = await self._engine.store.search(ThreadQuery(ids=(thread_id,), limit=1))
        return found[0] if found else None


def unknown(thread_id: str) -> FarsideError:
    """What is said of a thread that is not there."""
    return FarsideError("not_found", f"no thread {thread_id!r}; it comes into being with its first run, or is made")
