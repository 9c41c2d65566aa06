"""The TypeScript type of a JSON Schema. What a type cannot say is left out; what it cannot express is ``unknown``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from farside.typegen import literals

_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_OF_OBJECTS = ("properties", "required", "additionalProperties", "patternProperties")
_OF_ARRAYS = ("items", "prefixItems")


class Types:
    """Declares the types of one schema, each definition that it refers to as a type of its own.

    Args:
        root: the schema.
        name: the type's name.
        definition: makes a name for a definition's type, from that of the definition.
        returned: whether a page makes the values, not gets them: what is optional may be undefined then, and what has
            the form of a medium be a ``Blob``.
    """

    def __init__(
        self, root: Mapping[str, Any] | bool, name: str, definition: Callable[[str], str], *, returned: bool = False
    ) -> None:
        self._root = root
        self._definition = definition
        self._returned = returned
        self._names = {"#": name}

    def declarations(self) -> Iterator[str]:
        """The schema's own type, then those that it needs."""
        declared = 0
        while declared < len(self._names):
            ref, name = list(self._names.items())[declared]
            yield self._declaration(name, self._target(ref), ref)
            declared += 1

    def _declaration(self, name: str, schema: Any, ref: str) -> str:
        made = "unknown" if ref in self._heads(schema) else self._of(schema, "")
        is_interface = made.startswith("{\n") and made.endswith("\n}") and "\n}" not in made[:-2]
        declared = f"interface {name} {made}" if is_interface else f"type {name} = {made};"
        return f"{_words(schema)}export {declared}\n"

    def _of(self, schema: Any, indent: str) -> str:
        if not isinstance(schema, Mapping):
            return "never" if schema is False else "unknown"
        parts = [part for part in self._parts(cast("Mapping[str, Any]", schema), indent) if part != "unknown"]
        return _joined(parts, " & ") if parts else "unknown"

    def _parts(self, schema: Mapping[str, Any], indent: str) -> Iterator[str]:
        """What holds of a value all at once."""
        if "$ref" in schema:
            yield self._reference(schema["$ref"])
        if "const" in schema:
            yield _literal(schema["const"])
        elif "enum" in schema:
            yield _union(_literal(each) for each in schema["enum"])
        else:
            yield self._typed(schema, indent)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield _union(self._of(each, indent) for each in schema[keyword])
        for each in schema.get("allOf", ()):
            yield self._of(each, indent)

    def _typed(self, schema: Mapping[str, Any], indent: str) -> str:
        named = schema.get("type")
        if isinstance(named, str):
            kinds = [named]
        elif isinstance(named, list):
            kinds = cast("list[str]", named)
        else:
            kinds = [
                kind
                for kind, keywords in (("object", _OF_OBJECTS), ("array", _OF_ARRAYS))
                if any(keyword in schema for keyword in keywords)
            ]
        if not kinds:
            return "unknown"
        return _union(
            self._object(schema, indent)
            if kind == "object"
            else self._array(schema, indent)
            if kind == "array"
            else _PRIMITIVES.get(kind, "unknown")
            for kind in kinds
        )

    def _object(self, schema: Mapping[str, Any], indent: str) -> str:
        properties: Mapping[str, Any] = schema.get("properties", {})
        required: Sequence[str] = schema.get("required", ())
        others: Any = schema.get("additionalProperties", bool(not properties and not required))
        if schema.get("patternProperties"):
            others = True
        if set(properties) == {"$bytes"}:
            return "Uint8Array"
        inner = f"{indent}  "
        lines = [
            f"{_words(each, inner)}{inner}{literals.key(name)}{self._member(each, inner, name in required)};\n"
            for name, each in properties.items()
        ]
        lines += [f"{inner}{literals.key(name)}: unknown;\n" for name in required if name not in properties]
        if not lines:
            return "Record<string, never>" if others is False else f"{{ [key: string]: {self._of(others, indent)} }}"
        if (others is not False and "additionalProperties" in schema) or schema.get("patternProperties"):
            lines.append(f"{inner}[key: string]: unknown;\n")
        made = f"{{\n{''.join(lines)}{indent}}}"
        return f"Blob | {made}" if self._returned and _is_medium(properties) else made

    def _member(self, schema: Any, indent: str, is_required: bool) -> str:
        made = self._of(schema, indent)
        if is_required:
            return f": {made}"
        return f"?: {_union([made, 'undefined'])}" if self._returned else f"?: {made}"

    def _array(self, schema: Mapping[str, Any], indent: str) -> str:
        first: Sequence[Any] = schema.get("prefixItems", ())
        rest = self._of(schema.get("items", True), indent)
        if not first:
            return f"{rest}[]" if re.fullmatch(r"[\w$\[\]]+", rest) else f"Array<{rest}>"
        least = schema.get("minItems", 0)
        items = [
            made if index < least else made + "?" if re.fullmatch(r"[\w$\[\]]+", made) else f"({made})?"
            for index, made in enumerate(self._of(each, indent) for each in first)
        ]
        if rest != "never" and schema.get("maxItems", len(first) + 1) > len(first):
            items.append(f"...Array<{rest}>")
        return f"[{', '.join(items)}]"

    def _reference(self, ref: Any) -> str:
        if not isinstance(ref, str) or self._target(ref) is None:
            return "unknown"
        if ref not in self._names:
            self._names[ref] = self._definition(_segments(ref)[-1])
        return self._names[ref]

    def _target(self, ref: str) -> Any:
        """What a reference within the schema names, None where it names nothing there."""
        if ref != "#" and not ref.startswith("#/"):
            return None
        found: Any = self._root
        for segment in _segments(ref):
            if isinstance(found, list) and segment.isdigit() and int(segment) < len(cast("list[Any]", found)):
                found = cast("list[Any]", found)[int(segment)]
            elif isinstance(found, Mapping) and segment in found:
                found = cast("Mapping[str, Any]", found)[segment]
            else:
                return None
        return cast("Any", found) if isinstance(found, (Mapping, bool)) else None

    def _heads(self, schema: Any) -> set[str]:
        """The references that a type is made of without an object or array between: it must not be its own."""
        found: set[str] = set()
        waiting = [schema]
        while waiting:
            each = waiting.pop()
            if not isinstance(each, Mapping):
                continue
            fields = cast("Mapping[str, Any]", each)
            ref = fields.get("$ref")
            if isinstance(ref, str) and ref not in found:
                found.add(ref)
                waiting.append(self._target(ref))
            waiting += [inner for keyword in ("anyOf", "oneOf", "allOf") for inner in fields.get(keyword, ())]
        return found


def _segments(ref: str) -> list[str]:
    """The steps of a JSON pointer."""
    return [unquote(each).replace("~1", "/").replace("~0", "~") for each in ref.split("/")[1:]]


def _words(schema: Any, indent: str = "") -> str:
    if not isinstance(schema, Mapping):
        return ""
    return literals.comment(str(cast("Mapping[str, Any]", schema).get("description", "")), indent)


def _is_medium(properties: Mapping[str, Any]) -> bool:
    """Whether it is what a ``Blob`` is carried as."""
    if not {"mime_type", "data"} <= properties.keys() <= {"mime_type", "data", "name"}:
        return False
    data = properties["data"]
    return isinstance(data, Mapping) and set(cast("Mapping[str, Any]", data).get("properties", ())) == {"$bytes"}


def _literal(value: Any) -> str:
    """The type that only this value has."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        members = [f"{literals.key(name)}: {_literal(each)}" for name, each in fields.items()]
        return f"{{ {'; '.join(members)} }}" if members else "Record<string, never>"
    if isinstance(value, list):
        return f"[{', '.join(_literal(each) for each in cast('list[Any]', value))}]"
    return literals.value(value)


def _union(types: Iterable[str]) -> str:
    found = [each for each in dict.fromkeys(types) if each != "never"]
    return "unknown" if "unknown" in found else _joined(found, " | ") if found else "never"


def _joined(types: Sequence[str], operator: str) -> str:
    if len(types) == 1:
        return types[0]
    # A union in a union needs no parentheses, but anything else may.
    return operator.join(
        each if re.fullmatch(r"[\w$\[\]]+|\"[^\"]*\"|\{[^{}|&]*\}", each) else f"({each})" for each in types
    )
