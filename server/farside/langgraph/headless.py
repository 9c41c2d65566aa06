"""A headless tool as LangChain sees it: a tool whose body is a pause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from pydantic import Field, PrivateAttr, SkipValidation

from farside.core.model import failure
from farside.errors import FarsideError, ToolError
from farside.langgraph.answers import unpack
from farside.langgraph.asking import ask
from farside.langgraph.results import tool_message
from farside.langgraph.served import served
from farside.langgraph.watching import Pause, watched
from farside.tools import HeadlessTool as Declaration
from farside.tools import Schema
from farside.wire.values import check


@dataclass(frozen=True, slots=True)
class _Request:
    """What the tool's body gets: one private value, so that no argument's name can collide with LangChain's own."""

    tool_call_id: str | None
    args: str | dict[str, Any]


class HeadlessTool(BaseTool):
    """A LangChain tool without a body on the server: calling it pauses the graph until a page has answered.

    Made by :func:`farside.langgraph.tool`, which documents the arguments. The model is told ``declaration``'s JSON
    Schema whatever form the schema was written in. Bad arguments and every failure come back as a tool message with
    ``status="error"``; nothing is raised, so that no retry asks the page again.

    Raises:
        ValueError: on a call without a tool call id, or with a string as input.
        RuntimeError: on a call outside of a graph.
    """

    declaration: SkipValidation[Declaration] = Field(exclude=True, repr=False)
    """The declaration that is independent of any framework: schemas, timeout, fingerprint."""

    _written: dict[str, Any] = PrivateAttr()
    """The arguments as they were written: what a pickle keeps, since compiled schemas have none."""

    _takes_checked: bool = PrivateAttr(default=False)
    """Whether it is called with arguments that have been checked: filling them in twice may change them."""

    def __init__(
        self,
        *,
        name: str,
        description: str = "",
        args_schema: Schema = None,
        result_schema: Schema = None,
        timeout: float | None = None,
        idempotent: bool = False,
        title: str | None = None,
        return_direct: bool = False,
    ) -> None:
        written: dict[str, Any] = {
            "name": name,
            "description": description,
            "args_schema": args_schema,
            "result_schema": result_schema,
            "timeout": timeout,
            "idempotent": idempotent,
            "title": title,
        }
        declaration = Declaration(**written)
        super().__init__(
            name=declaration.name,
            description=declaration.description,
            args_schema=declaration.args_json_schema,
            metadata={"headless_tool": True},
            declaration=declaration,
            return_direct=return_direct,
        )
        self._written = written

    def taking_checked(self) -> HeadlessTool:
        """The same tool for a call whose arguments have been checked before: it asks with them as they are."""
        tool = self.model_copy()
        tool._takes_checked = True
        return tool

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (_Request(tool_call_id, tool_input),), {}

    def _run(self, *args: Any, **kwargs: Any) -> ToolMessage:
        return self._call(args[0])

    async def _arun(self, *args: Any, **kwargs: Any) -> ToolMessage:
        return self._call(args[0])

    def _call(self, request: _Request) -> ToolMessage:
        name, call_id = self.declaration.name, request.tool_call_id
        if not call_id:
            raise ValueError(
                f"tool {name!r}: expected a tool call with an id, got {call_id!r}; invoke it with "
                '{"type": "tool_call", "id": "...", "name": "...", "args": {...}}'
            )
        if isinstance(request.args, str):
            raise ValueError(f"tool {name!r}: expected its arguments as a dict, got the string {request.args!r}")
        call = watched()
        if call is not None and call.left_out == name:
            message = f"{name} is not available now; call one of the tools that you were given"
            return tool_message(name, call_id, failure("unsupported", message))
        try:
            args = request.args if self._takes_checked else self._parse(request.args)
        except ToolError as error:
            return tool_message(name, call_id, failure(error.code, error.message))
        if (lent := served()) is not None:
            lent.declarations.learn(self.declaration)
        try:
            answer = ask(call_id, {"type": "tool", "tool_call": {"id": call_id, "name": name, "args": args}})
        except GraphInterrupt as pause:
            if call is not None:
                call.pause = Pause(pause, self, args)
            raise
        return tool_message(name, call_id, self.declaration.check_result(unpack(call_id, answer)))

    def _parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        args = self.declaration.parse_args(given)
        try:
            check(args)
        except FarsideError as error:
            raise ToolError("invalid_args", f"{self.declaration.name}: {error.message}") from None
        return args

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        fields = {key: value for key, value in state["__dict__"].items() if key != "declaration"}
        return {**state, "__dict__": fields}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        self.declaration = Declaration(**self._written)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> HeadlessTool:
        memo = {} if memo is None else memo
        memo[id(self.declaration)] = self.declaration  # never changes, and compiled schemas cannot be copied
        return super().__deepcopy__(memo)
