"""Ways to declare a server tool, each called in one message with a headless tool."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

from farside.langgraph import tool
from server.tests.langgraph.scripted import call
from server.tests.langgraph.table.beside import ASK, beside, bound, told


class Place(BaseModel):
    """Where to look."""

    city: str = Field(description="Its name.")
    days: int = 1


JSON_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def described(model: Any) -> dict[str, Any]:
    """What the model was told of its tools, by name."""
    functions = [convert_to_openai_tool(each)["function"] for each in model._tools]
    return {function["name"]: function for function in functions}


async def test_a_plain_function(take: Any) -> None:
    @tool
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"sunny in {city}"

    model = beside(call("weather", "w", city="Bern"))
    turn = await take(create_agent(model, [ASK, weather]))

    assert told(model) == {"ask": "here", "w": "sunny in Bern"}
    assert turn.asked == ["ask"]
    assert described(model)["weather"]["description"] == "Tell the weather."


async def test_a_name_of_its_own(take: Any) -> None:
    @tool("forecast")
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"sunny in {city}"

    model = beside(call("forecast", "w", city="Bern"))
    await take(create_agent(model, [ASK, weather]))

    assert told(model) == {"ask": "here", "w": "sunny in Bern"}
    assert bound(model) == ["ask", "forecast"]


async def test_a_description_of_its_own(take: Any) -> None:
    @tool("forecast", description="What the sky will do.")
    def weather(city: str) -> str:
        return f"sunny in {city}"

    model = beside(call("forecast", "w", city="Bern"))
    await take(create_agent(model, [ASK, weather]))

    assert told(model) == {"ask": "here", "w": "sunny in Bern"}
    assert described(model)["forecast"]["description"] == "What the sky will do."
    assert described(model)["ask"]["description"] == "Ask the page."


async def test_pydantic_arguments(take: Any) -> None:
    """LangChain checks them as well as farside does: a wrong call is told to the model, its siblings go on."""

    @tool(args_schema=Place)
    def weather(city: str, days: int) -> str:
        """Tell the weather."""
        return f"sunny in {city} for {days}"

    nearby = tool(name="nearby", args_schema=Place)
    model = beside(
        call("weather", "good", city="Bern"),
        call("weather", "bad", days=3),
        call("nearby", "here", city="Bern"),
        call("nearby", "nowhere", days=3),
    )
    turn = await take(create_agent(model, [ASK, weather, nearby]), bodies={"nearby": lambda city, days: [city, days]})

    results = turn.results
    assert {call_id: each.content for call_id, each in results.items() if each.status == "success"} == {
        "ask": "here",
        "good": "sunny in Bern for 1",
        "here": '["Bern", 1]',
    }
    assert "city: Field required" in str(results["bad"].content)
    assert str(results["nowhere"].content).startswith("Error (invalid_args): nearby: ")
    assert sorted(turn.page.executions) == [("ask", {}), ("nearby", {"city": "Bern", "days": 1})]


async def test_json_schema_arguments(take: Any) -> None:
    """LangChain does not check against a JSON Schema; farside does, for its own tools."""

    @tool(args_schema=JSON_SCHEMA)
    def weather(**place: Any) -> str:
        """Tell the weather."""
        return f"weather for {place}"

    nearby = tool(name="nearby", args_schema=JSON_SCHEMA)
    model = beside(
        call("weather", "good", city="Bern"),
        call("weather", "unchecked", town=3),
        call("nearby", "here", city="Bern"),
        call("nearby", "nowhere", town=3),
    )
    turn = await take(create_agent(model, [ASK, weather, nearby]), bodies={"nearby": lambda city: city})

    assert told(model)["good"] == "weather for {'city': 'Bern'}"
    assert told(model)["unchecked"] == "weather for {'town': 3}"
    assert told(model)["here"] == "Bern"
    assert told(model)["nowhere"].startswith("Error (invalid_args): nearby: ")
    assert sorted(turn.page.executions) == [("ask", {}), ("nearby", {"city": "Bern"})]


@pytest.mark.parametrize("name", ["config", "runtime"])
def test_reserved_names_are_refused_for_a_headless_tool(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}.*reserved"):
        tool(name="nearby", args_schema={"properties": {name: {"type": "string"}}})


async def test_reserved_names_are_not_the_models(take: Any) -> None:
    """What a model sends under a reserved name does not reach the server tool, and the page does not hear of it."""

    @tool
    def weather(city: str, config: RunnableConfig) -> str:
        """Tell the weather."""
        return f"{city}, thread {config.get('configurable', {})['thread_id']}"

    nearby = tool(name="nearby", args_schema=JSON_SCHEMA)
    forged = {"configurable": {"thread_id": "theirs"}}
    model = beside(call("weather", "w", city="Bern", config=forged), call("nearby", "n", city="Bern", config=forged))
    turn = await take(create_agent(model, [ASK, weather, nearby]), bodies={"nearby": lambda city: city})

    assert told(model)["w"] == "Bern, thread thread-1"
    assert told(model)["n"].startswith("Error (invalid_args): nearby: ")
    assert turn.page.executions == [("ask", {})]
