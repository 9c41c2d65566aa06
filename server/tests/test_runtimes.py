"""All runtimes against the contract."""

from __future__ import annotations

import itertools
import json
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic_ai import ModelMessage, ModelResponse
from pydantic_ai.messages import ToolReturnPart

import farside.langgraph
import farside.tools
from farside.core.ports import Runtime
from farside.functions import FunctionRuntime
from farside.langgraph import LangGraphRuntime
from farside.pydantic_ai import HeadlessToolset, PydanticAIRuntime
from farside.testing.player import scripted
from farside.testing.runtimes import RuntimeContract, Script
from server.tests.langgraph.scripted import Streaming, call
from server.tests.pydantic_ai import scripted as pydantic_ai

ASK: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}


class TestFunctionRuntime(RuntimeContract):
    def runtime(self, script: Script) -> Runtime:
        return FunctionRuntime(scripted(script, [{"name": "ask", "args_schema": ASK}]))


class TestLangGraphRuntime(RuntimeContract):
    def setup_method(self) -> None:
        self.saver = InMemorySaver()

    def runtime(self, script: Script) -> Runtime:
        ids = itertools.count(1)

        def follow(messages: list[BaseMessage]) -> AIMessage:
            last = max(i for i, message in enumerate(messages) if message.type == "human")
            results = [_shown(message) for message in messages[last + 1 :] if message.type == "tool"]
            action = script[min(len(messages[last + 1 :]), 1) if len(script) > 1 else 0]
            if "calls" in action:
                return AIMessage(
                    "", tool_calls=[call(c["name"], f"call-{next(ids)}", **c["args"]) for c in action["calls"]]
                )
            if "fail" in action:
                raise RuntimeError(action["fail"])
            return AIMessage(action["say"].format(*results))

        tool = farside.langgraph.tool(name="ask", description="Asks.", args_schema=ASK)
        return LangGraphRuntime(create_agent(Streaming(script=follow), [tool]), checkpointer=self.saver)


class TestPydanticAIRuntime(RuntimeContract):
    def runtime(self, script: Script) -> Runtime:
        ids = itertools.count(1)

        def follow(messages: list[ModelMessage]) -> ModelResponse:
            turn = pydantic_ai.since_human(messages)
            action = script[min(len(turn), 1) if len(script) > 1 else 0]
            if "calls" in action:
                calls = [pydantic_ai.call(c["name"], f"call-{next(ids)}", **c["args"]) for c in action["calls"]]
                return pydantic_ai.calling(*calls)
            if "fail" in action:
                raise RuntimeError(action["fail"])
            return pydantic_ai.saying(action["say"].format(*map(_returned, pydantic_ai.returns(turn))))

        tool = farside.tools.tool(name="ask", description="Asks.", args_schema=ASK)
        return PydanticAIRuntime(pydantic_ai.scripted(follow, toolsets=[HeadlessToolset([tool])]))


def _returned(part: ToolReturnPart) -> str:
    if part.outcome == "failed":
        return str(part.content).split(":")[0].lower().translate(str.maketrans("", "", "()"))
    return json.dumps(part.content, separators=(",", ":"))


def _shown(message: Any) -> str:
    if message.status == "error":
        return message.content.split(":")[0].lower().translate(str.maketrans("", "", "()"))
    try:
        return json.dumps(json.loads(message.content), separators=(",", ":"))
    except ValueError:
        return json.dumps(message.content)
