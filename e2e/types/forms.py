"""Tools with schemas of every form."""

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from farside import Farside, Turn, tool


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Node(BaseModel):
    """A node, and what is below it."""

    name: str
    children: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


class Args(BaseModel):
    model_config = ConfigDict(extra="forbid")

    day: date
    color: Color = Color.RED
    pair: tuple[int, str]
    numbers: tuple[float, ...] = ()
    maybe: int | None = None
    tree: Node
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    by_name: Annotated[dict[str, int], Field(alias="by-name", description="Not the end: */\nTwo lines.")]
    anything: Any


class Photo(BaseModel):
    mime_type: str
    data: bytes
    name: str | None = None


class Options(TypedDict):
    there: bool
    maybe: NotRequired[list[str]]


JSON = {
    "$defs": {
        "Json": {
            "anyOf": [
                {"type": ["string", "number", "boolean", "null"]},
                {"type": "array", "items": {"$ref": "#/$defs/Json"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/Json"}},
            ]
        }
    },
    "properties": {
        "json": {"$ref": "#/$defs/Json"},
        "default": {"enum": [1, "b", None], "default": 1},
        "self": {"$ref": "#"},
        "rest": {"prefixItems": [{"type": "string"}], "minItems": 1, "items": {"type": "integer"}},
        "open": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
    },
}

tools = [
    tool(name="pydantic-model", args_schema=Args, result_schema=Photo),
    tool(name="delete", args_schema=JSON, result_schema={"type": "array", "items": {"type": ["integer", "null"]}}),
    tool(name="declare", args_schema=Options, result_schema=Node),
    tool(name="2d", result_schema={"enum": ["</script>", "\u2028", "`${x}`"]}),
    tool(name="then", result_schema={"properties": {"__proto__": {"type": "string"}}}),
]


async def agent(turn: Turn, message: object) -> None:
    """Calls nothing."""


app = Farside({"agent": agent}, store="memory", tools=tools)
