"""What a run is given reaches each of its legs: context, config and store, after pauses and after a restart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import ToolRuntime
from langgraph.store.memory import InMemoryStore

from farside import RunInfo
from farside.langgraph import tool
from farside.stores.sqlite import SqliteStore
from server.tests.langgraph.scripted import Streaming, call, calling

WHERE = tool(name="where")


@dataclass
class User:
    name: str


class Noting(AgentMiddleware[Any, Any, Any]):
    """Notes what reaches the model's node."""

    def __init__(self, seen: list[Any]) -> None:
        super().__init__()
        self._seen = seen

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        self._seen.append(runtime.context)


def agent(seen: list[Any], store: Any) -> Any:
    """Asks the browser twice, each time beside a server tool that notes what it was given."""

    @langchain_tool
    async def note(runtime: ToolRuntime[Any, Any]) -> str:
        """Note what the tool is given."""
        given = runtime.config
        kept = None if runtime.store is None else await runtime.store.aget(("notes",), "key")
        seen.append(
            (
                runtime.context,
                given.get("configurable", {}).get("tone"),
                given.get("metadata", {}).get("origin"),
                given.get("recursion_limit"),
                kept and kept.value,
            )
        )
        return "noted"

    def script(messages: Any) -> Any:
        turn = sum(message.type == "ai" for message in messages)
        if turn < 2:
            return calling(call("where", f"w{turn}"), call("note", f"n{turn}"))
        return calling(call("note", "n2")) if turn == 2 else AIMessage("done")

    return create_agent(
        Streaming(script=script), [WHERE, note], context_schema=User, store=store, middleware=[Noting(seen)]
    )


CONFIG = {"configurable": {"tone": "dry"}, "metadata": {"origin": "page"}, "recursion_limit": 40}


async def _make(run: RunInfo) -> User:
    return User(f"{run.agent} of {run.thread_id}")


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (User("ada"), User("ada")),
        ({"name": "ada"}, User("ada")),
        (lambda run: User(f"{run.agent} of {run.thread_id}"), User("assistant of thread-1")),
        (_make, User("assistant of thread-1")),
        (None, None),
    ],
    ids=["value", "dict", "function", "async function", "none"],
)
async def test_what_a_run_is_given_reaches_each_leg(make_app: Any, open_page: Any, context: Any, expected: Any) -> None:
    seen: list[Any] = []
    notes = InMemoryStore()
    notes.put(("notes",), "key", {"kept": True})
    app = make_app(agent(seen, notes), context=context)
    page = await open_page(app, tools={"where": lambda: "north"})
    await page.ended(await page.submit("Go", config=CONFIG))

    given = (expected, "dry", "page", 40, {"kept": True})
    assert [each for each in seen if isinstance(each, tuple)] == [given] * 3
    assert [each for each in seen if not isinstance(each, tuple)] == [expected] * 4


async def test_what_a_run_is_given_reaches_it_after_a_restart(make_app: Any, open_page: Any, tmp_path: Path) -> None:
    seen: list[Any] = []

    def serve() -> Any:
        return make_app(agent(seen, None), store=SqliteStore(tmp_path / "same.db"), context=User("ada"))

    first = serve()
    page = await open_page(first)
    run_id = await page.submit("Go", config=CONFIG)
    await page.until(lambda event: event["method"] == "calls")
    await page.close()
    await first.stop()

    page = await open_page(serve(), tools={"where": lambda: "north"})
    await page.ended(run_id)
    given = (User("ada"), "dry", "page", 40, None)
    assert [each for each in seen if isinstance(each, tuple)] == [given] * 3


async def test_a_client_does_not_choose_the_context(make_app: Any, open_page: Any) -> None:
    seen: list[Any] = []
    app = make_app(agent(seen, None), context=User("ada"))
    page = await open_page(app, tools={"where": lambda: "north"})
    config = {"context": {"name": "eve"}, "configurable": {"context": {"name": "eve"}, "name": "eve"}}
    await page.ended(await page.submit("Go", config=config))
    assert {each[0].name for each in seen if isinstance(each, tuple)} == {"ada"}
