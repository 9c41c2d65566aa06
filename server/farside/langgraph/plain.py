"""Whatever an agent holds, as values of the data model.

An agent's state, its tools' inputs and outputs and its custom events are arbitrary Python objects. Showing them must
never end a run, so everything has a plain form here; what has no better one becomes text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from enum import Enum
from math import isfinite, isnan
from typing import Any, cast

from langchain_core.messages import ToolMessage
from pydantic import BaseModel

from farside.langgraph.media import is_of_page
from farside.wire.values import MAX_NUMBER

_DEPTH = 56
"""How many arrays and objects may lie in one another: the wire's limit less what the envelope needs."""


def plain(value: Any) -> Any:
    """The value in the data model of :mod:`farside.wire.values`; never raises.

    A number beyond ±(2^53-1) becomes a string, NaN and the infinities None, a date its ISO form, a set or tuple a list,
    an enum its value, a model or dataclass an object, a key that is no string its ``str``. ``__proto__`` is dropped,
    bytes stay bytes, and anything unknown becomes its ``str``. A tool message comes without the media that
    a page has sent.
    """
    return _plain(value, _DEPTH, ())


def has_bytes(value: Any) -> bool:
    """Whether bytes lie anywhere in a plain value."""
    kind = cast("type[Any]", type(value))
    if kind is bytes:
        return True
    if kind is list:
        return any(map(has_bytes, value))
    return kind is dict and any(map(has_bytes, value.values()))


def _plain(value: Any, depth: int, path: tuple[int, ...]) -> Any:
    kind = cast("type[Any]", type(value))
    if value is None or kind is bool or kind is bytes:
        return value
    if kind is str:
        return value if value.isascii() else _well_formed(value)
    if kind is int:
        return value if -MAX_NUMBER <= value <= MAX_NUMBER else str(value)
    if kind is float:
        return _finite(value)
    try:
        if isinstance(value, Enum):
            return _plain(value.value, depth, path)
        if isinstance(value, (str, int, float, bytearray, memoryview)):
            return _plain(_exact(cast("Any", value)), depth, path)
        if isinstance(value, (datetime, date, time)):
            return value.isoformat()
        return _container(value, depth, path)
    except Exception:  # the value's own code failed: its attributes, its serializer, its __str__
        return f"<{kind.__name__}>"


def _container(value: Any, depth: int, path: tuple[int, ...]) -> Any:
    identity = id(value)
    inner: Any
    if isinstance(value, BaseModel):
        inner = value.model_dump(warnings=False)
        if isinstance(value, ToolMessage):
            inner["content"] = _without_media(inner["content"])
    elif isinstance(value, Mapping):
        inner = cast("Mapping[Any, Any]", value)
    elif isinstance(value, (list, tuple, deque, AbstractSet)):
        inner = list(cast("Iterable[Any]", value))
    elif is_dataclass(value) and not isinstance(value, type):
        inner = {field.name: getattr(value, field.name) for field in fields(value)}
    else:
        return _well_formed(str(value))
    if depth <= 0 or identity in path:
        return "<too deep>"
    path = (*path, identity)
    if isinstance(inner, list):
        return [_plain(item, depth - 1, path) for item in cast("list[Any]", inner)]
    return {
        name: _plain(item, depth - 1, path)
        for key, item in cast("Mapping[Any, Any]", inner).items()
        if (name := _key(key)) != "__proto__"
    }


def _without_media(content: Any) -> Any:
    """A message's content without what a page has sent, and has."""
    if not isinstance(content, list):
        return content
    return [
        {key: value for key, value in cast("dict[str, Any]", block).items() if key != "base64"}
        if isinstance(block, dict) and is_of_page(cast("dict[str, Any]", block))
        else block
        for block in cast("list[Any]", content)
    ]


def _key(key: Any) -> str:
    key = key.value if isinstance(key, Enum) else key
    return _well_formed(str(key))


def _finite(value: float) -> float | str | None:
    if isnan(value) or not isfinite(value):
        return None
    return value if -MAX_NUMBER <= value <= MAX_NUMBER else repr(value)


def _exact(value: Any) -> Any:
    """An instance of a subclass as one of the class itself."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else bytes(value)


def _well_formed(text: str) -> str:
    """The text with lone surrogates replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
