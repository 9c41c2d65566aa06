from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from farside.langgraph.history import closed, ends_open
from server.tests.langgraph.scripted import call, calling, check_history


def answer(call: ToolCall) -> ToolMessage:
    return ToolMessage("cancelled", tool_call_id=call["id"] or "")


def told(call_id: str) -> ToolMessage:
    return ToolMessage("told", tool_call_id=call_id)


def shape(messages: list[BaseMessage]) -> list[str]:
    return [f"{m.content} {m.tool_call_id}" if isinstance(m, ToolMessage) else m.type for m in messages]


def test_a_valid_history_stays_as_it_is() -> None:
    messages = [HumanMessage("x"), calling(call("t", "a"), call("t", "b")), told("b"), told("a"), AIMessage("y")]
    assert closed(messages, answer) == messages
    assert closed([], answer) == []


def test_open_calls_are_answered_after_the_others_of_their_batch() -> None:
    messages = [calling(call("t", "a"), call("t", "b"), call("t", "c")), told("b"), HumanMessage("x")]
    whole = closed(messages, answer)
    assert shape(whole) == ["ai", "told b", "cancelled a", "cancelled c", "human"]
    check_history(whole)


def test_an_answer_that_stands_elsewhere_is_moved() -> None:
    messages = [calling(call("t", "a")), HumanMessage("x"), told("a"), AIMessage("y")]
    whole = closed(messages, answer)
    assert shape(whole) == ["ai", "told a", "human", "ai"]


def test_repeated_ids_belong_to_their_own_batch() -> None:
    messages = [calling(call("t", "a")), calling(call("t", "a")), told("a")]
    whole = closed(messages, answer)
    assert shape(whole) == ["ai", "cancelled a", "ai", "told a"]
    check_history(whole)


def test_two_calls_with_one_id_are_answered_twice() -> None:
    messages = [calling(call("t", "a"), call("t", "a"), call("t", "a")), told("a"), HumanMessage("x")]
    whole = closed(messages, answer)
    assert shape(whole) == ["ai", "told a", "cancelled a", "cancelled a", "human"]
    assert closed(whole, answer) == whole


def test_a_call_without_an_id_is_answered_once() -> None:
    nameless = ToolCall(type="tool_call", name="t", args={}, id=None)
    whole = closed([calling(nameless), HumanMessage("x")], answer)
    assert shape(whole) == ["ai", "cancelled ", "human"]
    assert closed(whole, answer) == whole


def test_whether_the_last_turn_has_left_a_call_open() -> None:
    asking = calling(call("t", "a"), call("t", "b"))
    assert not ends_open([])
    assert not ends_open([HumanMessage("x"), AIMessage("y")])
    assert not ends_open([HumanMessage("x"), asking, told("b"), told("a"), AIMessage("y")])
    assert ends_open([HumanMessage("x"), asking, told("b")])
    assert ends_open([HumanMessage("x"), asking, told("b"), AIMessage("I stop here.")])
    assert ends_open([HumanMessage("x"), asking, calling(call("t", "a"), call("t", "b")), told("b"), told("a")])
    assert ends_open([calling(call("t", "a"), call("t", "a")), told("a")])
    assert not ends_open(["no", "messages"])
    assert ends_open({"topic": "x", "messages": [AIMessage("y")], "inner": [HumanMessage("x"), asking]})
    assert not ends_open({"topic": "x", "messages": [HumanMessage("x"), AIMessage("y")]})
    assert not ends_open(None)
