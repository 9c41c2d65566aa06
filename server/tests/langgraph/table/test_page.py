"""docs/langgraph.md: its rows name the tests of this folder, each of these is named, and its code runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from server.tests.langgraph.scripted import Streaming, call, once
from server.tests.langgraph.table.beside import told

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[3]
PAGE = (ROOT / "docs" / "langgraph.md").read_text()
SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]


class Named(NamedTuple):
    """A test that the page names: its file, and its name."""

    path: str
    test: str


def names_in(file: Path) -> set[str]:
    """The names of the tests in a file."""
    body = ast.parse(file.read_text()).body
    functions = [node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {node.name for node in functions if node.name.startswith("test_")}


def rows(section: str) -> list[list[str]]:
    """The cells of the rows of a section's table, without its head."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def named(section: str) -> Iterator[Named]:
    """The tests that a section names. One without a path is in a file that the section links."""
    linked = [(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\((\S+\.py)\)", section)]
    for cells in rows(section):
        for name in re.findall(r"`(\S+)`", cells[-1]):
            path, _, test = name.rpartition("::")
            if path:
                yield Named(path, test)
            else:
                files = [file for file in linked if test in names_in(file)]
                yield Named(str(files[0].relative_to(ROOT)) if files else "?", test)


NAMED = [each for section in SECTIONS for each in named(section)]
HERE = [
    Named(str(file.relative_to(ROOT)), test)
    for file in sorted(FOLDER.glob("test_*.py"))
    if file != Path(__file__)
    for test in sorted(names_in(file))
]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.splitlines()[0])
def test_each_row_names_a_test(section: str) -> None:
    table = rows(section)
    assert table
    for cells in table:
        assert len(cells) == 3, f"expected feature, sentence and test, got {cells}"
        assert re.fullmatch(r"`\S+`(, `\S+`)*", cells[-1]), cells


def test_each_named_test_exists() -> None:
    missing = [
        each for each in NAMED if not (ROOT / each.path).is_file() or each.test not in names_in(ROOT / each.path)
    ]
    assert missing == []


def test_each_test_is_named_by_a_row() -> None:
    assert [each for each in HERE if each not in NAMED] == []


# --- its code ---

BLOCKS: dict[str, str] = dict(
    re.findall(r"<!-- test: (.*?) -->\n```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
)


def graph_of(mark: str, model: Any) -> Any:
    """The graph that a block defines, with this model."""
    module: dict[str, Any] = {"__name__": "page", "model": model}
    exec(compile(BLOCKS[mark], "docs/langgraph.md", "exec"), module)  # noqa: S102 - it is ours
    return module["graph"]


def test_all_code_of_the_page_is_run() -> None:
    assert PAGE.count("```python") == len(BLOCKS)
    assert set(BLOCKS) == {"middleware", "tool node", "registering", "functional"}


async def test_the_code_with_the_middleware(take: Any) -> None:
    model = Streaming(script=once(*(call("locate", f"l{n}") for n in range(6))))
    turn = await take(graph_of("middleware", model), bodies={"locate": lambda: "Bern"})

    assert turn.asked == ["locate"] * 5
    assert [text for text in told(model).values() if text != "Bern"] == [told(model)["l5"]]


async def test_the_code_with_a_tool_node(take: Any) -> None:
    model = Streaming(script=once(call("locate", "l"), call("charge", "c", amount=5), call("locate", "m")))
    turn = await take(graph_of("tool node", model), bodies={"locate": lambda: "Bern"})

    assert told(model) == {"l": "Bern", "c": "charged 5", "m": "Bern"}
    assert turn.asked == ["locate", "locate"]


async def test_the_code_that_registers_a_tool(take: Any) -> None:
    model = Streaming(script=once(call("scan", "s")))
    await take(graph_of("registering", model), bodies={"scan": lambda: "4006"})

    assert told(model) == {"s": "4006"}


async def test_the_code_of_the_functional_api(take: Any) -> None:
    model = Streaming(script=once(call("locate", "l"), call("locate", "m")))
    turn = await take(graph_of("functional", model), bodies={"locate": lambda: "Bern"})

    assert told(model) == {"l": "Bern", "m": "Bern"}
    assert turn.asked == ["locate", "locate"]
