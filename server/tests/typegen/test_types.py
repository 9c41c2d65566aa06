"""The TypeScript types of JSON Schemas, as text; that TypeScript takes them is shown in e2e/types."""

from __future__ import annotations

from typing import Any

import pytest

from farside.typegen.names import Names
from farside.typegen.types import Types

BYTES = {"type": "object", "properties": {"$bytes": {"type": "string"}}, "required": ["$bytes"]}


def types_of(schema: Any, *, returned: bool = False) -> str:
    """The declarations without what all have."""
    names = Names()
    made = Types(schema, names.type("t"), lambda name: names.type("t", name), returned=returned).declarations()
    return "".join(each.removeprefix("export ") for each in made)


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        (True, "unknown"),
        (False, "never"),
        ({}, "unknown"),
        ({"type": "string", "format": "date"}, "string"),
        ({"type": "integer", "minimum": 0}, "number"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": "nonsense"}, "unknown"),
        ({"const": None}, "null"),
        ({"const": "a", "type": "string"}, '"a"'),
        ({"const": {"a-b": [1, -1.5, True], "c": {}}}, '{ "a-b": [1, -1.5, true]; c: Record<string, never> }'),
        ({"enum": ["a", 1, None, "a", "\ud800\u2028"]}, '"a" | 1 | null | "\\ud800\u2028"'),
        ({"enum": []}, "never"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"anyOf": [{"type": "string"}, {}]}, "unknown"),
        ({"oneOf": [{"type": "string"}, False]}, "string"),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "string"),
        ({"allOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]}, "(1 | 2) & (2 | 3)"),
        ({"type": "array"}, "unknown[]"),
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"items": {"type": ["string", "null"]}}, "Array<string | null>"),
        ({"prefixItems": [{"type": "string"}, {}], "minItems": 2, "maxItems": 2}, "[string, unknown]"),
        ({"prefixItems": [{"type": "string"}, {"enum": [1, 2]}], "minItems": 1, "items": False}, "[string, (1 | 2)?]"),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "null"}}, "[string?, ...Array<null>]"),
        ({"type": "object"}, "{ [key: string]: unknown }"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{ [key: string]: number }"),
        ({"type": "object", "properties": {}, "additionalProperties": False}, "Record<string, never>"),
        (BYTES, "Uint8Array"),
        ({"$ref": "#/$defs/no"}, "unknown"),
        ({"$ref": "other.json"}, "unknown"),
        ({"$ref": "#"}, "unknown"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}}, "unknown"),
    ],
    ids=str,
)
def test_a_schema_that_is_no_object_of_its_own(schema: Any, written: str) -> None:
    made = types_of(schema)
    assert made in (f"type T = {written};\n", f"type T = TA;\ntype TA = {written};\n")


def test_an_object_is_an_interface_with_its_prose() -> None:
    schema = {
        "type": "object",
        "description": "What is looked for.",
        "properties": {
            "a": {"type": "string", "description": "One line. */"},
            "b-c": {"type": "object", "properties": {"d": {}}, "required": ["d"], "description": "Two\n\nlines."},
        },
        "required": ["a", "e"],
        "additionalProperties": {"type": "string"},
    }
    assert types_of(schema) == (
        "/** What is looked for. */\nexport interface T {\n  /** One line. *\\/ */\n  a: string;\n"
        '  /**\n   * Two\n   *\n   * lines.\n   */\n  "b-c"?: {\n    d: unknown;\n  };\n'
        "  e: unknown;\n  [key: string]: unknown;\n}\n"
    )


def test_what_is_returned_may_be_undefined_where_it_is_optional_and_a_blob_where_it_is_a_medium() -> None:
    medium = {
        "type": "object",
        "properties": {"mime_type": {"type": "string"}, "data": BYTES},
        "required": ["mime_type", "data"],
    }
    given = "{\n  mime_type: string;\n  data: Uint8Array;\n}"
    assert types_of(medium) == f"interface T {given}\n"
    assert types_of(medium, returned=True) == f"type T = Blob | {given};\n"
    optional = {"properties": {"a": {"type": "null"}, "b": {}}}
    assert types_of(optional, returned=True) == "interface T {\n  a?: null | undefined;\n  b?: unknown;\n}\n"
    assert types_of(optional) == "interface T {\n  a?: null;\n  b?: unknown;\n}\n"


def test_definitions_are_types_of_their_own_also_when_they_need_each_other() -> None:
    schema = {
        "anyOf": [{"$ref": "#/$defs/node"}, {"$ref": "#/$defs/a~1b"}, {"$ref": "#/$defs/a%20b"}],
        "$defs": {
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "all": {"$ref": "#"}}},
            "a/b": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            "a b": {"type": "array", "prefixItems": [{"$ref": "#/$defs/a~1b/items"}], "items": False},
            "unused": {"type": "string"},
        },
    }
    assert types_of(schema) == (
        "type T = TNode | TAB | TAB2;\ninterface TNode {\n  next?: TNode;\n  all?: T;\n}\n"
        "type TAB = TNode[];\ntype TAB2 = [TItems?];\ntype TItems = TNode;\n"
    )


def test_names_are_identifiers_and_given_once() -> None:
    names = Names()
    tools = ["get_location", "get-location", "delete", "2d", "declare", "a-b", "a_b", "undefined", "x" * 64]
    assert [names.value(name) for name in tools] == [
        *("get_location", "get_location2", "delete_", "_2d", "declare_", "a_b", "a_b2", "undefined_", "x" * 64),
    ]
    types = [("get_location", "Args"), ("get-location", "Args"), ("2d", "é"), ("uint8", "array"), ("-",)]
    assert [names.type(*words) for words in types] == [
        *("GetLocationArgs", "GetLocationArgs2", "_2d", "Uint8Array2", "Type")
    ]
