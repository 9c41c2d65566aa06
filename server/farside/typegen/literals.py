"""Values, keys and comments as TypeScript writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

_SURROGATE = re.compile("[\ud800-\udfff]")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)


def text(value: str) -> str:
    """A string literal."""
    return _well_formed(json.dumps(value, ensure_ascii=False))


def key(name: str) -> str:
    """A property's name in a type."""
    return name if _IDENTIFIER.fullmatch(name) else text(name)


def value(item: Any) -> str:
    """An expression for a JSON value, on one line."""
    if isinstance(item, Mapping):
        members = [f"{_member(name)}: {value(each)}" for name, each in cast("Mapping[str, Any]", item).items()]
        return f"{{ {', '.join(members)} }}" if members else "{}"
    if isinstance(item, list):
        return f"[{', '.join(value(each) for each in cast('list[Any]', item))}]"
    return text(item) if isinstance(item, str) else json.dumps(item)


def comment(words: str, indent: str = "") -> str:
    """The words as a doc comment with its line end; empty without words."""
    lines = [line.rstrip() for line in _well_formed(words).replace("*/", "*\\/").strip().splitlines()]
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return "".join([f"{indent}/**\n", *(f"{indent} * {line}".rstrip() + "\n" for line in lines), f"{indent} */\n"])


def _member(name: str) -> str:
    # In an object literal `__proto__: x` sets the prototype.
    return '["__proto__"]' if name == "__proto__" else key(name)


def _well_formed(written: str) -> str:
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
