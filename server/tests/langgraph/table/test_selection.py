"""Tools that are chosen, or made, while the agent runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, wrap_model_call
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.prebuilt import ToolRuntime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from farside.core.model import failure
from farside.langgraph import LangGraphRuntime, tool
from farside.stores.sqlite import SqliteStore
from server.tests.langgraph.scripted import Streaming, answering, call, calling, drive, human, once, start
from server.tests.langgraph.table.beside import ANY_ARGS, ASK, beside, bound, here, told

Handler = Callable[[ModelRequest], Awaitable[ModelResponse]]

PHOTO = tool(name="photo", description="Take a photo.", args_schema=ANY_ARGS, timeout=600)


@tool
def allow(runtime: ToolRuntime) -> str:
    """Allow photos."""
    assert runtime.store is not None
    runtime.store.put(("rights",), "photo", {"allowed": True})
    return "allowed"


class Offered(Streaming):
    """A model that notes what it was offered, call by call."""

    offers: list[list[str]] = []  # noqa: RUF012 - pydantic copies a field's default

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        super().bind_tools(tools, **kwargs)
        self.offers.append(bound(self))
        return self


def without(request: ModelRequest, name: str) -> ModelRequest:
    return request.override(tools=[each for each in request.tools if getattr(each, "name", None) != name])


async def test_by_state(take: Any) -> None:
    """The headless tool is offered from the second model call on, which is after a pause."""

    @wrap_model_call
    async def later(request: ModelRequest, handler: Handler) -> ModelResponse:
        return await handler(request if len(request.state["messages"]) > 1 else without(request, "photo"))

    def script(messages: list[BaseMessage]) -> AIMessage:
        if messages[-1].type == "human":
            return calling(call("ask", "ask"))
        return calling(call("photo", "photo")) if len(messages) == 3 else AIMessage("done")

    model = Offered(script=script)
    turn = await take(create_agent(model, [ASK, PHOTO], middleware=[later]), bodies={"photo": lambda: "smile"})

    assert model.offers == [["ask"], ["ask", "photo"], ["ask", "photo"]]
    assert turn.asked == ["ask", "photo"]
    assert told(model) == {"ask": "here", "photo": "smile"}


async def test_by_store(take: Any) -> None:
    """A server tool beside a pause changes what is offered after it."""

    @wrap_model_call
    async def permitted(request: ModelRequest, handler: Handler) -> ModelResponse:
        store = request.runtime.store
        assert store is not None
        allowed = await store.aget(("rights",), "photo")
        return await handler(request if allowed else without(request, "photo"))

    model = Offered(script=beside(call("allow", "allow")).script)
    agent = create_agent(model, [ASK, PHOTO, allow], middleware=[permitted], store=InMemoryStore())
    await take(agent)

    assert model.offers == [["ask", "allow"], ["ask", "photo", "allow"]]
    assert told(model) == {"ask": "here", "allow": "allowed"}


async def test_by_context_outside_of_farside() -> None:
    """LangGraph does not keep the context: it is given again with each resume."""

    @wrap_model_call
    async def by_role(request: Any, handler: Any) -> Any:
        is_admin = request.runtime.context == "admin"
        return await handler(request if is_admin else without(request, "photo"))

    config: Any = {"configurable": {"thread_id": "t"}}
    middleware: Any = [by_role]
    for role, expected in (("admin", [["ask", "photo"]] * 2), ("guest", [["ask"]] * 2)):
        model = Offered(script=beside().script)
        agent: Any = create_agent(
            model, [ASK, PHOTO], middleware=middleware, context_schema=str, checkpointer=InMemorySaver()
        )
        await agent.ainvoke({"messages": [HumanMessage("go")]}, config, context=role)
        (pause,) = (await agent.aget_state(config)).interrupts
        await agent.ainvoke(Command(resume={pause.id: {"ask": "here"}}), config, context=role)
        assert model.offers == expected


async def test_by_what_the_client_sent(make_app: Any, open_page: Any, finish: Any) -> None:
    """``config.configurable`` of the run is there at each model call."""

    @wrap_model_call
    async def by_plan(request: ModelRequest, handler: Handler) -> ModelResponse:
        is_paid = get_config().get("configurable", {}).get("plan") == "paid"
        return await handler(request if is_paid else without(request, "photo"))

    model = Offered(script=beside().script)
    page = await open_page(make_app(create_agent(model, [ASK, PHOTO], middleware=[by_plan])), tools={"ask": here})
    await finish(page, await page.submit("go", config={"configurable": {"plan": "paid"}}))

    assert model.offers == [["ask", "photo"]] * 2


# --- tools that are registered while the agent runs ---


class Registering(AgentMiddleware):
    """Adds a headless tool that ``create_agent`` was not given, as LangChain documents it for tools made at runtime."""

    def __init__(self) -> None:
        super().__init__()
        self.scan = tool(
            name="scan",
            description="Scan it.",
            args_schema={"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
            result_schema={"type": "object", "required": ["price"]},
            timeout=7,
            title="Scan",
        )

    async def awrap_model_call(self, request: ModelRequest, handler: Handler) -> Any:
        return await handler(request.override(tools=[*request.tools, self.scan]))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        if request.tool_call["name"] == "scan":
            return await handler(request.override(tool=self.scan))
        return await handler(request)


def registering(*calls: Any) -> tuple[Offered, Any]:
    model = Offered(script=beside(*calls).script)
    return model, create_agent(model, [ASK], middleware=[Registering()])


async def test_a_headless_tool_that_is_registered_at_runtime(take: Any) -> None:
    model, agent = registering(call("scan", "good", code="4006"), call("scan", "bad"), call("scan", "odd", code="x"))
    turn = await take(agent, bodies={"scan": lambda code: {"price": 3} if code == "4006" else {"cost": 3}})

    assert model.offers == [["ask", "scan"]] * 2
    assert told(model)["good"] == '{"price": 3}'
    assert told(model)["bad"].startswith("Error (invalid_args): scan: ")
    assert told(model)["odd"].startswith("Error (invalid_result): scan: ")
    assert sorted(turn.asked) == ["ask", "scan", "scan"]


async def test_its_timeout_and_title_are_known_when_it_is_called(saver: Any) -> None:
    """Before its first call nobody knows it; what was declared counts from then on."""
    _, agent = registering(call("scan", "good", code="4006"))
    runtime = LangGraphRuntime(agent, checkpointer=saver)
    assert runtime.tool("scan") is None
    _, opened = await drive(runtime, start())

    by_name = {new.name: new for new in opened}
    assert (by_name["scan"].timeout, by_name["scan"].title) == (7, "Scan")
    assert runtime.tool("scan") is not None


async def test_it_survives_a_restart_of_the_server(make_app: Any, open_page: Any, finish: Any, tmp_path: Path) -> None:
    """The new process learns it when the call goes on: the result is checked before the model sees it."""

    def serve() -> tuple[Offered, Any]:
        model, agent = registering(call("scan", "s", code="4006"))
        return model, make_app(agent, store=SqliteStore(tmp_path / "same.db"))

    _, app = serve()
    page = await open_page(app)
    run_id = await page.submit("go")
    await page.until(lambda event: len(page.calls("opened")) == 2)
    await page.close()
    await app.stop()
    model, app = serve()
    await finish(await open_page(app, tools={"ask": here, "scan": lambda code: {"cost": 3}}), run_id)

    assert told(model)["ask"] == "here"
    assert told(model)["s"].startswith("Error (invalid_result): scan: ")


async def test_a_state_of_its_own_chooses(saver: Any) -> None:
    """A key of the state that the run's input set still counts after the pause."""

    class State(AgentState):
        mode: str

    @wrap_model_call(state_schema=State)
    async def by_mode(request: ModelRequest, handler: Handler) -> ModelResponse:
        return await handler(request if request.state.get("mode") == "camera" else without(request, "photo"))

    model = Offered(script=once(call("ask", "ask")))
    runtime = LangGraphRuntime(create_agent(model, [ASK, PHOTO], middleware=[by_mode]), checkpointer=saver)
    leg = start({**human(), "mode": "camera"})
    _, opened = await drive(runtime, leg)
    await drive(runtime, answering(leg, (opened[0], failure("dismissed", "not now"))))

    assert model.offers == [["ask", "photo"]] * 2
