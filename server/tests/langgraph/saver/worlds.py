"""A graph that does as it is told, on a saver of its own: two of them must look the same after the same commands."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any, Protocol, TypedDict

import aiosqlite
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver as StockSqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Command, Overwrite, StateSnapshot, interrupt

from farside.langgraph import SqliteSaver

CONFIG: Any = {"configurable": {"thread_id": "thread"}}

Deed = tuple[str, int]


class State(TypedDict, total=False):
    """``kept``: copies of messages, in a channel without a reducer."""

    messages: Annotated[list[AnyMessage], add_messages]
    kept: list[AnyMessage]
    todo: list[Any]


class Savers(Protocol):
    """The savers of one file, as each interface wants them."""

    asynchronous: BaseCheckpointSaver[Any]
    synchronous: BaseCheckpointSaver[Any]

    async def open(self, path: Path) -> None: ...
    async def close(self) -> None: ...


class Stock:
    """LangGraph's own."""

    asynchronous: Any
    synchronous: Any

    def __init__(self) -> None:
        self._opened = AsyncExitStack()

    async def open(self, path: Path) -> None:
        connection = await self._opened.enter_async_context(aiosqlite.connect(path))
        self.asynchronous = AsyncSqliteSaver(connection)
        await self.asynchronous.setup()
        await connection.execute("PRAGMA synchronous=OFF")
        other = sqlite3.connect(path, check_same_thread=False)
        other.execute("PRAGMA synchronous=OFF")
        self._opened.callback(other.close)
        self.synchronous = StockSqliteSaver(other)

    async def close(self) -> None:
        await self._opened.aclose()


class Ours:
    """Ours, which has both interfaces."""

    asynchronous: Any
    synchronous: Any

    def __init__(self, cache_messages: int) -> None:
        self._cache_messages = cache_messages

    async def open(self, path: Path) -> None:
        self.asynchronous = self.synchronous = SqliteSaver(path, cache_messages=self._cache_messages)

    async def close(self) -> None:
        self.asynchronous.close()


class World:
    """A thread of the graph. Its ids count, so that the same commands make the same messages everywhere."""

    def __init__(self, path: Path, make: Callable[[], Savers]) -> None:
        self._path = path
        self._make = make
        self._ids = itertools.count(1)
        self._savers = make()

    async def open(self) -> None:
        await self._savers.open(self._path)
        self._graphs = {
            kind: self._builder().compile(checkpointer=saver)
            for kind, saver in (("async", self._savers.asynchronous), ("sync", self._savers.synchronous))
        }

    async def close(self) -> None:
        await self._savers.close()

    async def restart(self) -> None:
        """What is in memory is gone."""
        await self.close()
        self._savers = self._make()
        await self.open()

    # --- the graph ---

    def _builder(self) -> Any:
        builder: Any = StateGraph(State)
        builder.add_node("act", self._act)
        builder.add_node("rest", lambda state: {})
        builder.add_edge(START, "act")
        builder.add_conditional_edges("act", lambda state: "act" if state.get("todo") else "rest", ["act", "rest"])
        builder.add_edge("rest", END)
        return builder

    def _message(self, text: str) -> AIMessage:
        number = next(self._ids)
        return AIMessage(f"{text} {number}", id=f"id-{number}", additional_kwargs={"deep": [{"n": number}]})

    def _act(self, state: State) -> dict[str, Any]:
        (deed, number), *rest = state.get("todo") or [("say", 1)]
        return {"todo": rest, **self._deed(deed, number, state.get("messages", []))}

    def _deed(self, deed: str, number: int, messages: list[AnyMessage]) -> dict[str, Any]:
        chosen = messages[number % len(messages)] if messages else None
        last = messages[-1 - number % min(4, len(messages))] if messages else None
        if deed == "say" or chosen is None or last is None:
            return {"messages": [self._message("said") for _ in range(number)]}
        match deed:
            case "replace":
                return {"messages": [HumanMessage(f"instead {next(self._ids)}", id=chosen.id)]}
            case "remove":
                return {"messages": [RemoveMessage(id=str(chosen.id))]}
            case "clear":
                return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), self._message("anew")]}
            case "overwrite":
                return {"messages": Overwrite([*messages[number:], self._message("over")])}
            case "change":
                change(chosen, number)
                return {"messages": [chosen]}
            case "change silently":
                change(last, number)
                return {}
            case "give back":
                return {"messages": messages}
            case "keep":
                return {"kept": [message.model_copy(deep=True) for message in messages[-number:]]}
            case "pause":
                return {"messages": [HumanMessage(str(interrupt(f"question {number}")), id=f"id-{next(self._ids)}")]}
            case _:
                raise ValueError(deed)

    # --- commands ---

    async def run(self, api: str, durability: Any, deeds: list[Deed]) -> None:
        """LangGraph encodes in the background with durability "async": what changes in place may or may not be seen."""
        if durability == "async":
            deeds = [("say" if "change" in deed else deed, number) for deed, number in deeds]
        await self._invoke(api, durability, {"todo": list(deeds)}, CONFIG)

    async def resume(self, api: str, durability: Any) -> None:
        """Answer what is asked."""
        paused = [pause for task in (await self._state(api)).tasks for pause in task.interrupts]
        if paused:
            answers = {pause.id: f"answer to {pause.value}" for pause in paused}
            await self._invoke(api, durability, Command(resume=answers), CONFIG)

    async def update(self, api: str, at: int | None, number: int) -> None:
        """Write state from outside; ``at``: into which checkpoint of the history, the newest for None."""
        config = CONFIG if at is None else await self._old(api, at)
        given = {"messages": [self._message("from outside") for _ in range(number)]}
        graph = self._graphs[api]
        if api == "async":
            await graph.aupdate_state(config, given, as_node="act")
        else:
            await asyncio.to_thread(graph.update_state, config, given, as_node="act")

    async def replay(self, api: str, durability: Any, at: int) -> None:
        """Go on from an old checkpoint."""
        await self._invoke(api, durability, None, await self._old(api, at))

    async def scribble(self, api: str, number: int) -> None:
        """Change what was read, which must not change what is stored."""
        states = [await self._state(api), *(await self._history(api, 2))]
        for state in states:
            messages = state.values.get("messages", [])
            for message in messages[number:]:
                change(message, -1)
            messages.clear()

    async def seen(self, api: str, limit: int | None = None) -> Any:
        """Everything that LangGraph tells of the thread, without the ids that chance makes.

        Args:
            limit: how much of the history.
        """
        history = await self._history(api, limit)
        order = {_id(state.config): number for number, state in enumerate(history)}
        return [_seen(state, order) for state in [await self._state(api), *history]]

    async def _old(self, api: str, at: int) -> Any:
        history = await self._history(api)
        return history[at % len(history)].config if history else CONFIG

    async def _invoke(self, api: str, durability: Any, given: Any, config: Any) -> None:
        graph = self._graphs[api]
        if api == "async":
            await graph.ainvoke(given, config, durability=durability)
        else:
            await asyncio.to_thread(graph.invoke, given, config, durability=durability)

    async def _state(self, api: str) -> StateSnapshot:
        graph = self._graphs[api]
        return await (graph.aget_state(CONFIG) if api == "async" else asyncio.to_thread(graph.get_state, CONFIG))

    async def _history(self, api: str, limit: int | None = None) -> list[StateSnapshot]:
        graph = self._graphs[api]
        if api == "async":
            return [state async for state in graph.aget_state_history(CONFIG, limit=limit)]
        return await asyncio.to_thread(lambda: list(graph.get_state_history(CONFIG, limit=limit)))


def change(message: BaseMessage, number: int) -> None:
    """Change a message in place, on the surface or deep down."""
    if number % 2 or not message.additional_kwargs:
        message.content = f"{message.content}!"
    else:
        message.additional_kwargs["deep"][0]["n"] += 1_000


def _id(config: Any) -> str | None:
    return ((config or {}).get("configurable") or {}).get("checkpoint_id")


def _seen(state: StateSnapshot, order: dict[str | None, int]) -> Any:
    values: Any = state.values
    return {
        "messages": [message.model_dump() for message in values.get("messages", [])],
        "kept": [message.model_dump() for message in values.get("kept", [])],
        "todo": values.get("todo"),
        "next": state.next,
        "place": order.get(_id(state.config)),
        "parent": order.get(_id(state.parent_config)),
        "metadata": {key: (state.metadata or {}).get(key) for key in ("source", "step")},
        "tasks": [
            (task.name, str(task.error), [pause.value for pause in task.interrupts], task.result)
            for task in state.tasks
        ],
    }
