"""``farside types``: which tools it finds, what it writes, and what it says when it cannot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import create_agent
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from typing_extensions import TypedDict

from farside import Farside, tool
from farside.cli import main
from farside.cli.types import tools_at
from farside.langgraph import HeadlessToolMiddleware, ToolNode
from farside.langgraph import tool as langgraph_tool
from farside.pydantic_ai import HeadlessToolset, PydanticAIRuntime
from farside.typegen import generate
from server.tests.agents import guide, locate, pay
from server.tests.langgraph.scripted import Streaming

one = langgraph_tool(name="one", description="First.")
two = langgraph_tool(name="two", result_schema={"type": "string"})


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def make(**members: Any) -> str:
        made = ModuleType("made_for_types")
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, "made_for_types", made)
        return "made_for_types"

    return make


def app_of(agents: Any, **options: Any) -> Farside:
    return Farside(agents if isinstance(agents, dict) else {"a": agents}, store="memory", **options)


def names_at(place: str) -> list[str]:
    return [each.name for each in tools_at(place)]


def graph_with(node: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph.compile()


# --- which tools ---


def test_finds_the_tools_of_graphs_and_agents(module: Callable[..., str]) -> None:
    model = Streaming(script=lambda messages: messages[-1])
    inner = create_agent(model, tools=[two], middleware=[HeadlessToolMiddleware()])
    agents = {
        "create_agent": create_agent(model, tools=[one], middleware=[HeadlessToolMiddleware()]),
        "ToolNode": graph_with(ToolNode([two])),
        "nested": graph_with(inner),
        "pydantic_ai": Agent(TestModel(), toolsets=[HeadlessToolset([locate])]),
        "runtime": PydanticAIRuntime(Agent(TestModel(), toolsets=[HeadlessToolset([pay]).prefixed("x")])),
    }
    for name, found in [
        ("create_agent", ["one"]),
        ("ToolNode", ["two"]),
        ("nested", ["two"]),
        ("pydantic_ai", ["locate"]),
        ("runtime", ["pay"]),
    ]:
        assert names_at(f"{module(app=app_of({name: agents[name]}))}:app") == found
    assert names_at(f"{module(app=app_of(agents))}:app") == ["locate", "one", "pay", "two"]


def test_functions_need_to_say_which_tools_they_call(module: Callable[..., str]) -> None:
    assert names_at(f"{module(app=app_of(guide, tools=[locate, one]))}:app") == ["locate", "one"]
    with pytest.raises(ValueError, match=r"shows none; .* with Farside\(agents, tools=\[...\]\)"):
        tools_at(f"{module(app=app_of(guide))}:app")
    with pytest.raises(ValueError, match=r"expected tools to be headless tools, .* got <function guide"):
        app_of(guide, tools=[guide])


def test_finds_the_tools_that_a_module_exports(module: Callable[..., str]) -> None:
    assert names_at(module(a=locate, b=one, again=locate, _private=pay, other=1)) == ["locate", "one"]
    assert names_at(module(a=locate, b=one, __all__=["b"])) == ["one"]
    with pytest.raises(ValueError, match="exports none"):
        tools_at(module(other=1))


def test_one_name_means_one_tool(module: Callable[..., str]) -> None:
    other = tool(name="locate")
    with pytest.raises(ValueError, match="two with different schemas"):
        tools_at(f"{module(app=app_of(guide, tools=[locate, other]))}:app")
    with pytest.raises(ValueError, match="expected one tool named 'locate' in made_for_types, got two"):
        tools_at(module(a=locate, b=other))


# --- what a page gets ---


class Color(Enum):
    RED = "red"


class Inner(BaseModel):
    day: date = date(2020, 1, 1)
    color: Color = Color.RED


class Args(BaseModel):
    inner: Inner
    many: Annotated[list[Inner], Field(default_factory=list, alias="m-any")]
    secret: Annotated[str, Field(exclude=True)] = ""


class Loose(TypedDict):
    there: int
    maybe: NotRequired[str]


@pytest.mark.parametrize(
    ("schema", "args", "required"),
    [
        (Args, {"inner": {}}, {"inner", "m-any"}),
        (Loose, {"there": 1}, {"there"}),
        ({"properties": {"a": {"default": 1}, "b": {}, "c": {}}, "required": ["c"]}, {"c": 1}, {"a", "c"}),
        ({"properties": {"b": {}}}, {}, set()),
    ],
    ids=["model", "TypedDict", "JSON Schema", "nothing required"],
)
def test_the_page_is_told_of_arguments_with_their_defaults(schema: Any, args: Any, required: set[str]) -> None:
    declared = tool(name="t", args_schema=schema)
    given = declared.parse_args(args)
    assert set(declared.page_args_json_schema.get("required", [])) == required <= given.keys()
    check = tool(name="t", result_schema=declared.page_args_json_schema)._result
    assert check is not None
    assert check.validate(given) == given


def test_bytes_of_a_model_are_what_json_carries_them_as() -> None:
    class Photo(BaseModel):
        data: bytes

    declared = tool(name="t", args_schema=Photo, result_schema=Photo)
    assert declared.result_json_schema is not None
    assert declared.result_json_schema["properties"]["data"]["properties"] == {"$bytes": {"type": "string"}}
    assert declared.page_args_json_schema["properties"]["data"]["type"] == "string", "arguments are JSON"


def test_the_file_has_each_tool_with_its_types_and_its_fingerprint() -> None:
    assert generate([locate, tool(name="a", description="A.\nB.")], "farside types m:app") == (
        "// Generated by `farside types m:app`. Do not edit: run it again.\n"
        'import { declare } from "farside";\n\n'
        "export interface LocateArgs {\n  high?: boolean;\n}\n\n"
        "export interface LocateResult {\n  lat: number;\n}\n\n"
        "/** Where the user is. */\n"
        "export const locate = /* @__PURE__ */ declare<LocateArgs, LocateResult>({\n"
        '  name: "locate",\n'
        '  description: "Where the user is.",\n'
        f'  fingerprint: "{locate.fingerprint}",\n'
        '  args: { type: "object", properties: { high: { type: "boolean" } }, additionalProperties: false },\n'
        '  result: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },\n'
        "});\n\n"
        "export type AArgs = Record<string, never>;\n\n"
        "export type AResult = unknown;\n\n"
        "/**\n * A.\n * B.\n */\n"
        "export const a = /* @__PURE__ */ declare<AArgs, AResult>({\n"
        '  name: "a",\n'
        '  description: "A.\\nB.",\n'
        f'  fingerprint: "{tool(name="a").fingerprint}",\n'
        '  args: { type: "object", properties: {}, additionalProperties: false },\n'
        "});\n"
    )


def test_a_schema_is_written_without_prose_and_defaults_but_with_members_of_those_names() -> None:
    schema = {"properties": {"default": {"default": 1, "title": "T"}, "__proto__": {"enum": [{"title": "x"}]}}}
    written = generate([tool(name="t", result_schema=schema)], "c")
    assert 'result: { properties: { default: {}, ["__proto__"]: { enum: [{ title: "x" }] } } }' in written


# --- the command ---


def test_writes_the_file_and_checks_it(
    module: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, file = f"{module(app=app_of(guide, tools=[locate]))}:app", tmp_path / "tools.gen.ts"
    words = ["types", place, "-o", str(file)]
    assert main([*words, "--check"]) == 1, "it is not there"
    assert main(words) == 0
    assert main([*words, "--check"]) == 0
    assert main(["types", place]) == 0
    assert capsys.readouterr().out == file.read_text()
    capsys.readouterr()
    module(app=app_of(guide, tools=[tool(name="locate")]))
    assert main([*words, "--check", "--import", "../index.ts"]) == 1
    complaint = f"{file} is not what {place} declares; run `farside types {place} -o {file} --import ../index.ts`"
    assert capsys.readouterr().err == f"{complaint} and commit the file\n"
    assert main([*words, "--import", "../index.ts"]) == 0
    assert 'import { declare } from "../index.ts";' in file.read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["types"], "module:app"),
        (["types", "m:"], "expected module:app, got 'm:'"),
        (["types", "farside.tools", "--check"], "expected --check with the file to check, got no -o"),
        (["types", "farside.errors"], "expected farside.errors to declare headless tools, it exports none"),
        (["types", "farside:tool"], "expected farside:tool to be a Farside app, got <function tool"),
    ],
)
def test_bad_words_are_explained(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
