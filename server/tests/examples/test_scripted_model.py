"""The scripted model of the example assistant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from examples.assistant.agent import TOOLS, ModelUnavailableError, choose_model
from examples.assistant.scripted_model import (
    SENTENCES,
    Call,
    InvalidHistoryError,
    Remark,
    ScriptedModel,
    reply,
    understand,
)

NAMES = frozenset(tool.name for tool in TOOLS)
LOCATION = Call("get_location")
PASTE = Call("paste_text")


def ask(*messages: BaseMessage) -> AIMessage:
    return reply(messages, NAMES)


def answered(sentence: str, value: Any, *, status: Any = "success") -> str:
    """What the model says when the one tool that it calls for the sentence has answered."""
    question = HumanMessage(sentence)
    asked = ask(question)
    (call,) = asked.tool_calls
    content = value if isinstance(value, str) else json.dumps(value)
    return ask(question, asked, ToolMessage(content, tool_call_id=call["id"], status=status)).text


@pytest.mark.parametrize(
    ("text", "wishes"),
    [
        ("where am i", [LOCATION]),
        ("Could you please tell me where I am?", [LOCATION]),
        ("What's my location?", [LOCATION]),
        ("paste", [PASTE]),
        ("What is on my clipboard?", [PASTE]),
        ("copy Hello, world!", [Call("copy_text", {"text": "Hello, world!"})]),
        ("Copy hello and goodbye to the clipboard", [Call("copy_text", {"text": "hello and goodbye"})]),
        ('copy "this and paste"', [Call("copy_text", {"text": "this and paste"})]),
        ("copy two\nlines", [Call("copy_text", {"text": "two\nlines"})]),
        ("remember that my cat is black", [Call("remember", {"key": "cat", "value": "black"})]),
        ("Remember Wi-Fi = a b c.", [Call("remember", {"key": "Wi-Fi", "value": "a b c"})]),
        ("what is my cat?", [Call("recall", {"key": "cat"})]),
        ("What do you remember?", [Call("recall")]),
        ("draw a chart of 3, 5, 2", [Call("draw_chart", {"values": [3, 5, 2]})]),
        ("plot -1 2.5 and 3", [Call("draw_chart", {"values": [-1, 2.5, 3]})]),
        ("Make a line chart with 1;2", [Call("draw_chart", {"values": [1, 2], "kind": "line"})]),
        ("chart 1,2 titled A line", [Call("draw_chart", {"values": [1, 2], "title": "A line"})]),
    ],
)
def test_a_sentence_becomes_a_call(text: str, wishes: list[Call]) -> None:
    assert understand(text) == wishes


@pytest.mark.parametrize(
    ("text", "wishes"),
    [
        ("where am I and draw a chart of 1,2,3", [LOCATION, Call("draw_chart", {"values": [1, 2, 3]})]),
        ("Draw a chart of 1, 2 and 3, then paste", [Call("draw_chart", {"values": [1, 2, 3]}), PASTE]),
        ("Where am I? Paste! And what is the motto?", [LOCATION, PASTE, Call("recall", {"key": "motto"})]),
    ],
)
def test_several_wishes_in_one_message(text: str, wishes: list[Call]) -> None:
    assert understand(text) == wishes


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_is_offered_is_understood(sentence: str) -> None:
    assert "not understand" not in ask(HumanMessage(sentence)).text


@pytest.mark.parametrize("text", ["", "tell me a joke", "a" * 5000, "copy", "remember", "draw a chart of apples"])
def test_what_is_not_understood_calls_nothing_and_says_so(text: str) -> None:
    (wish,) = understand(text)
    assert isinstance(wish, Remark)
    assert ask(HumanMessage(text)).tool_calls == []


def test_the_part_that_is_not_understood_is_named() -> None:
    question = HumanMessage("sing a song and where am i?")
    asked = ask(question)
    result = ToolMessage("Error (timed_out): late", tool_call_id=asked.tool_calls[0]["id"], status="error")
    assert "“sing a song”" in ask(question, asked, result).text


def test_independent_tools_are_called_in_one_message() -> None:
    asked = ask(HumanMessage("where am i and draw a chart of 1 2 and paste"))
    assert [call["name"] for call in asked.tool_calls] == ["get_location", "draw_chart", "paste_text"]
    assert len({call["id"] for call in asked.tool_calls}) == 3


def test_what_reads_is_called_after_what_writes_the_same() -> None:
    question = HumanMessage("copy hi and paste and where am i")
    first = ask(question)
    assert [call["name"] for call in first.tool_calls] == ["copy_text", "get_location"]
    results = [
        ToolMessage('{"characters": 2}', tool_call_id=first.tool_calls[0]["id"]),
        ToolMessage("Error (permission_denied): no", tool_call_id=first.tool_calls[1]["id"], status="error"),
    ]
    second = ask(question, first, *results)
    assert [call["name"] for call in second.tool_calls] == ["paste_text"]
    pasted = ToolMessage('{"text": "hi", "truncated": false}', tool_call_id=second.tool_calls[0]["id"])
    told = ask(question, first, *results, second, pasted)
    assert told.tool_calls == []
    assert told.text.count("“hi”") == 2
    assert "permission was denied" in told.text


@pytest.mark.parametrize(
    ("sentence", "value", "words"),
    [
        ("where am i", {"latitude": -33.8568, "longitude": 151.2153, "accuracy": 12}, "33.8568° S, 151.2153° E"),
        ("where am i", {"latitude": 0, "longitude": -1, "accuracy": 2500}, "2.5 kilometres"),
        ("copy hi", {"characters": 2}, "“hi”"),
        ("paste", {"text": "", "truncated": False}, "no text"),
        ("paste", {"text": "hi", "truncated": True}, "longer"),
        ("remember a is b", {"key": "a", "value": "b"}, "**a** is **b**"),
        ("what is a", {"entries": [{"key": "A", "value": "b"}]}, "**A** is **b**"),
        ("what is a", {"entries": []}, "nothing about **a**"),
        ("recall", {"entries": []}, "nothing yet"),
        ("recall", {"entries": [{"key": "A", "value": "b"}, {"key": "C", "value": "d"}]}, "- **C** is d"),
        ("plot 1 2", {"image": "<9 bytes>", "mime_type": "image/png", "width": 960, "height": 480}, "960 by 480"),
        ("plot 1 2", "no JSON", "no JSON"),
        ("where am i", {"strange": True}, "strange"),
    ],
)
def test_results_are_told(sentence: str, value: Any, words: str) -> None:
    assert words in answered(sentence, value)


def test_a_result_in_content_blocks_is_told() -> None:
    question = HumanMessage("plot 1 2")
    asked = ask(question)
    blocks: list[str | dict[Any, Any]] = [
        {"type": "text", "text": '{"width": 960, "height": 480}'},
        {"type": "image", "base64": "AA==", "mime_type": "image/png"},
    ]
    result = ToolMessage(blocks, tool_call_id=asked.tool_calls[0]["id"])
    assert "960 by 480" in ask(question, asked, result).text


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("permission_denied", "Allow this page"),
        ("needs_gesture", "click"),
        ("timed_out", "too long"),
        ("not_implemented", "Reload"),
        ("unsupported", "browser is not able"),
        ("dismissed", "dismissed"),
        ("cancelled", "called off"),
        ("interrupted", "do not know whether"),
        ("failed", "the reason"),
        ("invalid_result", "the reason"),
    ],
)
def test_failures_are_told(code: str, words: str) -> None:
    told = answered("paste", f"Error ({code}): the reason", status="error")
    assert words in told
    assert "On your clipboard is" not in told


def test_only_the_newest_message_counts() -> None:
    first = HumanMessage("where am i")
    asked = ask(first)
    cancelled = ToolMessage("Error (cancelled): x", tool_call_id=asked.tool_calls[0]["id"], status="error")
    told = ask(first, asked, cancelled, HumanMessage("help"))
    assert told.tool_calls == []
    assert "I could not" not in told.text


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    told = reply([HumanMessage("where am i")], frozenset({"paste_text"}))
    assert told.tool_calls == []
    assert "get_location" in told.text


A = AIMessage("", tool_calls=[{"name": "paste_text", "args": {}, "id": "a"}])
TWICE = AIMessage("", tool_calls=[{"name": "paste_text", "args": {}, "id": "a"}] * 2)
HI = HumanMessage("hi")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [SystemMessage("be nice")],
        [HI, AIMessage("hello")],
        [HI, A],
        [HI, A, HI],
        [HI, A, HI, ToolMessage("x", tool_call_id="a")],
        [HI, A, ToolMessage("x", tool_call_id="a"), ToolMessage("x", tool_call_id="a")],
        [HI, A, ToolMessage("x", tool_call_id="b")],
        [HI, ToolMessage("x", tool_call_id="a")],
        [HI, TWICE, ToolMessage("x", tool_call_id="a"), ToolMessage("x", tool_call_id="a")],
    ],
)
def test_an_invalid_history_is_refused(messages: list[BaseMessage]) -> None:
    with pytest.raises(InvalidHistoryError):
        ask(*messages)


async def test_the_stream_adds_up_to_the_reply() -> None:
    model = ScriptedModel(pace=0).bind_tools(TOOLS)
    chunks = [chunk async for chunk in model.astream("where am i and draw a chart of 1,2")]
    assert len([chunk for chunk in chunks if chunk.text]) > 2
    whole = chunks[0]
    for chunk in chunks[1:]:
        assert isinstance(whole, AIMessageChunk)
        whole = whole + chunk
    assert isinstance(whole, AIMessageChunk)
    assert whole.text == "Looking where you are and drawing the chart."
    assert [(call["name"], call["args"]) for call in whole.tool_calls] == [
        ("get_location", {}),
        ("draw_chart", {"values": [1, 2]}),
    ]
    assert model.invoke("where am i and draw a chart of 1,2").text == whole.text


def test_an_agent_pauses_for_each_tool_and_goes_on_with_the_answers() -> None:
    agent = create_agent(ScriptedModel(), list(TOOLS), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    paused = agent.invoke({"messages": [HumanMessage("where am i and draw a chart of 3, 5")]}, config)
    calls = {pause.value["tool_call"]["name"]: pause for pause in paused["__interrupt__"]}
    assert calls["draw_chart"].value["tool_call"]["args"] == {"values": [3, 5], "kind": "bar", "title": ""}
    position = {"latitude": 52.52, "longitude": 13.405, "accuracy": 20}
    chart = {"image": b"\x89PNG", "mime_type": "image/png", "width": 960, "height": 480}
    answers = {calls["get_location"].id: position, calls["draw_chart"].id: chart}
    told = agent.invoke(Command(resume=answers), config)["messages"][-1].text
    assert "52.5200° N, 13.4050° E" in told
    assert "bar chart of 3 and 5" in told


@pytest.mark.parametrize("name", ["gpt", "openai:", ":gpt", "nobody:nothing", "openai:gpt-5"])
def test_a_model_that_cannot_be_had_is_named(name: str) -> None:
    with pytest.raises(ModelUnavailableError, match=name):
        choose_model({"FARSIDE_MODEL": name})


def test_a_missing_key_is_named_before_the_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("examples.assistant.agent.init_chat_model", lambda *_, **__: ScriptedModel())
    with pytest.raises(ModelUnavailableError, match="ANTHROPIC_API_KEY"):
        choose_model({"FARSIDE_MODEL": "anthropic:claude"})
    name, _ = choose_model({"FARSIDE_MODEL": "anthropic:claude", "ANTHROPIC_API_KEY": "secret"})
    assert name == "anthropic:claude"


def test_without_a_wish_the_model_is_the_scripted_one() -> None:
    assert isinstance(choose_model({})[1], ScriptedModel)
