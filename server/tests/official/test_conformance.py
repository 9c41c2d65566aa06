"""protocol/conformance.md: all that LangChain publishes has its row there, and each test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints

import pytest
from starlette.routing import Route, WebSocketRoute

from farside.asgi.routes import routes
from farside.engine import Engine
from farside.errors import CODES
from farside.wire.messages import COMMANDS
from server.tests.official.published import DATA, OUR_CODES, PUBLISHED, RESULTS, InputAnsweredData

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "server" / "tests"
PAGE = (ROOT / "protocol" / "conformance.md").read_text()
SUPPORTED = {"yes", "in part", "no"}

Row = dict[str, str]


def tables() -> dict[str, dict[str, Row]]:
    """The page's tables by the head of their first column: the rows by what the first cell names."""
    found: dict[str, dict[str, Row]] = {}
    rows: dict[str, Row] = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if len(cells) < 4 or cells[0].startswith("---"):
            continue
        if cells[1] == "supported":
            rows = found.setdefault(cells[0], {})
        else:
            name = cells[0].removeprefix("`").partition("`")[0]
            assert name not in rows, f"{name} has two rows"
            rows[name] = {"supported": cells[1], "text": cells[2], "tests": cells[3]}
    return found


TABLES = tables()
ROWS = [(table, name) for table, rows in TABLES.items() for name in rows]


def literals(union: Any, key: str) -> dict[str, Any]:
    """The members of a union of objects, by what their field says."""
    return {get_args(get_type_hints(each)[key])[0]: each for each in members(union)}


def members(union: Any) -> list[Any]:
    if isinstance(union, type) or get_origin(union) in (Literal, None):
        return [union]
    return [one for each in get_args(union) for one in members(each)]


def fields(kind: Any) -> set[str]:
    """The fields of an object, and of the objects in them, without those that tell its kind."""
    found: set[str] = set()
    for each in members(kind):
        hints = get_type_hints(each, vars(PUBLISHED)) if hasattr(each, "__annotations__") else {}
        found |= {name for name, hint in hints.items() if not (get_origin(bare(hint)) is Literal and name in KINDS)}
    return found


KINDS = frozenset({"event", "type"})


def bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is NotRequired else hint


EVENT_KINDS = [*literals(PUBLISHED.EventData, "method"), "input.answered"]

EXPECTED: dict[str, dict[str, set[str]]] = {
    "command": {
        method: fields(get_type_hints(kind)["params"]) | fields(RESULTS[method])
        for method, kind in literals(PUBLISHED.CommandData, "method").items()
    },
    "code": {get_args(each)[0]: set() for each in get_args(PUBLISHED.ErrorCode)},
    "channel": {
        **{get_args(each)[0]: set() for each in get_args(PUBLISHED.Channel) if get_origin(each) is Literal},
        "custom:<name>": set(),
    },
    "message": {
        "Event": {"event_id", "seq", "method", "params", "namespace", "timestamp", "node", "data"},
        "CommandResponse": fields(PUBLISHED.CommandResponse) | fields(PUBLISHED.ResponseMeta),
        "ErrorResponse": fields(PUBLISHED.ErrorResponse),
        "Command": {"id", "method", "params"},
    },
    "event": {
        **{method: set() if method in ("messages", "tools") else fields(DATA[method]) for method in EVENT_KINDS},
        **{name: fields(kind) for name, kind in literals(PUBLISHED.MessagesData, "event").items()},
        **{name: fields(kind) for name, kind in literals(PUBLISHED.ToolsData, "event").items()},
    },
    "status": {get_args(each)[0]: set() for each in get_args(PUBLISHED.AgentStatus)},
    "cause": {name: fields(kind) for name, kind in literals(PUBLISHED.LifecycleCause, "type").items()},
    "delta": {name: fields(kind) for name, kind in literals(PUBLISHED.ContentBlockDelta, "type").items()},
    "block": {name: set() for name in literals(PUBLISHED.ContentBlock, "type")},
}
EXPECTED["event"]["lifecycle"].add("event")
EXPECTED["event"]["message-finish"] |= fields(PUBLISHED.UsageInfo) | fields(PUBLISHED.InputTokenDetails)
EXPECTED["event"]["message-finish"] |= fields(PUBLISHED.OutputTokenDetails)


@cache
def names_in(file: Path) -> set[str]:
    """The names of the tests in a file."""
    body = ast.parse(file.read_text()).body
    functions = [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {name for name in functions if name.startswith("test_")}


def file(named: str) -> Path:
    """A file of tests as the page names it."""
    return (ROOT if named.startswith("e2e/") else TESTS) / named


def test_the_types_were_read() -> None:
    """Nothing below is true because it is about nothing."""
    sizes = {table: len(rows) for table, rows in EXPECTED.items()}
    assert sizes == {
        "command": 10,
        "code": 10,
        "channel": 10,
        "message": 4,
        "event": 20,
        "status": 5,
        "cause": 3,
        "delta": 5,
        "block": 13,
    }
    assert EXPECTED["command"]["subscription.subscribe"] >= {"channels", "depth", "subscription_id"}
    assert EXPECTED["command"]["input.respond"] >= {"responses", "update", "goto"}
    assert fields(InputAnsweredData) == {"interrupt_ids"}


@pytest.mark.parametrize("table", EXPECTED)
def test_all_that_is_published_has_a_row(table: str) -> None:
    assert TABLES[table].keys() == EXPECTED[table].keys()


@pytest.mark.parametrize("table", EXPECTED)
def test_each_row_names_its_fields(table: str) -> None:
    missing = {
        name: left
        for name, expected in EXPECTED[table].items()
        if (left := expected - set(re.findall(r"`(\w+)`", TABLES[table][name]["text"])))
    }
    assert missing == {}


@pytest.mark.parametrize(("table", "name"), ROWS)
def test_what_is_supported_has_a_test_that_exists(table: str, name: str) -> None:
    row = TABLES[table][name]
    assert row["supported"] in SUPPORTED
    named = re.findall(r"`(\S+)::(\S+)`", row["tests"])
    assert row["tests"] == ", ".join(f"`{path}::{test}`" for path, test in named)
    assert bool(named) or row["supported"] == "no", "what is supported has a test"
    assert [each for each in named if each[1] not in names_in(file(each[0]))] == []


def test_commands_are_as_the_page_says() -> None:
    """All are known; only one has no meaning here."""
    assert TABLES["command"].keys() <= COMMANDS.keys()
    assert [name for name, row in TABLES["command"].items() if row["supported"] == "no"] == ["input.inject"]


def test_endpoints_are_as_the_page_says() -> None:
    """Each that is served has its row, and each row that is supported is served."""
    served = {
        f"{method} {route.path}"
        for route in routes(_no_engine)
        if isinstance(route, (Route, WebSocketRoute)) and "{path" not in route.path
        for method in (route.methods or () if isinstance(route, Route) else ("GET",))
        if method != "HEAD"
    }
    rows = TABLES["endpoint"]
    assert {name for name, row in rows.items() if row["supported"] != "no"} == served


async def _no_engine() -> Engine:
    raise AssertionError("nothing is asked for")


def test_each_mend_that_is_tested_is_on_the_page() -> None:
    named = {
        test for row in TABLES["mend"].values() for test in re.findall(r"`asgi/test_mends\.py::(\S+)`", row["tests"])
    }
    assert named == names_in(TESTS / "asgi" / "test_mends.py")


def test_codes_are_as_the_page_says() -> None:
    """The page's codes are those that the catalogue calls official."""
    official = {name for name in CODES if name not in OUR_CODES}
    assert official <= EXPECTED["code"].keys()
    assert {name for name, row in TABLES["code"].items() if row["supported"] == "yes"} == official
