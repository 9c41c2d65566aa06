"""The agents that the benchmarks measure, served from the store that FARSIDE_BENCH_STORE names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

import farside
import farside.langgraph

ARGS = {"type": "object", "properties": {"high": {"type": "boolean"}}}


class OneCall(BaseChatModel):
    """Calls ``locate`` once, then says what came back, in three pieces."""

    @property
    def _llm_type(self) -> str:
        return "one-call"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        if messages[-1].type == "tool":
            return AIMessage(content="You are right here.")
        call = {"name": "locate", "args": {"high": True}, "id": f"call_{len(messages)}"}
        return AIMessage(content="", tool_calls=[call])

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        answer = self._answer(messages)
        for word in str(answer.content).split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        for index, call in enumerate(answer.tool_calls):
            chunk: Any = {"name": call["name"], "args": '{"high": true}', "id": call["id"], "index": index}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))


def graph() -> Any:
    """A ``create_agent`` agent with one headless tool."""
    tool = farside.langgraph.tool(name="locate", description="Where?", args_schema=ARGS, timeout=60)
    return create_agent(OneCall(), [tool])


async def function(turn: farside.Turn, value: Any) -> None:
    """The same turn as a plain function."""
    await turn.call(farside.tool(name="locate", args_schema=ARGS, timeout=60), high=True)
    await turn.say("You are right here.")


app = farside.Farside({"function": function, "graph": graph()}, store=os.environ.get("FARSIDE_BENCH_STORE", "memory"))
