"""Headless tools: declared here, executed in the user's browser.

:class:`HeadlessTool` knows nothing of any agent framework. ``farside.langgraph.tool`` wraps one into a LangChain tool.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from functools import cached_property
from itertools import islice
from typing import Any, cast

import jsonschema_rs
from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from farside.core.model import ToolResult, failure
from farside.errors import FarsideError, ToolError
from farside.wire.messages import Success
from farside.wire.values import check, escape

RESERVED_ARGUMENTS = frozenset({"runtime", "config", "run_manager", "callbacks", "__proto__"})
"""Argument names that agent frameworks or JavaScript would take for their own."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ANNOTATIONS = frozenset({"title", "description", "examples", "$comment", "deprecated"})
_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"})
_VALUES = frozenset({"const", "enum", "default"})

Schema = type[Any] | Mapping[str, Any] | None
"""A pydantic model, a ``typing_extensions.TypedDict``, a JSON Schema dict, or None."""


class HeadlessTool:
    """A tool without a body on the server.

    Args:
        name: 1 to 64 letters, digits, ``_`` or ``-``.
        description: what it does, for the model.
        args_schema: a pydantic model, a ``typing_extensions.TypedDict``, a JSON Schema of type object, or None for no
            arguments. A JSON Schema that says nothing of ``additionalProperties`` refuses them. A JSON Schema sees a
            value as JSON carries it: bytes are an object ``{"$bytes": string}``.
        result_schema: the same forms (a JSON Schema of any type), or None for any value.
        timeout: seconds until the call settles with ``timed_out``; None for the server's default.
        idempotent: whether it may run again when a first execution's outcome is unknown.
        title: a short name for people.

    Raises:
        ValueError: a bad name, a reserved argument name, or a schema that is none; says which and what to do.
        TypeError: an argument of the wrong type.
    """

    def __init__(
        self,
        *,
        name: str,
        description: str = "",
        args_schema: Schema = None,
        result_schema: Schema = None,
        timeout: float | None = None,
        idempotent: bool = False,
        title: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(
                f"expected a tool name of 1 to 64 letters, digits, '_' or '-', got {name!r}; rename the tool"
            )
        if timeout is not None and not 0 < timeout < math.inf:
            raise ValueError(f"tool {name!r}: expected a finite timeout in seconds above 0, or None, got {timeout!r}")
        self.name = name
        self.description = description
        self.timeout = timeout
        self.idempotent = idempotent
        self.title = title
        self.args_schema = args_schema
        self.result_schema = result_schema
        self._args = _Shape(name, "args_schema", args_schema if args_schema is not None else _NO_ARGUMENTS)
        self._result = None if result_schema is None else _Shape(name, "result_schema", result_schema)
        _check_arguments(name, self._args.json_schema)

    @property
    def args_json_schema(self) -> dict[str, Any]:
        """The arguments' canonical JSON Schema: what the model and the page are told."""
        return self._args.json_schema

    @cached_property
    def page_args_json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments as a page gets them: plain values, with the defaults filled in."""
        return self._args.parsed_json_schema()

    @property
    def result_json_schema(self) -> dict[str, Any] | None:
        """The result's canonical JSON Schema, None for any value."""
        return None if self._result is None else self._result.json_schema

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when the name, the arguments' or the result's schema changes, not when words do."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        essence = [self.name, without_prose(self.args_json_schema), without_prose(self.result_json_schema)]
        return hashlib.sha256(json.dumps(essence, sort_keys=True).encode()).hexdigest()[:16]

    def parse_args(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Check arguments and fill in defaults; returns plain JSON values.

        Raises:
            ToolError: ``invalid_args``, saying what does not fit.
        """
        try:
            parsed = self._args.parse(dict(args))
            check(parsed)
        except _Unfit as unfit:
            raise ToolError("invalid_args", f"{self.name}: {unfit}") from None
        except FarsideError as error:
            raise ToolError("invalid_args", f"{self.name}: {error.message}") from None
        return parsed

    def check_result(self, result: ToolResult) -> ToolResult:
        """The result itself, or the failure ``invalid_result`` when its value does not fit the result schema."""
        if self._result is None or not isinstance(result, Success):
            return result
        try:
            self._result.validate(result.value)
        except _Unfit as unfit:
            return failure("invalid_result", f"{self.name}: {unfit}")
        return result

    def __repr__(self) -> str:
        return f"HeadlessTool({self.name!r})"


def tool(
    *,
    name: str,
    description: str = "",
    args_schema: Schema = None,
    result_schema: Schema = None,
    timeout: float | None = None,
    idempotent: bool = False,
    title: str | None = None,
) -> HeadlessTool:
    """Declare a headless tool for a plain function agent. See :class:`HeadlessTool` for the arguments.

    For LangChain and LangGraph use ``farside.langgraph.tool``, which makes a LangChain tool of it.
    """
    return HeadlessTool(
        name=name,
        description=description,
        args_schema=args_schema,
        result_schema=result_schema,
        timeout=timeout,
        idempotent=idempotent,
        title=title,
    )


def declaration_of(tool: object) -> HeadlessTool | None:
    """The declaration that a tool is, or that it wraps, as ``farside.langgraph.tool`` does; None for anything else."""
    found = tool if isinstance(tool, HeadlessTool) else getattr(tool, "declaration", None)
    return found if isinstance(found, HeadlessTool) else None


_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


class _Unfit(Exception):  # noqa: N818 - internal
    """A value does not fit its schema; says where and why, at most a few lines: a model will read it."""

    SHOWN = 8

    def __init__(self, problems: Iterable[tuple[Iterable[str | int], str]]) -> None:
        lines = (f"{'.'.join(map(str, path))[:200] or 'value'}: {message[:300]}" for path, message in problems)
        super().__init__("; ".join(islice(lines, self.SHOWN)))


class _Shape:
    """A schema in one of its forms, and how values are put through it."""

    def __init__(self, tool_name: str, role: str, schema: Schema) -> None:
        self._adapter: TypeAdapter[Any] | None = None
        self._validator: Any = None
        if isinstance(schema, Mapping):
            self.json_schema = dict(schema)
            if role == "args_schema":
                self.json_schema.setdefault("type", "object")
                self.json_schema.setdefault("properties", {})
                self.json_schema.setdefault("additionalProperties", False)
            try:
                self._validator = jsonschema_rs.validator_for(self.json_schema)
            except (ValueError, jsonschema_rs.ValidationError) as error:
                raise ValueError(f"tool {tool_name!r}: {role} is no JSON Schema: {error}") from None
        elif isinstance(schema, type):
            try:
                self._adapter = TypeAdapter(schema)
                how = GenerateJsonSchema if role == "args_schema" else _OfResults
                self.json_schema = _unreferenced(self._adapter.json_schema(schema_generator=how))
            except (PydanticSchemaGenerationError, PydanticUserError) as error:
                raise ValueError(
                    f"tool {tool_name!r}: {role} must be a pydantic model, a typing_extensions.TypedDict or a JSON "
                    f"Schema dict; {schema.__name__} is none: {error}"
                ) from None
        else:
            raise TypeError(
                f"tool {tool_name!r}: expected {role} to be a pydantic model, a TypedDict, a JSON Schema dict or None, "
                f"got {schema!r}"
            )

    def validate(self, value: Any) -> Any:
        """Returns the validated value (for a JSON Schema the value itself), raises _Unfit."""
        if self._adapter is not None:
            try:
                return self._adapter.validate_python(value)
            except ValidationError as error:
                raise _Unfit((each["loc"], each["msg"]) for each in error.errors(include_url=False)) from None
        try:
            errors = self._validator.iter_errors(escape(value))
            problems = [(error.instance_path, error.message) for error in islice(errors, _Unfit.SHOWN)]
        except ValueError as error:  # a value of a type that JSON does not have
            raise _Unfit([((), str(error))]) from None
        if problems:
            raise _Unfit(problems)
        return value

    def parse(self, value: Any) -> Any:
        """Like validate, with defaults filled in (of a JSON Schema those of its own properties) and plain values."""
        if self._adapter is None:
            properties: dict[str, Any] = self.json_schema.get("properties", {})
            defaults = {name: deepcopy(each["default"]) for name, each in properties.items() if "default" in each}
            return self.validate({**defaults, **value})
        return self._adapter.dump_python(self.validate(value), mode="json", by_alias=True)

    def parsed_json_schema(self) -> dict[str, Any]:
        """The schema of what ``parse`` returns."""
        if self._adapter is not None:
            return _unreferenced(self._adapter.json_schema(mode="serialization", schema_generator=_OfParsed))
        properties: dict[str, Any] = self.json_schema["properties"]
        filled = [name for name, each in properties.items() if isinstance(each, Mapping) and "default" in each]
        required: list[str] = self.json_schema.get("required", [])
        there = [*required, *(name for name in filled if name not in required)]
        return {**self.json_schema, "required": there} if there else self.json_schema


class _OfResults(GenerateJsonSchema):
    """Bytes are what a page returns, which JSON carries as ``{"$bytes": string}``."""

    def bytes_schema(self, schema: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"$bytes": {"type": "string"}}, "required": ["$bytes"]}


class _OfParsed(GenerateJsonSchema):
    """Whatever has a default is there."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return field.get("required", total) if field["type"] == "typed-dict-field" else True


def _unreferenced(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that says itself what it is: that of a recursive model is only a reference into its own $defs."""
    if "$ref" not in schema:
        return schema
    name = str(schema["$ref"]).removeprefix("#/$defs/")
    return {**{key: value for key, value in schema.items() if key != "$ref"}, **schema["$defs"][name]}


def _check_arguments(name: str, schema: Mapping[str, Any]) -> None:
    if schema.get("type") != "object":
        raise ValueError(f"tool {name!r}: expected args_schema to describe an object, got type {schema.get('type')!r}")
    reserved = sorted(RESERVED_ARGUMENTS.intersection(schema.get("properties", {})))
    if reserved:
        raise ValueError(f"tool {name!r}: the argument name {reserved[0]!r} is reserved; rename the argument")


def without_prose(schema: Any, also: Collection[str] = (), *, names: bool = False) -> Any:
    """A schema without what is only for readers.

    Args:
        also: more keywords to leave out.
        names: the keys are names, not keywords.
    """
    if isinstance(schema, Mapping):
        items = cast("Mapping[str, Any]", schema).items()
        return {
            key: value
            if not names and key in _VALUES
            else without_prose(value, also, names=not names and key in _NAMES)
            for key, value in items
            if names or (key not in _ANNOTATIONS and key not in also)
        }
    if isinstance(schema, list):
        return [without_prose(item, also) for item in cast("list[Any]", schema)]
    return schema
