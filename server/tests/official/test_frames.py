"""Every frame that a plain connection receives fits what LangChain publishes, whichever way it comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx
import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import ToolException
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from pydantic_ai import ModelResponse
from pydantic_ai.messages import TextPart, ThinkingPart

import farside.pydantic_ai
from farside.core.ports import Store
from farside.langgraph import ToolNode, tool
from farside.stores.sqlite import SqliteStore
from farside.testing import LinkClosed, SocketLink, serve
from server.tests.agents import ANY_ARGS, echo, guide, pair
from server.tests.langgraph.scripted import Streaming, Whole, call, hand_built, once
from server.tests.official.published import check_frame
from server.tests.pydantic_ai import scripted as pydantic_ai_scripted

WATCHER = ["lifecycle", "input"]
CHANNELS = ["values", "updates", "checkpoints", "tasks", "lifecycle", "input", "messages", "tools", "custom"]
END = ("completed", "failed", "interrupted")


class Page(Protocol):
    """A page that speaks the Agent Streaming Protocol alone. ``frames``: all that came, with the command answered."""

    frames: list[tuple[Any, str | None]]

    async def subscribe(self, *filters: list[str]) -> None: ...
    async def command(self, method: str, **params: Any) -> Any: ...
    async def until(self, fits: Callable[[Any], bool]) -> Any: ...


class Frames:
    """What came, and who waits for it."""

    def __init__(self) -> None:
        self.frames: list[tuple[Any, str | None]] = []
        self._came = asyncio.Condition()
        self._read = 0

    async def take(self, frame: Any, method: str | None = None) -> None:
        async with self._came:
            self.frames.append((frame, method))
            self._came.notify_all()

    async def until(self, fits: Callable[[Any], bool]) -> Any:
        """The next frame that fits, of those that nobody waited for yet."""
        async with self._came:
            while True:
                while self._read < len(self.frames):
                    frame, _ = self.frames[self._read]
                    self._read += 1
                    if fits(frame):
                        return frame
                await self._came.wait()


class SocketPage(Frames):
    """All over one WebSocket."""

    def __init__(self, link: SocketLink) -> None:
        super().__init__()
        self._link = link
        self._replies: dict[int, tuple[str, asyncio.Future[Any]]] = {}

    @classmethod
    @asynccontextmanager
    async def open(cls, address: str, thread_id: str) -> AsyncGenerator[SocketPage]:
        async with SocketLink.open(f"ws://{address}", thread_id, None) as link:
            page = cls(link)
            reading = asyncio.create_task(page._read_all())
            yield page
            await link.close()
            await reading

    async def subscribe(self, *filters: list[str]) -> None:
        for channels in filters:
            await self.command("subscription.subscribe", channels=channels)

    async def command(self, method: str, **params: Any) -> Any:
        command_id = len(self._replies) + 1
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._replies[command_id] = (method, reply)
        await self._link.send({"id": command_id, "method": method, "params": params})
        return await reply

    async def _read_all(self) -> None:
        while True:
            try:
                frame = await self._link.receive()
            except LinkClosed:
                return
            method, reply = self._replies.get(frame.get("id"), (None, None))
            await self.take(frame, method)
            if reply is not None:
                reply.set_result(frame)


class WebPage(Frames):
    """Commands as requests, and a stream of Server-Sent Events for each filter."""

    def __init__(self, http: httpx.AsyncClient, thread_id: str) -> None:
        super().__init__()
        self._http = http
        self._path = f"/threads/{thread_id}"
        self._streams = AsyncExitStack()
        self._reading: list[asyncio.Task[None]] = []

    @classmethod
    @asynccontextmanager
    async def open(cls, address: str, thread_id: str) -> AsyncGenerator[WebPage]:
        async with httpx.AsyncClient(base_url=f"http://{address}", timeout=10) as http:
            page = cls(http, thread_id)
            yield page
            for reading in page._reading:
                reading.cancel()
            await asyncio.gather(*page._reading, return_exceptions=True)
            await page._streams.aclose()

    async def subscribe(self, *filters: list[str]) -> None:
        for channels in filters:
            stream = self._http.stream("POST", f"{self._path}/stream/events", json={"channels": channels})
            response = await self._streams.enter_async_context(stream)
            self._reading.append(asyncio.create_task(self._read_all(response.aiter_lines())))

    async def command(self, method: str, **params: Any) -> Any:
        reply = await self._http.post(f"{self._path}/commands", json={"id": 1, "method": method, "params": params})
        await self.take(reply.json(), method)
        return reply.json()

    async def _read_all(self, lines: AsyncIterator[str]) -> None:
        async for line in lines:
            if line.startswith("data: "):
                await self.take(json.loads(line.removeprefix("data: ")))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """What is replayed has been on disk."""
    return SqliteStore(tmp_path / "farside.db")


@pytest.fixture(params=[SocketPage, WebPage], ids=["websocket", "sse"])
async def open_plain(request: pytest.FixtureRequest, make_app: Any) -> AsyncGenerator[Any]:
    """Serves an agent, and opens a page on a thread of it; without an agent, another page on the same."""
    async with AsyncExitStack() as opened:
        addresses: list[str] = []

        async def open_one(agent: Any = None) -> Page:
            if agent is not None:
                addresses.append(await opened.enter_async_context(serve(make_app(agent))))
            return await opened.enter_async_context(request.param.open(addresses[-1], "thread-1"))

        yield open_one


# --- agents ---

ASK = tool(name="ask", description="Ask the page.", args_schema=ANY_ARGS, timeout=600)


@tool
async def work(runtime: ToolRuntime) -> str:
    """Work."""
    runtime.stream_writer({"name": "progress", "payload": {"done": 50}})
    runtime.emit_output_delta("half")
    runtime.emit_output_delta({"half": 2})
    return "all"


@tool
async def ask_helper(q: str) -> str:
    """Ask another agent."""
    await create_agent(Streaming(script=once(call("ask", "inner", q=q))), [ASK], name="helper").ainvoke(
        {"messages": [HumanMessage(q)]}
    )
    return "helped"


@tool
async def break_down() -> str:
    """Break."""
    raise ToolException("postgres://user:password@host")


def talkative(*calls: Any) -> Any:
    """Says something, calls these tools, and says something again, with the tokens that it took."""

    def script(messages: list[BaseMessage]) -> AIMessage:
        text, asked = ("let me see", list(calls)) if messages[-1].type == "human" else ("there it is", [])
        usage: Any = {
            "input_tokens": 1,
            "output_tokens": 2,
            "total_tokens": 3,
            "input_token_details": {"cache_read": 1},
        }
        return AIMessage(text, tool_calls=asked, usage_metadata=usage, response_metadata={"finish_reason": "stop"})

    return script


def rich() -> AIMessage:
    """A message with all kinds of content."""
    invalid: Any = {"type": "invalid_tool_call", "id": "broken", "name": "ask", "args": "{", "error": "no JSON"}
    blocks: Any = [
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "text", "text": "See:", "annotations": [{"type": "citation", "url": "https://a", "title": "A"}]},
        {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        {"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"},
        {"type": "video", "url": "https://a/v"},
        {"type": "file", "file_id": "f-1"},
        {"type": "server_tool_call", "id": "s-1", "name": "search", "args": {"q": "x"}},
        {"type": "server_tool_result", "tool_call_id": "s-1", "status": "success", "output": [1]},
        {"type": "non_standard", "value": {"provider": {"own": 1}}},
    ]
    return AIMessage(content_blocks=blocks, invalid_tool_calls=[invalid], id="rich")


def everything() -> Any:
    """A graph of graphs: a node that writes, one that says all kinds of things, an agent with all kinds of tools."""

    def write(state: MessagesState) -> Any:
        get_stream_writer()({"from": {"a", "node"}})
        return {}

    inner = StateGraph(MessagesState)
    inner.add_node("speak", lambda state: {"messages": [rich()]})
    inner.add_node("forget", lambda state: {"messages": [HumanMessage("in short", id="short")]})
    inner.add_edge(START, "speak")
    inner.add_edge("speak", "forget")
    calls = [call("ask", "one"), call("work", "w"), call("ask_helper", "h", q="?"), call("ask", "two")]
    agent = create_agent(Streaming(script=talkative(*calls)), [ASK, work, ask_helper], name="boss")
    graph = StateGraph(MessagesState)
    nodes: Any = [("write", write), ("inner", inner.compile()), ("agent", agent)]
    graph.add_sequence(nodes)
    graph.add_edge(START, "write")
    return graph.compile()


def tool_node() -> Any:
    """A graph built by hand, whose model does not stream, with tools that fail and succeed."""
    model = Whole(script=talkative(call("break_down", "b"), call("ask", "one"), call("work", "w")))

    async def think(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return hand_built(think, ToolNode([ASK, work, break_down], handle_tool_errors=True)).compile()


def failing() -> Any:
    def node(state: MessagesState) -> Any:
        raise RuntimeError("postgres://user:password@host")

    inner = StateGraph(MessagesState)
    inner.add_node("node", node)
    inner.add_edge(START, "node")
    graph = StateGraph(MessagesState)
    graph.add_node("inner", inner.compile())
    graph.add_edge(START, "inner")
    return graph.compile()


def question() -> Any:
    """A graph that asks a person."""

    def ask(state: MessagesState) -> Any:
        return {"messages": [AIMessage(f"You said {interrupt('Sure?')}.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    return graph.compile()


def thinking() -> Any:
    """A Pydantic AI agent that thinks, calls two tools of the page, and speaks."""

    def script(messages: list[Any]) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart("there it is")])
        calls = [pydantic_ai_scripted.call("ask", "one"), pydantic_ai_scripted.call("ask", "two")]
        return ModelResponse(parts=[ThinkingPart("let me think"), TextPart("well"), *calls])

    toolset = farside.pydantic_ai.HeadlessToolset([farside.tool(name="ask", args_schema=ANY_ARGS, timeout=60)])
    return pydantic_ai_scripted.scripted(script, toolsets=[toolset])


STATE = {"values", "updates", "checkpoints", "tasks"}
AGENTS: dict[str, tuple[Any, set[str]]] = {
    "LangGraph": (everything, {*STATE, "lifecycle", "input.requested", "messages", "tools", "custom"}),
    "LangGraph, built by hand": (
        tool_node,
        {*STATE, "lifecycle", "input.requested", "messages", "tools", "custom"},
    ),
    "LangGraph, failing": (failing, {*STATE, "lifecycle"} - {"updates"}),
    "a function": (lambda: echo, {"lifecycle", "messages"}),
    "a function with a tool": (lambda: guide, {"lifecycle", "input.requested", "messages", "tools"}),
    "a function with two": (lambda: pair, {"lifecycle", "input.requested", "messages", "tools"}),
    "Pydantic AI": (thinking, {"lifecycle", "input.requested", "messages", "tools"}),
}


# --- what pages do ---


def chat(text: str) -> Any:
    message = {"type": "human", "content": text, "id": text, "additional_kwargs": {}, "response_metadata": {}}
    return {"messages": [message]}


async def start(page: Page, text: str = "hi", **params: Any) -> Any:
    return await page.command("run.start", assistant_id="assistant", input=chat(text), **params)


def is_asked(frame: Any) -> bool:
    return frame.get("method") == "input.requested"


def is_over(frame: Any) -> bool:
    params = frame.get("params", {})
    return frame.get("method") == "lifecycle" and not params["namespace"] and params["data"]["event"] in END


async def answer(page: Page, asked: Any) -> Any:
    data = asked["params"]["data"]
    response = {data["payload"]["tool_call"]["id"]: {"lat": 1.5}}
    return await page.command("input.respond", namespace=[], interrupt_id=data["interrupt_id"], response=response)


async def run_to_its_end(page: Page) -> Any:
    """Starts a run and answers what it asks, each question once."""
    await start(page)
    answered: set[str] = set()
    while not is_over(frame := await page.until(lambda frame: is_asked(frame) or is_over(frame))):
        if frame["event_id"] not in answered:
            answered.add(frame["event_id"])
            await answer(page, frame)
    return frame


def methods(page: Page) -> set[str]:
    """The methods of the events that came. Each frame is checked."""
    for frame, method in page.frames:
        check_frame(frame, method)
    return {frame["method"] for frame, _ in page.frames if frame["type"] == "event"}


@pytest.mark.parametrize("name", AGENTS)
async def test_a_run(open_plain: Any, name: str) -> None:
    make, expected = AGENTS[name]
    page = await open_plain(make())
    await page.subscribe(WATCHER, CHANNELS)
    ended = await run_to_its_end(page)
    await page.command("state.get", namespace=[])

    assert methods(page) == expected
    assert ended["params"]["data"]["event"] == ("failed" if "failing" in name else "completed")
    if name == "LangGraph, failing":
        assert "password" not in str(page.frames)


@pytest.mark.parametrize("name", ["LangGraph", "a function with two", "Pydantic AI"])
async def test_a_run_that_is_stopped(open_plain: Any, name: str) -> None:
    """With its calls open, one of them answered."""
    make, _ = AGENTS[name]
    page = await open_plain(make())
    await page.subscribe(WATCHER, CHANNELS)
    run_id = (await start(page))["result"]["run_id"]
    asked = await page.until(is_asked)
    await page.until(is_asked)
    await answer(page, asked)
    await page.command("run.cancel", run_id=run_id)
    ended = await page.until(is_over)
    await page.command("state.get", namespace=[])

    assert methods(page) >= {"lifecycle", "input.requested", "tools"}
    assert ended["params"]["data"]["event"] == "interrupted"


@pytest.mark.parametrize("name", ["LangGraph", "a function with a tool", "Pydantic AI"])
async def test_a_message_while_a_call_is_open(open_plain: Any, name: str) -> None:
    make, _ = AGENTS[name]
    page = await open_plain(make())
    await page.subscribe(WATCHER, CHANNELS)
    await start(page, "one")
    await page.until(is_asked)
    await start(page, "two")
    await page.until(is_asked)

    assert methods(page) >= {"lifecycle", "input.requested", "tools"}


@pytest.mark.parametrize("strategy", ["enqueue", "interrupt", "reject", "rollback"])
async def test_a_strategy(open_plain: Any, strategy: str) -> None:
    """What becomes of a run that waits when another message comes."""
    page = await open_plain(everything())
    await page.subscribe(WATCHER, CHANNELS)
    await start(page, "one")
    asked = [await page.until(is_asked), await page.until(is_asked)]
    reply = await start(page, "two", multitask_strategy=strategy)
    await page.command("state.get", namespace=[])
    if strategy == "enqueue":
        for each in asked:
            await answer(page, each)
    if strategy != "reject":
        await page.until(is_asked)

    assert reply.get("error") == ("run_interrupted" if strategy == "reject" else None)
    assert methods(page) >= {"lifecycle", "input.requested", "tools"}


async def test_a_question(open_plain: Any) -> None:
    """The run is interrupted, also to a page that comes then; what comes with the answer is carried out."""
    page = await open_plain(question())
    await page.subscribe(WATCHER, CHANNELS)
    await start(page)
    asked = await page.until(is_asked)
    paused = await page.until(is_over)
    late = await open_plain()
    await late.subscribe(WATCHER, CHANNELS)
    await late.until(is_over)
    await page.command(
        "input.respond",
        namespace=[],
        interrupt_id=asked["params"]["data"]["interrupt_id"],
        response="yes",
        update={"messages": [{"type": "human", "content": "pushed"}]},
    )
    await page.until(lambda frame: is_over(frame) and frame["params"]["data"]["event"] == "completed")

    assert paused["params"]["data"]["event"] == "interrupted"
    assert methods(page) >= {"lifecycle", "input.requested", "values"}
    assert methods(late) >= {"lifecycle", "input.requested", "values"}


async def test_commands_that_read_and_fork(open_plain: Any) -> None:
    page = await open_plain(everything())
    await page.subscribe(WATCHER, CHANNELS)
    ended = await run_to_its_end(page)
    run_id = ended["params"]["data"]["run_id"]
    listed = (await page.command("state.listCheckpoints", namespace=[], limit=100))["result"]["checkpoints"]
    tree = (await page.command("agent.getTree", run_id=run_id))["result"]["tree"]
    within = await page.command("state.get", namespace=tree["children"][0]["namespace"])
    missed = await page.command(
        "subscription.reconnect", run_id=run_id, last_event_id=ended["event_id"], subscriptions=["s1"]
    )
    forked = await page.command("state.fork", checkpoint_id=listed[-1]["id"], input=chat("other"))
    await page.until(is_asked)
    asked_again = await start(page, "again", forkFrom=listed[-1]["id"], config={"configurable": {}})
    await page.until(is_asked)

    assert methods(page) >= {"lifecycle", "values", "checkpoints"}
    assert [each["step"] for each in listed] == sorted((each["step"] for each in listed), reverse=True)
    assert {each["status"] for each in (tree, *tree["children"])} == {"completed"}
    assert within["result"]["values"]["messages"]
    assert (missed["result"]["restored"], missed["result"]["missed_events"]) == (False, 0)
    assert forked["result"]["thread_id"] == "thread-1"
    assert asked_again["type"] == "success"


@pytest.mark.parametrize("name", ["LangGraph", "a function with a tool", "Pydantic AI"])
async def test_a_page_that_comes_late(open_plain: Any, name: str) -> None:
    """What is replayed."""
    make, _ = AGENTS[name]
    page = await open_plain(make())
    await page.subscribe(WATCHER, CHANNELS)
    await run_to_its_end(page)
    late = await open_plain()
    await late.subscribe(CHANNELS)
    await late.until(is_over)

    assert methods(late) >= {"lifecycle", "messages", "tools"}
    first = {frame["event_id"]: frame for frame, _ in page.frames if frame["type"] == "event"}
    again = {frame["event_id"]: frame for frame, _ in late.frames if frame["type"] == "event"}
    both = first.keys() & again.keys()
    assert both
    assert [again[key] for key in both] == [shown_whole(first[key], page) for key in both]


def shown_whole(frame: Any, page: Page) -> Any:
    """The frame as it is replayed: the same, but the start of a block that has ended has all of its text."""
    data = frame["params"]["data"]
    if data.get("event") != "content-block-start" or data["content"]["type"] not in ("text", "reasoning"):
        return frame
    ends = {
        (end["message_id"], end["index"]): end["content"]
        for each, _ in page.frames
        if (end := each.get("params", {}).get("data", {})).get("event") == "content-block-finish"
    }
    kind = data["content"]["type"]
    content = {**data["content"], kind: ends[data["message_id"], data["index"]][kind]}
    return {**frame, "params": {**frame["params"], "data": {**data, "content": content}}}


COMMANDS: list[tuple[str, dict[str, Any], str]] = [
    ("run.start", {"assistant_id": "nobody", "input": {}}, "not_found"),
    ("run.start", {}, "invalid_argument"),
    ("run.cancel", {"run_id": "nowhere"}, "no_such_run"),
    ("input.respond", {"namespace": [], "interrupt_id": "nowhere", "response": 1}, "no_such_interrupt"),
    ("state.get", {"namespace": []}, "not_found"),
    ("subscription.unsubscribe", {"subscription_id": "nowhere"}, "no_such_subscription"),
    ("of.the.future", {}, "unknown_command"),
    ("client.announce", {"client_id": "c", "tools": []}, "not_supported"),
]


async def test_what_is_refused(open_plain: Any) -> None:
    page = await open_plain(echo)
    codes = [(await page.command(method, **params))["error"] for method, params, _ in COMMANDS]
    assert codes == [code for _, _, code in COMMANDS]
    methods(page)


COMMANDS_OF_A_RUN: list[tuple[str, dict[str, Any], str]] = [
    ("input.inject", {"namespace": [], "message": {"role": "user", "content": "Hurry"}}, "not_supported"),
    ("state.get", {"namespace": ["nowhere:1"]}, "no_such_namespace"),
    ("state.listCheckpoints", {"namespace": ["nowhere:1"]}, "no_such_namespace"),
    ("state.fork", {"checkpoint_id": "nowhere"}, "no_such_checkpoint"),
    ("run.start", {"assistant_id": "assistant", "fork_from": "nowhere"}, "no_such_checkpoint"),
    ("agent.getTree", {"run_id": "nowhere"}, "no_such_run"),
    ("subscription.reconnect", {"run_id": "nowhere"}, "no_such_run"),
]


async def test_what_is_refused_of_a_run(open_plain: Any) -> None:
    page = await open_plain(question())
    await page.subscribe(WATCHER, CHANNELS)
    await start(page)
    await page.until(is_asked)
    codes = [(await page.command(method, **params))["error"] for method, params, _ in COMMANDS_OF_A_RUN]
    assert codes == [code for _, _, code in COMMANDS_OF_A_RUN]
    methods(page)


def test_the_check_refuses() -> None:
    """What the check is good for: a frame with a key that is missing, unknown or ill-typed."""
    params = {"namespace": [], "timestamp": 1}
    frame = {"type": "event", "event_id": "e", "seq": 1, "method": "tools", "params": params}
    good = {"event": "tool-output-delta", "tool_call_id": "c", "delta": "a"}
    check_frame({**frame, "params": {**params, "data": good}})
    for data in ({**good, "delta": 1}, {**good, "more": 1}, {"event": "tool-output-delta", "delta": "a"}):
        with pytest.raises(ValueError, match="validation error"):
            check_frame({**frame, "params": {**params, "data": data}})
    with pytest.raises(ValueError, match="validation error"):
        check_frame({**frame, "seq": "1", "params": {**params, "data": good}})
    with pytest.raises(ValueError, match="validation error"):
        check_frame({**frame, "more": "1", "params": {**params, "data": good}})
