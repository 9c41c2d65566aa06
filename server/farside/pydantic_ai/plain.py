"""Whatever a Pydantic AI agent says, takes or returns, as values of the data model."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isfinite
from typing import Any, cast

from pydantic_ai import BinaryContent
from pydantic_core import to_json

from farside.errors import FarsideError
from farside.wire.values import DEFAULT_LIMITS, MAX_NUMBER, check

_LIMITS = replace(DEFAULT_LIMITS, depth=DEFAULT_LIMITS.depth - 8)
"""The wire's limits less what the event and its envelope need."""


def plain(value: Any) -> Any:
    """The value in the data model of :mod:`farside.wire.values`; never raises.

    It is what pydantic writes as JSON. A number beyond ±(2^53-1) becomes a string, NaN and the infinities None, bytes
    base64, a file a text that names its type and size, and what has no JSON form its ``str``.
    """
    try:
        text = to_json(_lighter(value), inf_nan_mode="null", bytes_mode="base64", serialize_unknown=True)
        shown = json.loads(text, parse_int=_int, parse_float=_float)
        check(shown, _LIMITS)
    except (ValueError, RecursionError, FarsideError):
        return _well_formed(value)
    return shown


def _lighter(value: Any) -> Any:
    if isinstance(value, BinaryContent):
        return f"<{value.media_type}, {len(value.data)} bytes>"
    return [_lighter(item) for item in cast("list[Any]", value)] if type(value) is list else value


def _int(digits: str) -> int | str:
    return number if -MAX_NUMBER <= (number := int(digits)) <= MAX_NUMBER else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if isfinite(number) and -MAX_NUMBER <= number <= MAX_NUMBER else digits


def _well_formed(value: Any) -> str:
    try:
        return str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    except Exception:  # the value's own __str__ failed
        return f"<{type(value).__name__}>"
