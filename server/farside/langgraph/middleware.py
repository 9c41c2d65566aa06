"""``HeadlessToolMiddleware``: what ``create_agent`` needs so that all its features work beside a pause."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse, PrivateStateAttr, ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command

from farside.langgraph.budget import RunStart, check_steps, forgotten_counts, is_of_this_run, run_start
from farside.langgraph.caught import KEY as CAUGHT
from farside.langgraph.caught import Noted, aask_again, ask_again, collected, note
from farside.langgraph.handing import handed_over, hands_over
from farside.langgraph.headless import HeadlessTool
from farside.langgraph.offered import Offer, OfferingRequest
from farside.langgraph.served import served
from farside.langgraph.watching import WatchedCall, watched_call

_START = "farside_run_start"
_LEFT_OUT = "farside_left_out"

_Response = ModelResponse[Any] | ExtendedModelResponse[Any]
_Output = ToolMessage | Command[Any]


class _State(AgentState[Any]):
    farside_run_start: NotRequired[Annotated[RunStart, PrivateStateAttr]]
    farside_left_out: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]
    farside_caught: NotRequired[Annotated[list[Noted], PrivateStateAttr, collected]]


class HeadlessToolMiddleware(AgentMiddleware[Any, Any, Any]):
    """Put it anywhere in the list of ``create_agent(..., middleware=[...])``.

    - A headless tool's pause that a ``wrap_tool_call`` has caught with ``except Exception`` is not lost. If that comes
      later in the list than this one, it is as if nothing had been caught. If it comes earlier it has answered the
      call; the browser's answer takes the place of that, and no middleware sees it. Any other pause that it catches,
      of an agent within a tool or an ``interrupt()`` of the tool's own, is an error to the model.
    - The run's ``recursion_limit``, and the ``run_limit`` of ``ToolCallLimitMiddleware``, count across pauses. So does
      that of ``ModelCallLimitMiddleware`` if it comes later in the list. Where farside does not serve the agent, put
      this before middleware whose ``before_agent`` jumps: what it jumps over does not hear that a run has begun.
    - A call of a headless tool that the model was not offered, because a ``wrap_model_call`` has left it out, gets an
      error message instead of a pause. Offered is what was read of ``request.tools`` last.
    - A tool that hands over with ``Command(graph=Command.PARENT)`` leaves no call without an answer: the messages in
      its update are completed, a browser's call that was open beside it is withdrawn.

    Args:
        offer: which headless tools the model is offered. ``"all"``; or ``"connected"``: those that a page which is
            connected when the model is called implements. That needs farside to serve the agent.

    Raises:
        ValueError: ``offer`` is neither.
        RuntimeError: at the first model call: ``offer="connected"``, and farside does not serve the agent.
    """

    state_schema = _State

    def __init__(self, *, offer: Literal["all", "connected"] = "all") -> None:
        super().__init__()
        if offer not in ("all", "connected"):
            raise ValueError(f'HeadlessToolMiddleware: expected offer="all" or "connected", got {offer!r}')
        self.tools = []
        self._offer = offer
        self._known: dict[str, HeadlessTool] = {}
        """The tools that have paused, by the fingerprint of their declaration."""

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Note where the run begins; what was caught in an earlier one is over."""
        return {_START: run_start(state), CAUGHT: []}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """As :meth:`before_agent`."""
        return self.before_agent(state, runtime)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Hold the run to its limits, and pause where a pause was caught.

        Raises:
            GraphRecursionError: the run has made all the steps that it may.
            GraphInterrupt: a pause was caught.
        """
        if not is_of_this_run(state.get(_START)):  # something has jumped over before_agent
            return self.before_agent(state, runtime)
        update = _limited(state)
        if caught := state.get(CAUGHT):
            update |= {"messages": ask_again(caught, self._known, state["messages"]), CAUGHT: []}
        return update or None

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """As :meth:`before_model`."""
        if not is_of_this_run(state.get(_START)):
            return self.before_agent(state, runtime)
        update = _limited(state)
        if caught := state.get(CAUGHT):
            update |= {"messages": await aask_again(caught, self._known, state["messages"]), CAUGHT: []}
        return update or None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> _Response | AIMessage:
        """Offer the model the tools, and note what it calls beyond them."""
        offer = self._open_offer()
        return _noted(request, handler(OfferingRequest.of(request, offer)), offer)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> _Response | AIMessage:
        """As :meth:`wrap_model_call`."""
        offer = self._open_offer()
        return _noted(request, await handler(OfferingRequest.of(request, offer)), offer)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _Output]) -> _Output:
        """Let the tool refuse what was not offered, let pauses pass, complete what hands over."""
        call = _watched(request)
        token = watched_call.set(call)
        try:
            output = handler(request)
        finally:
            watched_call.reset(token)
            self._keep(request, call)
        return _completed(output, call)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[_Output]]
    ) -> _Output:
        """As :meth:`wrap_tool_call`."""
        call = _watched(request)
        token = watched_call.set(call)
        try:
            output = await handler(request)
        finally:
            watched_call.reset(token)
            self._keep(request, call)
        return _completed(output, call)

    def _keep(self, request: ToolCallRequest, call: WatchedCall) -> None:
        """Where a headless tool has paused: note it, in case that the pause is caught further out."""
        # A server tool that has called the headless one itself makes something else of the answer.
        if call.pause is not None and (request.tool is None or isinstance(request.tool, HeadlessTool)):
            self._known[call.pause.tool.declaration.fingerprint] = call.pause.tool
            note(request.tool_call["id"], call.pause)

    def _open_offer(self) -> Offer:
        if self._offer == "all":
            return Offer(lambda tool: True)
        lent = served()
        if lent is None:
            raise RuntimeError(
                'HeadlessToolMiddleware(offer="connected"): expected the agent to be served by farside, which knows '
                'the connected pages; it is not: serve it with Farside({...}), or use offer="all"'
            )
        return Offer(lambda tool: lent.implements(tool.name))


def _noted(request: ModelRequest[Any], response: ModelResponse[Any], offer: Offer) -> _Response:
    """The response, and which of its calls are of tools that were not offered, where there are or were such."""
    left_out = offer.left_out(response.result)
    if left_out == (cast("dict[str, Any]", request.state).get(_LEFT_OUT) or {}):
        return response
    return ExtendedModelResponse(model_response=response, command=Command(update={_LEFT_OUT: left_out}))


def _watched(request: ToolCallRequest) -> WatchedCall:
    left_out: dict[str, str] = cast("dict[str, Any]", request.state).get(_LEFT_OUT) or {}
    return WatchedCall(left_out.get(request.tool_call["id"] or ""))


def _limited(state: Any) -> dict[str, Any]:
    """The update that holds a run to its limits. Raises ``GraphRecursionError``."""
    start: RunStart | None = state.get(_START)
    if start is None:
        return {}
    check_steps(start)
    return forgotten_counts(start, state)


def _completed(output: Any, call: WatchedCall) -> Any:
    """What the call has come to. Raises its pause where that was caught."""
    if call.pause is not None:
        raise call.pause.error
    if isinstance(output, list):
        return [_handed_over(each) for each in cast("list[Any]", output)]
    return _handed_over(output)


def _handed_over(output: Any) -> Any:
    return handed_over(output, "messages") if hands_over(output) else output
