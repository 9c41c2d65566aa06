"""The catalogue of error codes: complete, and nothing else is ever raised."""

import ast
from pathlib import Path

import pytest

import farside
from farside.errors import CODES, TOOL_CODES, FarsideError, ToolError

SOURCES = sorted(Path(farside.__file__).parent.rglob("*.py"))
TAKE_A_CODE = {"FarsideError": CODES.keys(), "ToolError": TOOL_CODES, "failure": TOOL_CODES, "ErrorBody": CODES.keys()}


def test_every_code_says_what_it_means() -> None:
    for name, code in CODES.items():
        assert name.replace("_", "a").islower(), name
        assert code.meaning.endswith("."), name
        assert len(code.meaning) > 15, name
    assert len({code.meaning for code in CODES.values()}) == len(CODES)


def test_the_tool_family() -> None:
    assert {name for name, code in CODES.items() if code.family == "tool"} == TOOL_CODES
    assert not any(CODES[name].retryable for name in TOOL_CODES)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_code_in_the_source_exists(source: Path) -> None:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TAKE_A_CODE:
            given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "code"), None)
            if isinstance(given, ast.Constant):
                assert given.value in TAKE_A_CODE[node.func.id], f"line {node.lineno}"


def test_every_code_is_used_somewhere() -> None:
    """By the server, or (the family tool) by pages."""
    constants = {
        node.value
        for source in SOURCES
        if source.name != "errors.py"
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert CODES.keys() - TOOL_CODES - {"unavailable"} <= constants


def test_an_error_carries_its_code() -> None:
    error = FarsideError("run_active", "wait for it", details={"run_id": "r1"})
    assert (error.code, error.message, error.details, error.retryable) == (
        "run_active",
        "wait for it",
        {"run_id": "r1"},
        True,
    )
    assert str(error) == "run_active: wait for it"
    assert not FarsideError("not_found", "m").retryable


@pytest.mark.parametrize(
    ("kind", "code"), [(FarsideError, "nonsense"), (ToolError, "nonsense"), (ToolError, "not_found")]
)
def test_a_code_that_does_not_exist_is_a_mistake_in_the_program(kind: type[FarsideError], code: str) -> None:
    with pytest.raises(ValueError, match=code):
        kind(code, "m")
