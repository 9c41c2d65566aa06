"""What every runtime must do, as tests to inherit: the engine drives it, a fake browser answers."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from farside.buses.memory import MemoryBus
from farside.core.ports import Runtime
from farside.core.transcript import text_of
from farside.engine import Engine, Settings
from farside.errors import ToolError
from farside.stores.memory import MemoryStore
from farside.testing.browser import Body, FakeBrowser
from farside.testing.clock import ManualClock
from farside.testing.link import MemoryLink
from farside.wire.values import DEFAULT_LIMITS

Script = list[dict[str, Any]]
"""What the agent does with each message of the user, as in protocol/vectors/README.md: say, calls, fail."""

ONE_CALL: Script = [{"calls": [{"name": "ask", "args": {"n": 1}}]}, {"say": "got {0}"}]
TWO_CALLS: Script = [{"calls": [{"name": "ask", "args": {"n": n}} for n in (1, 2)]}, {"say": "got {0} and {1}"}]


def _echo(n: int) -> dict[str, int]:
    return {"n": n}


def _fine(n: int) -> str:
    return "fine"


def _late(n: int) -> str:
    return f"late {n}"


def _check_history(messages: list[dict[str, Any]]) -> None:
    """Each tool call has its one tool message, directly after the message that made it (L6)."""
    expected: list[str] = []
    for message in messages:
        if message["type"] == "tool":
            expected.remove(message["tool_call_id"])
        else:
            assert not expected, f"calls without a tool message: {expected}"
            expected = [call["id"] for call in message.get("tool_calls", [])]
    assert not expected, f"calls without a tool message: {expected}"


class _Served:
    """One engine over a store; another one over the same store is a restart."""

    def __init__(self, runtime: Runtime, store: MemoryStore, clock: ManualClock) -> None:
        ids = itertools.count(1)
        self._engine = Engine(
            store=store,
            bus=MemoryBus(),
            runtimes={"assistant": runtime},
            clock=clock,
            new_id=lambda: f"id-{next(ids)}",
            settings=Settings(),
            limits=DEFAULT_LIMITS,
            process_id=f"process-{uuid.uuid4()}",
            is_gone=lambda _: False,
        )

    async def engine(self) -> Engine:
        return self._engine


class RuntimeContract:
    """Inherit, and give :meth:`runtime`; pytest (asyncio_mode=auto) runs the rest."""

    def runtime(self, script: Script) -> Runtime:
        """A fresh runtime for an agent that follows the script; it declares the headless tool ``ask(n)``.

        Called again with the same script it stands for a new process: what the agent had stored durably is there.
        """
        raise NotImplementedError

    @asynccontextmanager
    async def serving(self, script: Script, store: MemoryStore) -> AsyncGenerator[_Served]:
        """An engine with the runtime, stopped at the end."""
        served = _Served(self.runtime(script), store, ManualClock())
        engine = await served.engine()
        await engine.start()
        try:
            yield served
        finally:
            await engine.stop()

    @asynccontextmanager
    async def page(self, served: _Served, ask: Body | None = None) -> AsyncGenerator[FakeBrowser]:
        """A page that implements ``ask``, or nothing."""
        link = await MemoryLink(served, "thread-1").open()
        async with FakeBrowser(link, agent="assistant", tools={} if ask is None else {"ask": ask}) as page:
            yield page

    async def test_it_speaks(self) -> None:
        async with self.serving([{"say": "Hello."}], MemoryStore()) as served, self.page(served) as page:
            assert (await page.ask("Hi")).strip() == "Hello."
            state = await page.command("state.get")
        kinds = [(message["type"], text_of(message).strip()) for message in state["values"]["messages"]]
        assert kinds == [("human", "Hi"), ("ai", "Hello.")]

    async def test_a_call_is_answered(self) -> None:
        async with self.serving(ONE_CALL, MemoryStore()) as served, self.page(served, _echo) as page:
            assert (await page.ask("Go")).strip() == 'got {"n":1}'
        assert page.executions == [("ask", {"n": 1})]

    async def test_calls_made_together_are_open_together_and_keep_their_answers(self) -> None:
        second = asyncio.Event()

        async def ask(n: int) -> str:
            if n == 1:
                await second.wait()
            second.set()
            return f"answer {n}"

        async with self.serving(TWO_CALLS, MemoryStore()) as served, self.page(served, ask) as page:
            assert (await page.ask("Go")).strip() == 'got "answer 1" and "answer 2"'

    async def test_a_failure_reaches_the_agent_as_a_failure(self) -> None:
        def ask(n: int) -> None:
            raise ToolError("permission_denied", "no")

        async with self.serving(ONE_CALL, MemoryStore()) as served, self.page(served, ask) as page:
            assert (await page.ask("Go")).strip() == "got error permission_denied"

    async def test_an_agent_that_raises_fails_its_run(self) -> None:
        async with self.serving([{"fail": "on purpose"}], MemoryStore()) as served, self.page(served) as page:
            ended = await page.ended(await page.submit("Go"))
        assert (ended["event"], ended["code"]) == ("failed", "agent_failed")

    async def test_after_a_stop_the_next_turn_is_whole(self) -> None:
        async with self.serving(ONE_CALL, MemoryStore()) as served:
            async with self.page(served) as page:
                run_id = await page.submit("Go")
                await page.until(lambda event: event["method"] == "calls")
                await page.stop()
                assert (await page.ended(run_id))["code"] == "cancelled"
                _check_history((await page.command("state.get"))["values"]["messages"])
            async with self.page(served, _fine) as page:
                assert (await page.ask("Again")).strip() == 'got "fine"'

    async def test_a_new_message_takes_the_place_of_an_open_call(self) -> None:
        async with self.serving(ONE_CALL, MemoryStore()) as served, self.page(served) as page:
            first = await page.submit("Go")
            await page.until(lambda event: event["method"] == "calls")
            second = await page.submit("Never mind")
            assert (await page.ended(first))["code"] == "cancelled"
            async with self.page(served, _fine):
                assert (await page.ended(second))["event"] == "completed"

    async def test_a_restart_between_call_and_answer(self) -> None:
        store = MemoryStore()
        async with self.serving(TWO_CALLS, store) as served, self.page(served) as page:
            run_id = await page.submit("Go")
            await page.until(lambda event: len(page.calls("opened")) == 2)
            call = page.calls("opened")[0]
            result = {"status": "success", "value": "early"}
            await page.command("call.settle", **page.held(call["interrupt_id"]), result=result)
        early = call["args"]["n"]
        async with self.serving(TWO_CALLS, store) as served, self.page(served, _late) as page:
            await page.command("subscription.subscribe", channels=["lifecycle", "messages"])
            assert (await page.ended(run_id))["event"] == "completed"
        expected = [f'"late {n}"' if n != early else '"early"' for n in (1, 2)]
        assert page.texts()[-1].strip() == f"got {expected[0]} and {expected[1]}"
        assert len(page.executions) == 1
