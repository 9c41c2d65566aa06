"""``ToolRuntime`` and the long-term store in a server tool that is called in one message with a headless tool.

The tools tell before the pause and, called again by the next message, after it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from langgraph.types import Command

from farside.langgraph import LangGraphRuntime, tool
from farside.stores.sqlite import SqliteStore
from server.tests.langgraph.scripted import Streaming, answering, call, calling, drive, human, start
from server.tests.langgraph.table.beside import ASK, here, told

NAME = "note"


def before_and_after(messages: list[BaseMessage]) -> AIMessage:
    """Call ``note`` beside ``ask``, and again when both have answered."""
    if messages[-1].type == "human":
        return calling(call("ask", "ask"), call(NAME, "before"))
    return calling(call(NAME, "after")) if len(messages) == 4 else AIMessage("done")


class Noting:
    """An agent whose server tool ``note`` notes what its runtime has of one kind."""

    def __init__(self, read: Any, **options: Any) -> None:
        self.noted: list[Any] = []

        @tool
        def note(runtime: ToolRuntime[Any, Any]) -> str:
            """Note it."""
            self.noted.append(read(runtime))
            return "noted"

        self.model = Streaming(script=before_and_after)
        self.agent = create_agent(self.model, [ASK, note], **options)


async def test_the_state(saver: Any) -> None:
    """Also what the run's input brought beside the messages."""

    class State(AgentState):
        user: str

    noting = Noting(
        lambda runtime: (runtime.state["user"], [message.type for message in runtime.state["messages"]]),
        state_schema=State,
    )
    runtime = LangGraphRuntime(noting.agent, checkpointer=saver)
    leg = start({**human(), "user": "ada"})
    _, opened = await drive(runtime, leg)
    await drive(runtime, answering(leg, (opened[0], "here")))

    before = ["human", "ai"]
    assert noting.noted == [("ada", before), ("ada", [*before, "tool", "tool", "ai"])]


async def test_the_state_by_annotation(take: Any) -> None:
    @tool
    def note(messages: Annotated[list[Any], InjectedState("messages")]) -> str:
        """Note it."""
        return f"{len(messages)} messages"

    model = Streaming(script=before_and_after)
    turn = await take(create_agent(model, [ASK, note]))

    assert (turn.results["before"].content, turn.results["after"].content) == ("2 messages", "5 messages")


async def test_the_stream_writer(take: Any) -> None:
    """What it writes reaches the client, once."""
    noting = Noting(lambda runtime: runtime.stream_writer({"by": runtime.tool_call_id}))
    turn = await take(noting.agent)

    assert turn.events("custom") == [{"payload": {"by": "before"}}, {"payload": {"by": "after"}}]


async def test_execution_info(take: Any) -> None:
    """The thread is the page's; LangGraph knows no ``run_id``, the metadata has farside's."""
    noting = Noting(
        lambda runtime: (
            runtime.execution_info.thread_id,
            runtime.execution_info.run_id,
            runtime.execution_info.node_attempt,
            runtime.config["metadata"]["farside_run_id"],
        )
    )
    turn = await take(noting.agent)

    assert noting.noted == [("thread-1", None, 1, turn.ended["run_id"])] * 2


async def test_server_info(take: Any) -> None:
    """It belongs to LangGraph's own server; there is none elsewhere."""
    noting = Noting(lambda runtime: runtime.server_info)
    await take(noting.agent)

    assert noting.noted == [None, None]


async def test_the_config(make_app: Any, open_page: Any, finish: Any) -> None:
    """What the client sent as ``config`` is there before and after the pause."""
    noting = Noting(lambda runtime: (runtime.config["configurable"]["user"], runtime.config["metadata"]["tenant"]))
    page = await open_page(make_app(noting.agent), tools={"ask": here})
    config = {"configurable": {"user": "ada"}, "metadata": {"tenant": "t"}}
    await finish(page, await page.submit("go", config=config))

    assert noting.noted == [("ada", "t")] * 2


async def test_the_tool_call_id(take: Any) -> None:
    noting = Noting(lambda runtime: runtime.tool_call_id)
    await take(noting.agent)

    assert noting.noted == ["before", "after"]


async def test_the_context_outside_of_farside() -> None:
    """LangGraph does not keep it: it is given again with each resume."""
    noting = Noting(lambda runtime: runtime.context, context_schema=str, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await noting.agent.ainvoke({"messages": [HumanMessage("go")]}, config, context="ada")
    (pause,) = (await noting.agent.aget_state(config)).interrupts
    await noting.agent.ainvoke(Command(resume={pause.id: {"ask": "here"}}), config, context="ada")

    assert noting.noted == ["ada", "ada"]
    assert told(noting.model) == {"ask": "here", "before": "noted", "after": "noted"}


async def test_a_bare_annotation() -> None:
    """It says that there is no context: pydantic warns when there is one."""

    @tool
    def note(runtime: ToolRuntime) -> str:
        """Note it."""
        return str(runtime.context)

    options: Any = {"context_schema": str, "checkpointer": InMemorySaver()}
    agent: Any = create_agent(Streaming(script=before_and_after), [ASK, note], **options)
    config: Any = {"configurable": {"thread_id": "t"}}
    with pytest.warns(UserWarning, match="PydanticSerializationUnexpectedValue"):
        await agent.ainvoke({"messages": [HumanMessage("go")]}, config, context="ada")
    assert len((await agent.aget_state(config)).interrupts) == 1


async def test_it_is_hidden_from_the_model(take: Any) -> None:
    @tool
    def note(
        text: str,
        runtime: ToolRuntime,
        state: Annotated[Any, InjectedState],
        store: Annotated[Any, InjectedStore()],
    ) -> str:
        """Note it."""
        return f"{text} for {runtime.tool_call_id}"

    model = Streaming(
        script=lambda messages: (
            calling(call("ask", "ask"), call("note", "n", text="milk", runtime="forged", state="forged"))
            if messages[-1].type == "human"
            else AIMessage("done")
        )
    )
    turn = await take(create_agent(model, [ASK, note], store=InMemoryStore()))

    shown = convert_to_openai_tool(model._tools[1])["function"]["parameters"]
    assert list(shown["properties"]) == ["text"]
    assert turn.results["n"].content == "milk for n", "what a model invents for a hidden argument does not count"


# --- the long-term store ---


def remembering(store: BaseStore) -> Any:
    """An agent that notes what the store has, and adds to it."""

    @tool
    async def note(runtime: ToolRuntime) -> str:
        """Note it."""
        assert runtime.store is not None
        known = [item.key for item in await runtime.store.asearch(("notes",))]
        await runtime.store.aput(("notes",), runtime.tool_call_id or "", {"text": "milk"})
        return f"knew {sorted(known)}"

    return create_agent(Streaming(script=before_and_after), [ASK, note], store=store)


async def test_the_store_in_memory(take: Any) -> None:
    turn = await take(remembering(InMemoryStore()))

    assert turn.results["before"].content == "knew []"
    assert turn.results["after"].content == "knew ['before']"


async def test_the_store_on_disk(make_app: Any, open_page: Any, finish: Any, tmp_path: Path) -> None:
    """The pause outlives the process, and so does what was noted before it."""

    async def serve(store: BaseStore) -> Any:
        return make_app(remembering(store), store=SqliteStore(tmp_path / "same.db"))

    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "notes.db")) as store:
        await store.setup()
        app = await serve(store)
        page = await open_page(app)
        run_id = await page.submit("go")
        await page.until(lambda event: event["method"] == "calls")
        await page.close()
        await app.stop()
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "notes.db")) as store:
        await store.setup()
        app = await serve(store)
        turn = await finish(await open_page(app, tools={"ask": here}), run_id)
        await app.stop()

    assert turn.results["before"].content == "knew []"
    assert turn.results["after"].content == "knew ['before']"


async def test_the_store_by_annotation(take: Any) -> None:
    @tool
    def note(store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Note it."""
        store.put(("notes",), f"note {len(store.search(('notes',)))}", {})
        return f"{len(store.search(('notes',)))} notes"

    turn = await take(create_agent(Streaming(script=before_and_after), [ASK, note], store=InMemoryStore()))

    assert (turn.results["before"].content, turn.results["after"].content) == ("1 notes", "2 notes")
