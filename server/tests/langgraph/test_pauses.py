from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langgraph.types import Interrupt

from farside.core.model import failure, success
from farside.core.ports import NewCall
from farside.langgraph.answers import pack
from farside.langgraph.pauses import new_call, resume_value
from farside.tools import HeadlessTool
from server.tests.langgraph.scripted import settled

QUESTION = NewCall("i", "input", "", "", {"payload": "why?"})
TOOL = NewCall("i", "tool", "c", "where", {})


def unknown(name: str) -> HeadlessTool | None:
    return None


@pytest.mark.parametrize(
    "payload",
    [
        None,
        "tool",
        {},
        {"type": "tool"},
        {"type": "tool", "tool_call": []},
        {"type": "tool", "tool_call": {"id": 1, "name": "x", "args": {}}},
        {"type": "tool", "tool_call": {"id": "1", "name": "", "args": {}}},
        {"type": "tool", "tool_call": {"id": "1", "name": "x", "args": []}},
        {"type": "other", "tool_call": {"id": "1", "name": "x", "args": {}}},
    ],
)
def test_only_a_whole_tool_call_is_one(payload: Any) -> None:
    assert new_call(Interrupt(payload, "i"), unknown) == replace(QUESTION, args={"payload": payload})


def test_what_is_declared_is_told_to_the_engine() -> None:
    payload = {"type": "tool", "tool_call": {"id": "c", "name": "where", "args": {}}}
    declared = HeadlessTool(name="where", timeout=3, idempotent=True, title="Where")
    assert new_call(Interrupt(payload, "i"), unknown) == TOOL
    expected = replace(TOOL, timeout=3, idempotent=True, title="Where")
    assert new_call(Interrupt(payload, "i"), lambda name: declared if name == "where" else None) == expected


def test_resume_values() -> None:
    assert resume_value(settled(TOOL, success(1))) == pack("c", success(1))
    assert resume_value(settled(QUESTION, success({"a": 1}))) == {"a": 1}
    late = resume_value(settled(QUESTION, failure("timed_out", "late")))
    assert late == {"error": {"code": "timed_out", "message": "late"}}
    with pytest.raises(ValueError, match="expected a settled call"):
        resume_value(replace(settled(TOOL, success(1)), result=None))
