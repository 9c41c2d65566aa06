"""The assistant: a LangChain agent whose tools run in the user's browser.

The tools are declared here; ``web/src/tools`` has their bodies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from examples.assistant.scripted_model import ScriptedModel
from farside.langgraph import HeadlessTool, tool

# --- where am I ------------------------------------------------------------------------------------------------


class Position(BaseModel):
    """Degrees, and how many metres they may be off."""

    latitude: float = Field(ge=-90, le=90)
    longitude: float = Field(ge=-180, le=180)
    accuracy: float = Field(ge=0)


get_location = tool(
    name="get_location",
    title="Where am I",
    description="Find out where the user is: latitude, longitude, accuracy in metres. The user may have to allow it.",
    result_schema=Position,
    timeout=30,
    idempotent=True,
)

# --- copy and paste --------------------------------------------------------------------------------------------


class Copying(BaseModel):
    text: str = Field(min_length=1, max_length=100_000, description="The text to put on the clipboard.")


class Copied(BaseModel):
    characters: int


class Pasted(BaseModel):
    text: str
    truncated: bool = Field(description="Whether the clipboard holds more than this.")


copy_text = tool(
    name="copy_text",
    title="Copy",
    description="Put a text on the user's clipboard. It replaces what is there.",
    args_schema=Copying,
    result_schema=Copied,
    timeout=60,
    idempotent=False,  # meanwhile the user may have copied something else, which a second run would destroy
)
paste_text = tool(
    name="paste_text",
    title="Paste",
    description="Read the text on the user's clipboard. The user may have to allow it.",
    result_schema=Pasted,
    timeout=60,
    idempotent=True,
)

# --- remember and recall ---------------------------------------------------------------------------------------


class Memory(BaseModel):
    key: str = Field(min_length=1, max_length=200, description="What it is about, for example: motto.")
    value: str = Field(min_length=1, max_length=10_000, description="What to remember about it.")


class Recalling(BaseModel):
    key: str | None = Field(None, max_length=200, description="What to recall; leave it out for everything.")


class Memories(BaseModel):
    entries: list[Memory]


remember = tool(
    name="remember",
    title="Remember",
    description="Remember something in the user's browser, beyond this conversation. A known key gets the new value.",
    args_schema=Memory,
    result_schema=Memory,
    timeout=15,
    idempotent=True,
)
recall = tool(
    name="recall",
    title="Recall",
    description="Look up what was remembered in the user's browser: one key, regardless of case, or everything.",
    args_schema=Recalling,
    result_schema=Memories,
    timeout=15,
    idempotent=True,
)

# --- draw a chart ----------------------------------------------------------------------------------------------

Number = Annotated[float, Field(allow_inf_nan=False)]


class ChartRequest(BaseModel):
    values: list[Number] = Field(min_length=1, max_length=100)
    kind: Literal["bar", "line"] = "bar"
    title: str = Field("", max_length=100)


class Chart(BaseModel):
    image: bytes = Field(description="The picture, which the user sees.")
    mime_type: Literal["image/png"]
    width: int
    height: int


draw_chart = tool(
    name="draw_chart",
    title="Draw a chart",
    description="Draw a bar or line chart of some numbers. The user sees it in the conversation.",
    args_schema=ChartRequest,
    result_schema=Chart,
    timeout=30,
    idempotent=True,
)

# --- the agent -------------------------------------------------------------------------------------------------

TOOLS: tuple[HeadlessTool, ...] = (get_location, copy_text, paste_text, remember, recall, draw_chart)

PROMPT = """You are a helpful assistant inside a web page. Your tools run in the user's browser.
Use them whenever they help, several at once if they do not depend on each other. Answer briefly.
If a tool fails, say what went wrong in plain words and what the user can do about it."""

_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "mistralai": "MISTRAL_API_KEY"}
"""The keys that a provider's package misses only when the model is asked. Others say so at once."""


class ModelUnavailableError(Exception):
    """The wanted model cannot be used; the message says why and what to do."""


def choose_model(environment: Mapping[str, str] = os.environ) -> tuple[str | None, BaseChatModel]:
    """The model that ``FARSIDE_MODEL`` names as ``provider:name``, with this name; else None and the scripted one.

    Raises:
        ModelUnavailableError: the provider's package or key is missing, or there is no such provider.
    """
    name = environment.get("FARSIDE_MODEL", "").strip()
    if not name:
        return None, ScriptedModel()
    provider, colon, model = name.partition(":")
    if not (provider and colon and model):
        raise ModelUnavailableError(
            f"FARSIDE_MODEL={name}: expected provider:name, for example openai:gpt-5; unset it for the scripted model"
        )
    try:
        chat_model = init_chat_model(model, model_provider=provider)
    except ImportError as error:
        raise ModelUnavailableError(f"FARSIDE_MODEL={name}: the provider's package is missing. {error}") from error
    except Exception as error:  # each provider has its own for a missing key
        raise ModelUnavailableError(f"FARSIDE_MODEL={name}: {error}") from error
    if provider in _KEYS and not environment.get(_KEYS[provider]):
        raise ModelUnavailableError(f"FARSIDE_MODEL={name}: the API key is missing. Set {_KEYS[provider]}")
    return name, chat_model


def make_agent(model: BaseChatModel) -> Any:
    """The agent, to be served by ``Farside``."""
    return create_agent(model, list(TOOLS), system_prompt=PROMPT)
