"""The checkpointer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from farside.langgraph.saver import threads
from farside.langgraph.saver.delta import delta_history
from farside.langgraph.saver.export import export
from farside.langgraph.saver.file import File
from farside.langgraph.saver.large import encode
from farside.langgraph.saver.pages import Pages
from farside.langgraph.saver.place import Place
from farside.langgraph.saver.put import Put, PutWrites, take_checkpoint, take_writes
from farside.langgraph.saver.search import condition
from farside.langgraph.saver.shared import Shared
from farside.langgraph.saver.tuples import Tuples


class SqliteSaver(BaseCheckpointSaver[str]):
    """A LangGraph checkpointer in one SQLite file, whose cost per turn does not grow with the conversation.

    ::

        with SqliteSaver("checkpoints.db") as saver:  # or async with
            graph = builder.compile(checkpointer=saver)

    Each message of a channel that holds a list of messages is stored once; a checkpoint holds ranges in its place. The
    messages in use are kept in memory, and known by identity: a graph that goes on with a list costs what it added.
    Texts and bytes from 16 KiB on are stored once a thread: a picture costs its bytes, not those of its base64 in every
    checkpoint and write that has it. A serializer that makes something else of bytes, as one that encrypts does, gets
    them with the rest.
    Everything that was put is on disk when the call returns (``synchronous=FULL``); what many threads put at the same
    time goes into one commit.

    Both interfaces may be used from any thread and any event loop. Several processes may use one file. Threads that
    LangGraph's own SQLite savers left in the file are read where they are and gone on with; see :meth:`export` for the
    way back.

    A message that a node changes in place is stored anew if the node returns it, or if it is one of the last four. Do
    not change messages that you got from a saver in other ways: they are shared with whoever reads the same checkpoint.

    Args:
        path: the file; it is made when it is not there. farside's own store may be in the same one.
        serde: encodes and decodes; LangGraph's ``JsonPlusSerializer`` by default.
        cache_messages: how many decoded messages of all threads to keep in memory, at about 2 kB each; larger ones
            count as several. Where the threads that are at work together have more, messages are stored more than once.
    """

    def __init__(
        self, path: str | Path, *, serde: SerializerProtocol | None = None, cache_messages: int = 100_000
    ) -> None:
        super().__init__(serde=serde)
        self._shared = Shared(path, cache_messages)

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self._shared.path)

    def open(self) -> None:
        """Open the file, which the first use does otherwise.

        Raises:
            sqlite3.Error: it cannot be opened, or is no database.
            RuntimeError: a newer farside wrote it, its file system cannot hold a database in WAL mode, the saver was
                closed, or this process was forked off since it was opened.
        """
        self._shared.open()

    def close(self) -> None:
        """Finish what was put, and close the file; also for the clones that LangGraph makes of a saver."""
        self._shared.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.open)
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.close)

    # --- reading ---

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest of its namespace; None when there is none."""
        return self._file.read(Place.of(config).thread_id, self._getting(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest of its namespace; None when there is none."""
        file, thread_id = await self._afile(), Place.of(config).thread_id
        return await file.aread(thread_id, self._getting(config), hot=file.cache.holds(self.serde, thread_id))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first.

        Args:
            config: names a thread, and maybe a namespace and a checkpoint; None for all threads.
            filter: what the metadata must be equal to, by key.
            before: names a checkpoint that is newer than all of them.
            limit: how many at most; no limit for None or less than 0.

        Raises:
            ValueError: a key of the filter is malformed.
        """
        thread_id = None if config is None else Place.of(config).thread_id
        pages = Pages(condition(config, filter, before), limit)
        while not pages.over:
            yield from self._file.read(thread_id, lambda tuples: pages.tuples(tuples, self.serde))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, newest first; see :meth:`list`."""
        thread_id = None if config is None else Place.of(config).thread_id
        pages = Pages(condition(config, filter, before), limit)
        file = await self._afile()
        while not pages.over:
            for each in await file.aread(thread_id, lambda tuples: pages.tuples(tuples, self.serde)):
                yield each

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What LangGraph's delta channels are made of: their last snapshots and the writes since."""
        place = Place.of(config)
        return self._file.read(place.thread_id, lambda tuples: delta_history(tuples, self.serde, place, channels))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What LangGraph's delta channels are made of: their last snapshots and the writes since."""
        place = Place.of(config)
        file = await self._afile()
        return await file.aread(place.thread_id, lambda tuples: delta_history(tuples, self.serde, place, channels))

    # --- writing ---

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint.

        Args:
            config: names the thread, the namespace and the checkpoint's parent.
            new_versions: the channels that were written since the parent.

        Returns:
            The config that names the checkpoint.
        """
        put = self._taken(self._file, config, checkpoint, metadata, new_versions)
        self._file.write(put.row.thread_id, put)
        return _named(config, checkpoint)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; see :meth:`put`. It is stored even if the caller is cancelled meanwhile."""
        file = await self._afile()
        put = self._taken(file, config, checkpoint, metadata, new_versions)
        await file.awrite(put.row.thread_id, put)
        return _named(config, checkpoint)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task of a checkpoint wrote, until the next checkpoint has it."""
        self._file.write(Place.of(config).thread_id, self._taken_writes(self._file, config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task of a checkpoint wrote. It is stored even if the caller is cancelled meanwhile."""
        file = await self._afile()
        await file.awrite(Place.of(config).thread_id, self._taken_writes(file, config, writes, task_id, task_path))

    def get_next_version(self, current: str | None, channel: None) -> str:
        """The version after this one, as LangGraph's SQLite savers count."""
        number = int(str(current).split(".")[0]) if current is not None else 0
        return f"{number + 1:032}.{random.random():016}"  # noqa: S311 - it only tells forks apart

    # --- whole threads ---

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread: checkpoints, writes and messages."""
        self._file.change(str(thread_id), threads.deleting(str(thread_id)))

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread: checkpoints, writes and messages."""
        await (await self._afile()).achange(str(thread_id), threads.deleting(str(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of these runs (``run_id`` in their metadata), and the messages that no other holds."""
        for thread_id, work in self._file.read(None, threads.deleting_runs(run_ids)).items():
            self._file.change(thread_id, work)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of these runs (``run_id`` in their metadata), and the messages that no other holds."""
        file = await self._afile()
        for thread_id, work in (await file.aread(None, threads.deleting_runs(run_ids))).items():
            await file.achange(thread_id, work)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread's checkpoints, writes and messages. What the target has of its own stays.

        Raises:
            ValueError: both are the same thread.
        """
        self._file.change(str(target_thread_id), threads.copying(str(source_thread_id), str(target_thread_id)))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread's checkpoints, writes and messages; see :meth:`copy_thread`."""
        work = threads.copying(str(source_thread_id), str(target_thread_id))
        await (await self._afile()).achange(str(target_thread_id), work)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete what is not needed to go on with these threads, each in one transaction.

        Args:
            strategy: ``"keep_latest"`` keeps the newest checkpoint of each namespace, and those that its delta channels
                are made of; ``"delete"`` keeps nothing.

        Raises:
            ValueError: there is no such strategy.
        """
        for thread_id in map(str, thread_ids):
            self._file.change(thread_id, threads.pruning(thread_id, strategy, self.serde))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete what is not needed to go on with these threads; see :meth:`prune`."""
        for thread_id in map(str, thread_ids):
            await (await self._afile()).achange(thread_id, threads.pruning(thread_id, strategy, self.serde))

    def export(self, target: str | Path, thread_id: str | None = None) -> int:
        """Write a thread, or all threads, into another file in the format of LangGraph's own SQLite savers.

        They can go on with it, pauses included. Nothing changes in the saver's file. Mind the size: that format holds
        every message once for each checkpoint.

        Args:
            target: the file; it is made when it is not there, and checkpoints that it has of the same ids are replaced.

        Returns:
            How many checkpoints were written: all of them, as they were at one moment, or none.

        Raises:
            ValueError: the target is the saver's own file.
            sqlite3.Error: the target cannot be written, or is no database.
        """
        file = self._file
        file.settle()
        where = condition(None if thread_id is None else Place(str(thread_id), "", None).config(), None, None)
        return export(self._shared.path, target, self.serde, self._shared.cache_messages, where)

    async def aexport(self, target: str | Path, thread_id: str | None = None) -> int:
        """Write a thread, or all threads, into another file; see :meth:`export`."""
        return await asyncio.to_thread(self.export, target, thread_id)

    # --- inside ---

    @property
    def _file(self) -> File:
        return self._shared.opened or self._shared.open()

    async def _afile(self) -> File:
        return self._shared.opened or await asyncio.to_thread(self._shared.open)

    def _getting(self, config: RunnableConfig) -> Callable[[Tuples], CheckpointTuple | None]:
        place, serde = Place.of(config), self.serde

        def get(tuples: Tuples) -> CheckpointTuple | None:
            row = tuples.row(*place)
            return None if row is None else tuples.tuple(row, serde, config if place.checkpoint_id else None)

        return get

    def _taken(self, file: File, *given: Any) -> Put:
        thread_id = Place.of(given[0]).thread_id
        with file.lock:
            put = take_checkpoint(file.cache.known(self.serde, thread_id), self.serde, *given)
            file.cache.trim(self.serde, thread_id)
        return put

    def _taken_writes(
        self, file: File, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> PutWrites:
        place = Place.of(config)
        with file.lock:
            known = file.cache.known(self.serde, place.thread_id)
            known.written_to((place.checkpoint_ns, place.checkpoint_id or ""), writes, partial(encode, self.serde))
            file.cache.trim(self.serde, place.thread_id)
        return take_writes(self.serde, place, writes, task_id, task_path)


def _named(config: RunnableConfig, checkpoint: Checkpoint) -> RunnableConfig:
    """The config of a checkpoint that was put; the thread's id as the caller gave it."""
    configurable: Mapping[str, Any] = config.get("configurable") or {}
    return {
        "configurable": {
            "thread_id": configurable["thread_id"],
            "checkpoint_ns": configurable.get("checkpoint_ns") or "",
            "checkpoint_id": checkpoint["id"],
        }
    }
