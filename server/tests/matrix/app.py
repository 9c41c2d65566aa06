"""The server of the crash matrix: one agent of each kind, and a point before and after all that counts.

Every agent charges a card, has the page look (idempotent) and pay (not) at once, then look once more, and tells.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import uvicorn
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.graph import MessagesState
from pydantic_ai import ModelMessage, ModelResponse
from starlette.websockets import WebSocket

import farside.app
import farside.langgraph.runtime
import farside.pydantic_ai.runtime
from farside.asgi import server_options
from farside.buses.memory import MemoryBus
from farside.core.model import Call, Event, JournalEntry, Run
from farside.core.ports import Emit, Leg, Opened, Write
from farside.engine.legs import Legs
from farside.functions import FunctionRuntime
from farside.langgraph import LangGraphRuntime, SqliteSaver
from farside.pydantic_ai import HeadlessToolset, PydanticAIRuntime
from farside.stores.sqlite import SqliteStore
from farside.wire.codec import MESSAGEPACK
from farside.wire.values import OUTGOING_LIMITS
from server.tests.langgraph.scripted import Streaming, call, hand_built
from server.tests.matrix.points import Points
from server.tests.pydantic_ai import scripted as pydantic_ai

ANY_ARGS = {"type": "object", "additionalProperties": True}
FINAL = "charged looked-1 paid looked-2"


def declared(tool: Any) -> list[Any]:
    return [
        tool(name="look", description="Look.", args_schema=ANY_ARGS, idempotent=True, timeout=600),
        tool(name="pay", description="Pay.", args_schema=ANY_ARGS, timeout=600),
    ]


def charge() -> str:
    """Charge the card."""
    return "charged"


async def function(turn: farside.Turn, value: Any) -> None:
    look, pay = declared(farside.tool)
    charged = await turn.step(charge)
    looked, paid = await asyncio.gather(_told(turn, look, n=1), _told(turn, pay))
    again = await _told(turn, look, n=2)
    await turn.say(f"{charged} {looked} {paid} {again}")


async def _told(turn: farside.Turn, tool: Any, **args: Any) -> str:
    try:
        return await turn.call(tool, **args)
    except farside.ToolError as error:
        return error.code


def script(messages: list[BaseMessage]) -> AIMessage:
    results = {
        message.tool_call_id: "interrupted" if message.status == "error" else str(message.content)
        for message in messages
        if isinstance(message, ToolMessage)
    }
    if not results:
        calls = [call("charge", "charge"), call("look", "look-1", n=1), call("pay", "pay")]
        return AIMessage("", tool_calls=calls)
    if "look-2" not in results:
        return AIMessage("", tool_calls=[call("look", "look-2", n=2)])
    return AIMessage(" ".join(results[name] for name in ("charge", "look-1", "pay", "look-2")))


def node(tools: list[Any], saver: Any) -> Any:
    """A graph whose node runs all calls of a message, each as a task of its own."""
    model = Streaming(script=script)

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return hand_built(think, farside.langgraph.ToolNode(tools)).compile(checkpointer=saver)


def pydantic_ai_script(messages: list[ModelMessage]) -> ModelResponse:
    returns = pydantic_ai.returns(messages)
    results = {part.tool_call_id: str(part.content) if part.outcome == "success" else "interrupted" for part in returns}
    if not results:
        named = pydantic_ai.call
        return pydantic_ai.calling(named("charge", "charge"), named("look", "look-1", n=1), named("pay", "pay"))
    if "look-2" not in results:
        return pydantic_ai.calling(pydantic_ai.call("look", "look-2", n=2))
    return pydantic_ai.saying(" ".join(results[name] for name in ("charge", "look-1", "pay", "look-2")))


# --- points ---


class MortalStore(SqliteStore):
    """Every write has a point before and after it, named by what it writes."""

    points: Points

    async def commit(self, writes: Sequence[Write], **options: Any) -> None:
        name = f"store {' + '.join(dict.fromkeys(_names(writes)))}"
        self.points.reach(f"before {name}")
        await super().commit(writes, **options)
        self.points.reach(f"after {name}")


def _names(writes: Iterable[Write]) -> list[str]:
    names: list[str] = []
    for write in writes:
        match write:
            case Run():
                names.append(f"run {write.status}")
            case Call():
                names.append(f"{'opened' if write.version == 1 else write.state} {write.name}")
            case JournalEntry():
                names.append(f"journal {write.kind}")
            case _:
                pass
    return names or ["events"]


class MortalBus(MemoryBus):
    """Every announcement of a call, and of a run's life, has a point before and after it."""

    points: Points

    def publish(self, event: Event) -> None:
        tells = event.method in ("calls", "lifecycle") and not event.namespace
        name = f"announce {event.method} {event.data.get('event')}"
        if tells:
            self.points.reach(f"before {name}")
        super().publish(event)
        if tells:
            self.points.reach(f"after {name}")


class MortalSaver(SqliteSaver):
    """Every checkpoint and every write beside one has a point before and after it."""

    points: Points

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        name = f"checkpoint step {metadata.get('step')}"
        self.points.reach(f"before {name}")
        put = await super().aput(config, checkpoint, metadata, new_versions)
        self.points.reach(f"after {name}")
        return put

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        name = f"checkpoint writes {'+'.join(sorted({channel for channel, _ in writes}))}"
        self.points.reach(f"before {name}")
        await super().aput_writes(config, writes, task_id, task_path)
        self.points.reach(f"after {name}")


def mortal_runtime(kind: type[Any], points: Points) -> type[Any]:
    """The runtime with a point before each leg."""

    class Mortal(kind):
        async def run(self, leg: Leg, desk: Any) -> AsyncGenerator[Emit | Opened, None]:
            points.reach(f"before leg {leg.kind}")
            async for item in super().run(leg, desk):
                yield item
            points.reach("after leg")

    return Mortal


def patch(points: Points) -> None:
    """Points before and after acknowledgements and resumptions."""
    send_bytes, answered = WebSocket.send_bytes, Legs.answered

    async def send(self: WebSocket, data: bytes) -> None:
        message = MESSAGEPACK.decode(data, OUTGOING_LIMITS)
        result = message.get("result", {})
        kind = next((kind for kind in ("run_id", "tool_call_id", "result") if kind in result), None)
        name = {"run_id": "start", "tool_call_id": "claim", "result": "settle"}.get(kind or "")
        if name:
            points.reach(f"before acknowledge {name}")
        await send_bytes(self, data)
        if name:
            points.reach(f"after acknowledge {name}")

    def answer(self: Legs, live: Any, calls: Sequence[Call]) -> None:
        name = "+".join(call.name for call in calls)
        points.reach(f"before resume {name}")
        answered(self, live, calls)
        points.reach(f"after resume {name}")

    WebSocket.send_bytes, Legs.answered = send, answer  # type: ignore[method-assign]


def serve(folder: Path, fatal: str, pipe: Pipe) -> None:
    """The child process: serves on a free port, which it tells through the pipe."""
    points = Points(folder / "points", fatal)
    MortalStore.points = MortalBus.points = MortalSaver.points = points
    patch(points)
    farside.app.MemoryBus = MortalBus
    farside.app.FunctionRuntime = mortal_runtime(FunctionRuntime, points)
    farside.langgraph.runtime.LangGraphRuntime = mortal_runtime(LangGraphRuntime, points)
    farside.pydantic_ai.runtime.PydanticAIRuntime = mortal_runtime(PydanticAIRuntime, points)
    asyncio.run(_serve(folder, pipe))


async def _serve(folder: Path, pipe: Pipe) -> None:
    async with AsyncExitStack() as opened:
        saver = await opened.enter_async_context(MortalSaver(folder / "graph.db"))
        tools = [farside.langgraph.tool(charge), *declared(farside.langgraph.tool)]
        agent = create_agent(Streaming(script=script), tools, checkpointer=saver)
        agents = {"function": function, "graph": agent, "node": node(tools, saver)}
        agents["pydantic_ai"] = pydantic_ai.scripted(
            pydantic_ai_script, tools=[charge], toolsets=[HeadlessToolset(declared(farside.tool))]
        )
        app = farside.Farside(agents, store=MortalStore(folder / "farside.db"))
        # The protocol is named, as asyncio switches off Nagle's delays only then: 40 ms for each answer.
        listening = opened.enter_context(socket.socket(proto=socket.IPPROTO_TCP))
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        pipe.send(listening.getsockname()[1])
        options = {**server_options(), "log_level": "warning", "loop": "none"}
        await uvicorn.Server(uvicorn.Config(app, **options)).serve([listening])
