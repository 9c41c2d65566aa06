from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from farside.langgraph import HeadlessTool, tool
from farside.tools import HeadlessTool as Declaration


class Request(BaseModel):
    """Where to look."""

    city: str = Field(description="Its name.", min_length=1)
    radius: int = 5


class RequestDict(TypedDict):
    city: str


class Position(BaseModel):
    latitude: float


JSON_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "radius": {"$ref": "#/$defs/Radius"}},
    "required": ["city"],
    "$defs": {"Radius": {"type": "integer"}},
}


def test_a_function_becomes_langchains_tool() -> None:
    @tool
    def plain(x: int) -> int:
        """Add."""
        return x

    @tool("named", return_direct=True)
    def other(x: int) -> int:
        """Add."""
        return x

    @tool(description="Described.", parse_docstring=False)
    def described(x: int) -> int:
        return x

    runnable = tool("shout", PromptTemplate.from_template("{city}!"), description="Shout.")

    assert isinstance(plain, StructuredTool)
    assert plain.invoke({"x": 1}) == 1
    assert (other.name, other.return_direct) == ("named", True)
    assert described.description == "Described."
    assert runnable.name == "shout"


def test_it_behaves_as_langchains_tool_for_wrong_use() -> None:
    wrong: Any
    for wrong in ({"infer_schema": True, "nonsense": 2}, {"nonsense": 2}):
        with pytest.raises(TypeError) as theirs:
            langchain_tool(**wrong)
        with pytest.raises(TypeError) as ours:
            tool(**wrong)
        assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((len,), {"name": "x"}, "got both"),
        (("x",), {"name": "x"}, "got both"),
        ((), {"name": "x", "arg_schema": None}, "got 'arg_schema'"),
        ((), {"description": "d", "timeout": 3}, "'timeout' describes a headless tool"),
        ((len,), {"idempotent": True}, "'idempotent' describes a headless tool"),
    ],
)
def test_mixtures_are_refused(arguments: Any, keywords: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tool(*arguments, **keywords)


@pytest.mark.parametrize("name", ["runtime", "config", "run_manager", "callbacks"])
def test_reserved_arguments_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="reserved"):
        tool(name="x", args_schema={"properties": {name: {"type": "string"}}})


def test_a_declaration_is_a_langchain_tool() -> None:
    where = tool(
        name="where",
        description="Where it is.",
        args_schema=Request,
        result_schema=Position,
        timeout=30,
        idempotent=True,
        title="Where",
    )

    assert isinstance(where, HeadlessTool)
    assert isinstance(where, BaseTool)
    assert where.metadata == {"headless_tool": True}
    assert isinstance(where.declaration, Declaration)
    declared = where.declaration
    assert (declared.timeout, declared.idempotent, declared.title) == (30, True, "Where")
    assert set(where.args) == {"city", "radius"}
    assert "declaration" not in where.model_dump()


@pytest.mark.parametrize("schema", [Request, RequestDict, JSON_SCHEMA, None])
@pytest.mark.parametrize("strict", [None, True])
def test_a_model_is_told_the_schema(schema: Any, strict: bool | None) -> None:
    where = tool(name="where", description="Where it is.", args_schema=schema)

    function = convert_to_openai_tool(where, strict=strict)["function"]

    assert (function["name"], function["description"]) == ("where", "Where it is.")
    assert function["parameters"]["type"] == "object"
    assert ("city" in function["parameters"]["properties"]) == (schema is not None)
    assert isinstance(where.args, dict)
    assert where.get_input_schema() is not None


@pytest.mark.parametrize("schema", [Request, RequestDict, JSON_SCHEMA, None])
def test_copies_and_pickles_work(schema: Any) -> None:
    where = tool(name="where", args_schema=schema, result_schema=Position, timeout=3, title="Where")

    for other in (
        copy.copy(where),
        copy.deepcopy(where),
        where.model_copy(),
        where.model_copy(deep=True),
        where.model_copy(update={"description": "New."}),
        pickle.loads(pickle.dumps(where)),  # noqa: S301
    ):
        assert other.name == "where"
        assert other.declaration.fingerprint == where.declaration.fingerprint
        assert other.declaration.timeout == 3
        assert other.metadata == {"headless_tool": True}
        assert pickle.loads(pickle.dumps(other)).declaration.title == "Where"  # noqa: S301


def test_it_can_be_made_without_the_function() -> None:
    assert HeadlessTool(name="where").declaration.name == "where"


def typing_of_the_forms() -> None:
    """Never called: the type checker reads it."""
    headless: HeadlessTool = tool(name="x")
    decorated: BaseTool = tool(description="d")(len)
    of_function: BaseTool = tool(len)
    named: BaseTool = tool("x")(len)
    of_runnable: BaseTool = tool("x", RunnableLambda(len))
    del headless, decorated, of_function, named, of_runnable
