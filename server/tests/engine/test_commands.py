"""Commands that read what has been, of agents that are no graphs; and those that are always refused."""

from __future__ import annotations

from typing import Any

import pytest

from farside import FarsideError
from server.tests.agents import echo, guide


async def refused(page: Any, method: str, **params: Any) -> str:
    with pytest.raises(FarsideError) as caught:
        await page.command(method, **params)
    return caught.value.code


async def test_nothing_is_put_into_a_run(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(guide))
    await page.submit("Where am I?")
    with pytest.raises(FarsideError, match="with multitask_strategy") as caught:
        await page.command("input.inject", namespace=[], message={"role": "user", "content": "Hurry"})
    assert caught.value.code == "not_supported"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("state.get", {"namespace": []}),
        ("state.listCheckpoints", {}),
        ("state.fork", {"checkpoint_id": "c1"}),
        ("agent.getTree", {}),
        ("subscription.reconnect", {"run_id": "r1"}),
    ],
)
async def test_a_thread_that_is_none(make_app: Any, open_page: Any, method: str, params: dict[str, Any]) -> None:
    page = await open_page(make_app(echo))
    assert await refused(page, method, **params) == "not_found"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("state.get", {"namespace": ["inner:1"]}),
        ("state.listCheckpoints", {}),
        ("state.fork", {"checkpoint_id": "c1"}),
        ("run.start", {"assistant_id": "assistant", "fork_from": "c1"}),
    ],
)
async def test_an_agent_without_checkpoints(make_app: Any, open_page: Any, method: str, params: dict[str, Any]) -> None:
    page = await open_page(make_app(echo))
    await page.ask("hi")
    with pytest.raises(FarsideError, match="'assistant' is none and keeps no checkpoints") as caught:
        await page.command(method, **params)
    assert caught.value.code == "not_supported"


async def test_the_tree_of_a_run(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(guide))
    run_id = await page.submit("Where am I?")
    running = await page.command("agent.getTree", run_id=run_id)
    await page.stop()

    assert running == {"tree": {"namespace": [], "status": "running", "graph_name": "assistant"}}
    assert (await page.command("agent.getTree"))["tree"]["status"] == "interrupted"
    assert await refused(page, "agent.getTree", run_id="nobody") == "no_such_run"


async def test_a_client_that_was_away(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(echo))
    run_id = await page.submit("hi")
    await page.ended(run_id)
    last, before = page.events[-1]["event_id"], page.events[-2]["event_id"]
    status = [{"namespace": [], "status": "completed"}]

    async def ask(**params: Any) -> dict[str, Any]:
        return await page.command("subscription.reconnect", run_id=run_id, **params)

    assert await ask() == {"restored": False, "current_namespaces": status}
    assert await ask(last_event_id="unreadable") == {"restored": False, "current_namespaces": status}
    assert (await ask(last_event_id=last))["missed_events"] == 0
    assert (await ask(last_event_id=before, subscriptions=["s1"]))["missed_events"] == 1
    assert (await ask(last_event_id=f"{run_id}:{10**30}"))["missed_events"] == 0
    assert await refused(page, "subscription.reconnect", run_id="nobody") == "no_such_run"
