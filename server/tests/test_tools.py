"""Headless tools: every form of schema, what fits it, what a tool may be called, and its fingerprint."""

from datetime import date
from typing import Annotated, Any, Literal, NotRequired

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypedDict

from farside.core.model import failure, success
from farside.errors import ToolError
from farside.tools import RESERVED_ARGUMENTS, HeadlessTool, tool


class Options(BaseModel):
    """How to look."""

    model_config = ConfigDict(extra="forbid")

    accuracy: Literal["high", "low"]
    max_age: Annotated[int, Field(ge=0, description="in seconds")] = 60


class OptionsDict(TypedDict):
    accuracy: Literal["high", "low"]
    max_age: NotRequired[int]


class Numbers(RootModel[list[int]]):
    pass


JSON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"accuracy": {"enum": ["high", "low"]}, "max_age": {"type": "integer", "minimum": 0}},
    "required": ["accuracy"],
}

FORMS = pytest.mark.parametrize(
    "schema", [Options, OptionsDict, JSON_SCHEMA], ids=["model", "TypedDict", "JSON Schema"]
)


def args_of(schema: Any, args: dict[str, Any]) -> dict[str, Any]:
    return tool(name="t", args_schema=schema).parse_args(args)


@FORMS
def test_takes_arguments_that_fit(schema: Any) -> None:
    assert args_of(schema, {"accuracy": "high", "max_age": 5}) == {"accuracy": "high", "max_age": 5}
    assert args_of(schema, {"accuracy": "low"})["accuracy"] == "low"


@FORMS
@pytest.mark.parametrize(
    ("args", "place"),
    [
        ({}, "accuracy"),
        ({"accuracy": "best"}, "accuracy"),
        ({"accuracy": None}, "accuracy"),
        ({"accuracy": "high", "max_age": "soon"}, "max_age"),
        ({"accuracy": "high", "max_age": None}, "max_age"),
        ({"accuracy": "high", "max_age": 0.5}, "max_age"),
    ],
    ids=str,
)
def test_refuses_arguments_that_do_not_fit(schema: Any, args: dict[str, Any], place: str) -> None:
    with pytest.raises(ToolError) as caught:
        args_of(schema, args)
    assert caught.value.code == "invalid_args"
    assert caught.value.message.startswith("t: ")
    assert place in caught.value.message


def test_fills_in_defaults_of_a_model() -> None:
    assert args_of(Options, {"accuracy": "low"}) == {"accuracy": "low", "max_age": 60}


@pytest.mark.parametrize("schema", [Options, JSON_SCHEMA, None], ids=["model", "JSON Schema", "none"])
def test_refuses_arguments_that_nobody_declared(schema: Any) -> None:
    with pytest.raises(ToolError) as caught:
        args_of(schema, {"accuracy": "low", "color": "red"})
    assert caught.value.code == "invalid_args"
    assert "color" in caught.value.message


def test_a_json_schema_may_allow_more_arguments() -> None:
    args = {"accuracy": "low", "color": "red"}
    assert args_of({**JSON_SCHEMA, "additionalProperties": True}, args) == args
    assert JSON_SCHEMA.keys() == {"type", "properties", "required"}, "the caller's schema was changed"


def test_a_tool_without_arguments() -> None:
    bare = tool(name="t")
    assert bare.args_json_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert bare.parse_args({}) == {}


def test_arguments_become_plain_values() -> None:
    class Args(BaseModel):
        day: date
        wanted: Annotated[list[Options], Field(alias="options")]

    parsed = args_of(Args, {"day": "2020-02-29", "options": [{"accuracy": "low"}]})
    assert parsed == {"day": "2020-02-29", "options": [{"accuracy": "low", "max_age": 60}]}


def test_a_recursive_model_says_itself_what_it_is() -> None:
    schema = tool(name="t", args_schema=Tree).args_json_schema
    assert schema["type"] == "object"
    assert schema["properties"]["inner"]["items"] == {"$ref": "#/$defs/Tree"}
    assert args_of(Tree, {"inner": [{}]}) == {"inner": [{"inner": []}]}


class Tree(BaseModel):
    inner: list["Tree"] = []


def test_arguments_of_foreign_types_do_not_fit() -> None:
    with pytest.raises(ToolError) as caught:
        args_of({"properties": {"a": {"type": "string"}}}, {"a": object()})
    assert caught.value.code == "invalid_args"


# --- results ---


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (Options, {"accuracy": "high"}, {"accuracy": 1}),
        (OptionsDict, {"accuracy": "high"}, []),
        (JSON_SCHEMA, {"accuracy": "high", "more": 1}, {}),
        ({"type": "string"}, "", 1),
        ({"const": None}, None, 0),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2.0], [1.5]),
        ({"type": "integer", "maximum": 2**53 - 1}, 2**53 - 1, "1"),
        (int, 1, "one"),
        (Numbers, [1], ["one"]),
        (bytes, b"\xff", 1),
        ({"properties": {"$bytes": {"type": "string"}}, "required": ["$bytes"]}, b"\xff", {"bytes": "AA"}),
        ({"type": "object", "required": ["photo"]}, {"photo": b"\xff"}, [b"\xff"]),
    ],
    ids=str,
)
def test_checks_results(schema: Any, good: Any, bad: Any) -> None:
    declared = tool(name="t", result_schema=schema)
    assert declared.check_result(success(good)) == success(good)
    refused = declared.check_result(success(bad))
    assert refused.status == "error"
    assert refused.error.code == "invalid_result"
    assert refused.error.message.startswith("t: ")


def test_any_result_fits_no_schema() -> None:
    declared = tool(name="t")
    assert declared.result_json_schema is None
    for value in (None, 1, b"", [{"a": 1}]):
        assert declared.check_result(success(value)) == success(value)


def test_a_failure_is_not_checked() -> None:
    gone = failure("timed_out", "too late")
    assert tool(name="t", result_schema={"type": "string"}).check_result(gone) is gone


@pytest.mark.parametrize("schema", [Numbers, {"items": {"type": "integer"}}], ids=["model", "JSON Schema"])
def test_a_complaint_is_short(schema: Any) -> None:
    for value in (["x"] * 10_000, ["x" * 100_000]):
        refused = tool(name="t", result_schema=schema).check_result(success(value))
        assert refused.status == "error"
        assert len(refused.error.message) < 5000


# --- declarations ---


@pytest.mark.parametrize("name", ["a", "get_location", "Get-Location_2", "x" * 64])
def test_names(name: str) -> None:
    assert tool(name=name).name == name
    assert repr(tool(name=name)) == f"HeadlessTool({name!r})"


@pytest.mark.parametrize("name", ["", "get location", "a.b", "é", "x" * 65, "a\n", None, 1])
def test_bad_names(name: Any) -> None:
    with pytest.raises(ValueError, match="rename the tool"):
        tool(name=name)


@pytest.mark.parametrize("name", sorted(RESERVED_ARGUMENTS))
def test_reserved_arguments(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' is reserved"):
        tool(name="t", args_schema={"properties": {name: {}}})


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_bad_timeouts(timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        tool(name="t", timeout=timeout)


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"type": "nonsense"}, ValueError),
        ({"properties": 5}, ValueError),
        ({"type": "array"}, ValueError),
        ({"type": ["object", "null"]}, ValueError),
        (int, ValueError),
        (object, ValueError),
        ("Options", TypeError),
        (Options(accuracy="low"), TypeError),
        ([], TypeError),
    ],
    ids=str,
)
def test_bad_schemas(schema: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="tool 't'"):
        tool(name="t", args_schema=schema)


def test_keeps_what_is_declared() -> None:
    declared = HeadlessTool(name="t", description="d", timeout=1.5, idempotent=True, title="T")
    assert (declared.description, declared.timeout, declared.idempotent, declared.title) == ("d", 1.5, True, "T")


# --- fingerprints ---


def fingerprint(args: Any = None, result: Any = None, name: str = "t", **words: Any) -> str:
    return tool(name=name, args_schema=args, result_schema=result, **words).fingerprint


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_fingerprint_is_16_hex_digits_and_stays() -> None:
    """Pages are built with it: a change of these digits makes every built page look out of date."""
    assert fingerprint() == "03b440b383622d11"
    assert fingerprint(JSON_SCHEMA, {"type": "string"}) == "33b465366c1755c6"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (props(a={"type": "string"}), props(a={"type": "integer"})),
        (props(a={}), props(b={})),
        (props(a={}), {**props(a={}), "required": ["a"]}),
        (props(a={"default": 1}), props(a={"default": 2})),
        (props(a={"const": {"title": 1}}), props(a={"const": {"title": 2}})),
        (props(a={"enum": [{"description": 1}]}), props(a={"enum": [{}]})),
        (props(), props(title={"type": "string"})),
        (props(title={"type": "string"}), props(title={"type": "integer"})),
        (props(description={}), props(examples={})),
        (props(properties={"type": "string"}), props(properties={"type": "integer"})),
        (props(a=props(title={})), props(a=props())),
        ({**props(), "definitions": {"title": {}}}, {**props(), "definitions": {}}),
        (JSON_SCHEMA, {**JSON_SCHEMA, "additionalProperties": True}),
    ],
    ids=str,
)
def test_fingerprints_change_with_schemas(one: Any, other: Any) -> None:
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(None, one) != fingerprint(None, other)


def test_fingerprints_change_with_names_and_places() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    assert len({fingerprint(), fingerprint(name="u"), fingerprint(None, schema), fingerprint(None, {})}) == 4


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            props(a={}),
            props(a={"title": "A", "description": "B", "examples": [1], "$comment": "C", "deprecated": True}),
        ),
        (
            props(a=props(b={})),
            {**props(a={"properties": {"b": {"title": "B"}}, "type": "object"}), "description": "D"},
        ),
        ({"properties": {"a": {}, "b": {}}, "type": "object"}, {"type": "object", "properties": {"b": {}, "a": {}}}),
        ({**props(), "$defs": {"x": {"title": "X"}}}, {**props(), "$defs": {"x": {}}}),
        (props(title={"title": "Title"}), props(title={})),
    ],
    ids=str,
)
def test_fingerprints_stay_when_words_or_order_change(one: Any, other: Any) -> None:
    assert fingerprint(one) == fingerprint(other)


def test_fingerprints_stay_when_the_tool_is_described_otherwise() -> None:
    assert fingerprint() == fingerprint(description="d", title="T", timeout=1, idempotent=True)


def test_a_model_and_its_json_schema_are_the_same_tool() -> None:
    schema = tool(name="t", args_schema=Options).args_json_schema
    assert fingerprint(Options) == fingerprint(schema)
