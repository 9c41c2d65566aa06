"""The app of the official hooks: agents that do what the user's words say, and the pages that ask them.

A message is a plan in words. ``call hold first, hold_again second`` calls these tools with these keys, all at once, and
says what it heard of them; ``say some words`` says them; ``slowly <gate> some words`` says each word after the first
when the gate was opened (``POST /gates/<gate>``). The models refuse a history in which a call has not exactly one
answer.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from farside import Farside
from farside.langgraph import tool
from server.tests.langgraph.scripted import Streaming, call, calling, check_history

KEYED = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
TOOLS = [
    tool(name="hold", description="Ends when the test says so.", args_schema=KEYED),
    tool(name="hold_again", description="The same; it may run twice.", args_schema=KEYED, idempotent=True),
]

gates: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))


# --- a chat with tools ---


class Model(Streaming):
    """Says the words of a slow plan when its gate lets them through, everything else word by word."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        verb, _, plan = messages[-1].text.partition(" ")
        if messages[-1].type == "human" and verb == "slowly":
            check_history(messages)
            gate, *words = plan.split()
            for at, word in enumerate(words):
                if at > 0:
                    await gates[gate].acquire()
                yield ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
            return
        for chunk in self._stream(messages):
            yield chunk


def script(messages: list[BaseMessage]) -> AIMessage:
    """Does what the plan says, or says what it heard of its calls. Fails at ``break``."""
    if messages[-1].type != "human":
        last = max(at for at, message in enumerate(messages) if message.type == "ai")
        return AIMessage("heard " + " and ".join(_heard(message) for message in messages[last + 1 :]))
    verb, _, plan = messages[-1].text.partition(" ")
    if verb == "break":
        raise RuntimeError("broken, as it was asked to be")
    if verb != "call":
        return AIMessage(plan)
    planned = (each.split() for each in plan.split(", "))
    return calling(*(call(name, f"call_{len(messages)}_{key}", key=key) for name, key in planned))


def _heard(message: BaseMessage) -> str:
    """A result, or the code of an error."""
    told = re.match(r"Error \((\w+)\): ", message.text)
    return told[1] if told else message.text


chat = create_agent(Model(script=script), TOOLS)


# --- a team: the chat as the subgraph of a graph that tells how far it is ---


def plan(state: MessagesState) -> dict[str, Any]:
    get_stream_writer()({"progress": "planned"})
    return {}


team = (
    StateGraph(MessagesState)
    .add_node("plan", plan)
    .add_node("worker", create_agent(Model(script=script), TOOLS))
    .add_edge(START, "plan")
    .add_edge("plan", "worker")
    .add_edge("worker", END)
    .compile()
)


# --- an approval: an interrupt that is no tool call ---


def approve(state: MessagesState) -> dict[str, Any]:
    answer = interrupt({"question": state["messages"][-1].text})
    return {"messages": [AIMessage(f"You said {answer}.")]}


approval = (
    StateGraph(MessagesState).add_node("approve", approve).add_edge(START, "approve").add_edge("approve", END).compile()
)


# --- the app ---


async def open_gate(request: Request) -> Response:
    gates[request.path_params["name"]].release()
    return Response(status_code=204)


farside = Farside(
    {"chat": chat, "team": team, "approval": approval},
    store="sqlite:///farside.db",
    allowed_origins=os.environ.get("ALLOWED_ORIGINS", "").split(),
)
app = Starlette(
    routes=[
        Mount("/farside", farside),
        Route("/gates/{name}", open_gate, methods=["POST"]),
        Mount("/", StaticFiles(directory=Path(__file__).parent / "web/dist", html=True)),
    ],
    lifespan=farside.lifespan,
)
