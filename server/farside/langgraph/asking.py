"""The pause itself: ask the client, and get the answer that is meant for this call.

LangGraph hands out answers by position: the n-th ``interrupt()`` of a task gets the n-th answer. That holds as long as
a task asks one after the other. The stock ``ToolNode`` given a whole message runs all its calls in one task at the same
time, and then the n-th answer may reach another call. Our answers carry the id of their call, so a call that gets a
foreign one leaves it and looks for its own among all the answers of the task.

What remains beyond reach: such a node asks for one call at a time, runs its server tools again for each, and hands an
answer to whichever ``interrupt()`` comes first if that is not ours.
"""

from __future__ import annotations

import threading
from typing import Any

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from farside.langgraph.answers import MARK, is_for, is_packed
from farside.langgraph.private import answers_of_task

_asking = threading.Lock()
"""Calls of one task may ask from several threads; taking a foreign answer and leaving it is one step."""


def ask(tool_call_id: str, payload: dict[str, Any]) -> Any:
    """Pause with the payload; once there is an answer, return the resume value.

    Raises:
        GraphInterrupt: there is no answer yet: LangGraph's pause, not an error.
        RuntimeError: not called inside a graph.
    """
    answers = answers_of_task()
    if answers is None:
        raise RuntimeError(
            "a headless tool pauses the LangGraph graph that calls it, and there is none; "
            "call it from a node of a graph that was compiled with a checkpointer"
        )
    with _asking:
        try:
            answer = interrupt(payload)
            while is_packed(answer) and not is_for(tool_call_id, answer):
                answer[MARK]["displaced"] = True
                for own in answers:
                    if is_for(tool_call_id, own):
                        return own
                answer = interrupt(payload)
            return answer
        except GraphInterrupt:
            for own in answers:
                if is_for(tool_call_id, own) and own[MARK].get("displaced"):
                    return own
            raise
