"""What fits a JSON Schema: the vectors that the page's own check is held to as well."""

from __future__ import annotations

from typing import Any

import pytest

from farside.core.model import success
from farside.tools import tool
from farside.wire.values import unescape
from server.tests.vectors import entries


def fits(schema: dict[str, Any], value: Any) -> bool:
    return tool(name="t", result_schema=schema).check_result(success(unescape(value))).status == "success"


@pytest.mark.parametrize("entry", [*entries("schemas.json", "schemas"), *entries("schemas.json", "random")])
def test_what_fits_a_schema(entry: dict[str, Any]) -> None:
    assert [value for value in entry["fit"] if not fits(entry["schema"], value)] == []
    assert [value for value in entry["unfit"] if fits(entry["schema"], value)] == []


@pytest.mark.parametrize("entry", entries("schemas.json", "unchecked"))
def test_what_only_python_sees(entry: dict[str, Any]) -> None:
    assert [value for value in entry["unfit"] if fits(entry["schema"], value)] == []
