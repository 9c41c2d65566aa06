"""What a client may say about its message: what becomes of the run before it, and that it was sent once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from farside import FarsideError, Settings
from server.tests.agents import echo, guide


class Slow:
    """An agent that says what it was told when it is let go on."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.begun: list[str] = []

    @property
    def served(self) -> Any:
        async def slow(turn: Any, value: Any) -> None:
            self.begun.append(turn.text)
            await self.go_on.wait()
            await turn.say(f"heard {turn.text}")

        return slow


def human(text: str, message_id: str | None = "m1") -> dict[str, Any]:
    message = {"type": "human", "content": text}
    return {"messages": [message if message_id is None else {**message, "id": message_id}]}


async def start(page: Any, input: Any, **params: Any) -> str:
    return (await page.command("run.start", assistant_id="assistant", input=input, **params))["run_id"]


@pytest.mark.parametrize("spelling", ["multitask_strategy", "multitaskStrategy"])
@pytest.mark.parametrize("settings", [Settings(on_active_run="queue"), Settings(on_active_run="cancel")])
async def test_reject(make_app: Any, open_page: Any, spelling: str, settings: Settings) -> None:
    slow = Slow()
    page = await open_page(make_app(slow.served, settings=settings))
    first = await page.submit("one")
    with pytest.raises(FarsideError) as caught:
        await page.submit("two", **{spelling: "reject"})
    slow.go_on.set()
    assert (await page.ended(first))["event"] == "completed"
    assert caught.value.code == "run_active"
    assert caught.value.details == {"run_id": first}


async def test_reject_while_it_waits(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(guide))
    await page.submit("Where am I?")
    await page.until(lambda e: e["method"] == "calls")
    with pytest.raises(FarsideError) as caught:
        await page.submit("two", multitask_strategy="reject")
    assert caught.value.code == "run_interrupted"


@pytest.mark.parametrize("policy", ["queue", "refuse"])
async def test_interrupt(make_app: Any, open_page: Any, policy: Any) -> None:
    slow = Slow()
    page = await open_page(make_app(slow.served, settings=Settings(on_active_run=policy)))
    first = await page.submit("one")
    second = await page.submit("two", multitaskStrategy="interrupt", multitask_strategy="interrupt")
    assert (await page.ended(first))["code"] == "cancelled"
    slow.go_on.set()
    assert (await page.ended(second))["event"] == "completed"
    assert page.texts() == ["heard two"]


async def test_enqueue_while_it_waits(make_app: Any, open_page: Any) -> None:
    """The setting says that a message cancels what waits; the client that it does not."""
    page = await open_page(make_app(guide))
    first = await page.submit("Where am I?")
    opened = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]
    second = await page.submit("And now?", multitask_strategy="enqueue")
    waiting = (await page.command("state.get"))["queued"]
    await page.command("input.respond", interrupt_id=opened["interrupt_id"], response={"lat": 1.5})

    assert (await page.ended(first))["event"] == "completed"
    assert [run["run_id"] for run in waiting] == [second]
    await page.until(lambda e: e["method"] == "lifecycle" and e["params"]["data"].get("run_id") == second)


@pytest.mark.parametrize("strategy", ["reject", "interrupt", "rollback", "enqueue"])
async def test_a_strategy_where_nothing_is_under_way(make_app: Any, open_page: Any, strategy: str) -> None:
    page = await open_page(make_app(echo))
    await page.ended(await page.submit("one", multitask_strategy=strategy))
    assert page.texts() == ["You said one."]


async def test_rollback_of_an_agent_that_has_no_checkpoints(make_app: Any, open_page: Any) -> None:
    slow = Slow()
    page = await open_page(make_app(slow.served))
    first = await page.submit("one")
    with pytest.raises(FarsideError, match="keeps no checkpoints") as caught:
        await page.submit("two", multitask_strategy="rollback")
    slow.go_on.set()

    assert caught.value.code == "not_supported"
    assert (await page.ended(first))["event"] == "completed", "it goes on"


# --- sent twice ---


async def test_a_message_that_comes_twice_starts_one_run(make_app: Any, open_page: Any) -> None:
    """While its run executes, while it waits for its turn, and when it has ended."""
    slow = Slow()
    page = await open_page(make_app(slow.served))
    first, again = await start(page, human("one", "m1")), await start(page, human("one", "m1"))
    second, once_more = await start(page, human("two", "m2")), await start(page, human("two", "m2"))
    slow.go_on.set()
    await page.ended(second)
    late = await start(page, human("two", "m2"))

    assert (first, second, second) == (again, once_more, late)
    assert slow.begun == ["one", "two"]


async def test_a_message_that_comes_twice_to_another_server(make_app: Any, open_page: Any) -> None:
    app = make_app(echo)
    page = await open_page(app)
    first = await start(page, human("one"))
    await page.ended(first)
    await app.stop()
    back = await open_page(make_app(echo))
    assert await start(back, human("one")) == first


@pytest.mark.parametrize(
    "second",
    [
        {"input": human("one", "m2")},
        {"input": human("one", None)},
        {"input": human("other", "m1")},
        {"input": human("one", "m1"), "run_id": "mine"},
        {"input": {"text": "one"}},
    ],
)
async def test_what_is_another_message(make_app: Any, open_page: Any, second: dict[str, Any]) -> None:
    page = await open_page(make_app(echo))
    first = await start(page, human("one", "m1"))
    await page.ended(first)
    assert await start(page, **second) != first


async def test_messages_without_an_id_are_never_the_same(make_app: Any, open_page: Any) -> None:
    page = await open_page(make_app(echo))
    assert await start(page, human("one", None)) != await start(page, human("one", None))


async def test_what_was_stopped_may_be_asked_again(make_app: Any, open_page: Any) -> None:
    slow = Slow()
    page = await open_page(make_app(slow.served))
    first = await start(page, human("one"))
    await page.stop()
    await page.ended(first)
    assert await start(page, human("one")) != first
