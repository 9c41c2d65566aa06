"""A LangChain agent with a tool that runs in the user's browser, for a page with LangChain's own React hook."""

from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from farside import Farside
from farside.langgraph import tool


class Position(BaseModel):
    latitude: float
    longitude: float


# A headless tool has no function: its body is in web/src/main.tsx.
get_location = tool(
    name="get_location",
    description="Find out where the user is.",
    result_schema=Position,
    idempotent=True,  # when the page is reloaded it may simply run again
)


class Script(BaseChatModel):
    """Plays the model, so that no key is needed: it asks where the user is, and says it."""

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        reply = AIMessage(f"Found: {messages[-1].text}")
        if messages[-1].type == "human":
            call = {"name": "get_location", "args": {}, "id": f"call_{len(messages)}"}
            reply = AIMessage("Let me see.", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=reply)])


agent = create_agent(Script(), [get_location])  # with a real model: create_agent("openai:gpt-5", [get_location])
farside = Farside({"assistant": agent}, store="sqlite:///langchain-react.db")
page = StaticFiles(directory=Path(__file__).parent / "web/dist", html=True, check_dir=False)
app = Starlette(routes=[Mount("/farside", farside), Mount("/", page)], lifespan=farside.lifespan)
