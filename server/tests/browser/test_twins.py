"""The ready-made tools' declarations: the page has the same, and each framework takes them as they are."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from farside import Farside, HeadlessTool, ToolError, browser
from farside.cli.commands import main
from farside.langgraph import tool
from farside.pydantic_ai import HeadlessToolset
from farside.wire.messages import Success
from server.tests.langgraph.scripted import Streaming, call, once

GENERATED = Path(__file__).parents[3] / "client-js/src/tools/declarations.gen.ts"
TOOLS: dict[str, HeadlessTool] = {name: getattr(browser, name) for name in browser.__all__}
IMAGE = {"mime_type": "image/png", "data": b"\x89PNG"}

each_tool = pytest.mark.parametrize("twin", TOOLS.values(), ids=TOOLS)


def test_the_page_declares_what_python_does(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["-o", str(GENERATED), "--import", "../tool/declare.ts"]
    assert main(["types", "farside.browser", *options, "--check"]) == 0, capsys.readouterr().err
    exported = re.findall(r"^export const (\w+) = ", GENERATED.read_text(), re.MULTILINE)
    assert sorted(exported) == sorted(TOOLS)


@each_tool
def test_a_model_and_a_person_are_told_what_it_is(twin: HeadlessTool) -> None:
    assert TOOLS[twin.name] is twin
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", twin.name)
    assert twin.title
    assert twin.description.endswith(".")
    assert twin.timeout is not None
    assert twin.result_json_schema is not None
    assert twin.args_json_schema["additionalProperties"] is False
    with pytest.raises(ToolError) as refused:
        twin.parse_args({"nonsense": 1})
    assert refused.value.code == "invalid_args"


@each_tool
def test_langchain_takes_it_as_it_is(twin: HeadlessTool) -> None:
    made = tool(twin, return_direct=True)
    assert (made.name, made.description, made.return_direct) == (twin.name, twin.description, True)
    assert made.args_schema == twin.args_json_schema
    assert pickle.loads(pickle.dumps(made)).declaration.fingerprint == twin.fingerprint  # noqa: S301 - it is ours
    declared = made.declaration
    assert (declared.timeout, declared.idempotent, declared.title) == (twin.timeout, twin.idempotent, twin.title)


@pytest.mark.parametrize(
    ("arguments", "keywords", "named"),
    [((), {"timeout": 5}, "timeout"), ((), {"name": "other"}, "name"), ((len,), {}, "len")],
)
def test_langchain_takes_nothing_else_with_it(arguments: tuple[Any, ...], keywords: dict[str, Any], named: str) -> None:
    with pytest.raises(TypeError, match=f"'get_location' nothing but return_direct, got .*{named}"):
        tool(browser.get_location, *arguments, **keywords)


async def test_a_graph_calls_it(open_page: Any) -> None:
    model = Streaming(script=once(call("read_clipboard_text", "a")))
    app = Farside({"assistant": create_agent(model, [tool(browser.read_clipboard_text)])}, store="memory")
    async with app.lifespan():
        page = await open_page(app, tools={"read_clipboard_text": lambda: {"text": "from the clipboard"}})
        await page.ended(await page.submit("Read it."))
        assert "from the clipboard" in page.texts()[-1]


async def test_a_pydantic_ai_agent_calls_it(open_page: Any) -> None:
    agent = Agent(TestModel(), toolsets=[HeadlessToolset([browser.get_locale])])
    app = Farside({"assistant": agent}, store="memory")
    locale = {
        "languages": ["de-AT"],
        "locale": "de-AT",
        "time_zone": "Europe/Vienna",
        "local_time": "2026-11-30T21:00:00+01:00",
        "calendar": "gregory",
        "numbering_system": "latn",
    }
    async with app.lifespan():
        page = await open_page(app, tools={"get_locale": lambda: locale})
        await page.ended(await page.submit("How do I count?"))
        assert "Europe/Vienna" in page.texts()[-1]


@pytest.mark.parametrize("data", ["text", [1, 2], None])
def test_an_image_is_bytes(data: Any) -> None:
    tool = browser.read_clipboard_image
    good = Success(status="success", value=IMAGE)
    assert tool.check_result(good) is good
    bad = tool.check_result(Success(status="success", value={**IMAGE, "data": data}))
    assert bad.status == "error"
    assert bad.error.code == "invalid_result"
