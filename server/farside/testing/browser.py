"""A fake browser: a page in Python that implements tools and keeps to protocol/README.md, section 7."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, cast

from farside.core.transcript import input_messages
from farside.errors import FarsideError, ToolError
from farside.testing.link import Link, LinkClosed

Body = Callable[..., Any | Awaitable[Any]]
"""A tool's body: called with the arguments by name, plain or async. Raise ToolError to fail with a code."""

ENDS = ("completed", "failed", "interrupted")
CHANNELS = ["lifecycle", "messages", "tools", "calls", "custom"]


class FakeBrowser:
    """A page on one thread. It outlives its links: after one is cut, :meth:`connect` goes on over another.

    ``events`` are all events that arrived, in order and without doubles; ``executions`` the calls whose bodies ran, as
    ``(name, args)``; ``values`` the last state that :meth:`connect` read; ``errors`` what belongs to no command.

    Args:
        link: an open link.
        agent: the agent that :meth:`submit` asks for.
        tools: bodies by tool name.
        client_id: who the page is; give the same one again to come back as the same page.
    """

    def __init__(
        self, link: Link, *, agent: str, tools: Mapping[str, Body] | None = None, client_id: str | None = None
    ) -> None:
        self.client_id = client_id or f"page-{uuid.uuid4()}"
        self.events: list[dict[str, Any]] = []
        self.executions: list[tuple[str, dict[str, Any]]] = []
        self.values: dict[str, Any] = {}
        self.errors: list[dict[str, Any]] = []
        self.seq = 0
        self._link = link
        self._agent = agent
        self._tools = dict(tools or {})
        self._ids = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._seen: set[str] = set()
        self._names: dict[str, str] = {}
        self._claims: dict[str, str] = {}
        self._pings: set[asyncio.Task[None]] = set()
        self._bodies: dict[str, asyncio.Task[None]] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._is_new = True
        self._arrived = asyncio.Condition()
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> FakeBrowser:
        await self.connect()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        await self.close()

    async def connect(self, link: Link | None = None) -> None:
        """Announce, the first time read the state, subscribe, and take up the open calls; answers that were not
        acknowledged are sent again.

        Args:
            link: another link than before, open: the page reconnects.
        """
        if link is not None:
            await self._disconnect()
            self._link = link
        self._reader = asyncio.create_task(self._read())
        tools = [{"name": name} for name in self._tools]
        await self.command("client.announce", client_id=self.client_id, tools=tools, visible=True, focused=True)
        since = self.seq
        try:
            if self._is_new:
                state = await self.request("state.get", namespace=[])
                self.values = state["result"]["values"]
                since = state["meta"]["applied_through_seq"]
        except FarsideError as error:
            if error.code != "not_found":
                raise
        reply = await self.command("subscription.subscribe", channels=CHANNELS, since=since)
        self._is_new = False
        for answer in list(self._answers.values()):
            await self._settle(answer)
        for call in reply["calls"]:
            self._take_up(call)

    async def close(self) -> None:
        """Close the page: its bodies stop, its link closes."""
        for task in self._bodies.values():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._disconnect()

    async def _disconnect(self) -> None:
        for task in (*self._pings, self._reader):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        await self._link.close()

    # --- what a user or a test does ---

    async def submit(self, text: str, **params: Any) -> str:
        """Send a message; returns the run's id."""
        message = {"type": "human", "content": text, "id": f"message-{uuid.uuid4()}"}
        start = {"assistant_id": self._agent, "input": {"messages": [message]}, **params}
        return (await self.command("run.start", **start))["run_id"]

    async def stop(self) -> None:
        """Stop the run."""
        await self.command("run.cancel")

    async def ask(self, text: str) -> str:
        """Send a message, wait for the run's end, and return the agent's last text."""
        run_id = await self.submit(text)
        await self.ended(run_id)
        return self.texts()[-1]

    async def ended(self, run_id: str) -> dict[str, Any]:
        """Wait until a run has ended; returns the data of its last lifecycle event."""
        event = await self.until(
            lambda e: e["method"] == "lifecycle" and _data(e).get("run_id") == run_id and _data(e)["event"] in ENDS
        )
        return _data(event)

    async def until(self, fits: Callable[[dict[str, Any]], bool], timeout: float = 10) -> dict[str, Any]:
        """The first event, past or to come, that fits. Raises TimeoutError after ``timeout`` seconds."""
        async with asyncio.timeout(timeout), self._arrived:
            while True:
                for event in self.events:
                    if fits(event):
                        return event
                await self._arrived.wait()

    async def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Carry out a command; returns its result. Raises FarsideError with the reply's code."""
        return (await self.request(method, **params))["result"]

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Like :meth:`command`, returns the whole reply."""
        if self._reader is None or self._reader.done():
            raise LinkClosed
        command_id = next(self._ids)
        self._replies[command_id] = asyncio.get_running_loop().create_future()
        await self._link.send({"id": command_id, "method": method, "params": params})
        reply = await self._replies[command_id]
        del self._replies[command_id]
        if reply["type"] == "error":
            raise FarsideError(reply["error"], reply["message"], details=reply.get("details"))
        return reply

    def held(self, interrupt_id: str) -> dict[str, str]:
        """How the commands of a claim name it: the call, and this page's claim id for it, made when first needed."""
        return {
            "interrupt_id": interrupt_id,
            "claim_id": self._claims.setdefault(interrupt_id, f"claim-{uuid.uuid4()}"),
        }

    def texts(self) -> list[str]:
        """The agent's texts that arrived, in order."""
        blocks = [_data(e)["content"] for e in self.events if _data(e).get("event") == "content-block-finish"]
        return [block["text"] for block in blocks if block["type"] == "text"]

    def calls(self, event: str) -> list[dict[str, Any]]:
        """The data of the ``calls`` events of one kind, for example ``"settled"``."""
        return [_data(e) for e in self.events if e["method"] == "calls" and _data(e)["event"] == event]

    def said(self) -> list[str]:
        """What users said on this thread, by the lifecycle events that arrived."""
        starts = [_data(e) for e in self.events if e["method"] == "lifecycle" and _data(e)["event"] == "running"]
        return [message["content"] for start in starts for message in input_messages(start.get("input"))]

    # --- what the page does by itself ---

    async def _read(self) -> None:
        try:
            with suppress(LinkClosed):
                while True:
                    await self._take(await self._link.receive())
        finally:
            for reply in self._replies.values():
                if not reply.done():
                    reply.set_exception(LinkClosed())
                    reply.exception()  # whoever has asked may be gone too

    async def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "event":
            await self._heard(message)
        elif message["type"] == "ping":
            self._answer_ping()
        elif message["id"] is None:
            self.errors.append(message)
        else:
            reply = self._replies.get(message["id"])
            if reply is not None and not reply.done():
                reply.set_result(message)

    async def _heard(self, event: dict[str, Any]) -> None:
        if event["event_id"] in self._seen:
            return
        self._seen.add(event["event_id"])
        self.seq = max(self.seq, event["seq"])
        async with self._arrived:
            self.events.append(event)
            self._arrived.notify_all()
        if event["method"] != "calls":
            return
        data = _data(event)
        if data["event"] in ("opened", "offered"):
            self._take_up(data)
        elif data["event"] in ("cancelled", "expired") and data["interrupt_id"] in self._bodies:
            self._bodies[data["interrupt_id"]].cancel()

    def _answer_ping(self) -> None:
        answer = asyncio.create_task(self._ping())
        self._pings.add(answer)
        answer.add_done_callback(self._pings.discard)

    async def _ping(self) -> None:
        with suppress(LinkClosed, FarsideError):
            await self.command("connection.ping")

    def _is_running(self, interrupt_id: str) -> bool:
        return interrupt_id in self._bodies and not self._bodies[interrupt_id].done()

    def _take_up(self, call: dict[str, Any]) -> None:
        """Claim and execute a call that is offered to this page; give back one that it holds and knows nothing of."""
        interrupt_id = call["interrupt_id"]
        name = self._names.setdefault(interrupt_id, call.get("name", ""))
        running = interrupt_id in self._answers or self._is_running(interrupt_id)
        if call.get("client_id") == self.client_id and name in self._tools and not running:
            forgotten = call.get("state") == "claimed" and interrupt_id not in self._claims
            what = self._give_back(interrupt_id) if forgotten else self._execute(interrupt_id)
            self._bodies[interrupt_id] = asyncio.create_task(what)

    async def _give_back(self, interrupt_id: str) -> None:
        with suppress(LinkClosed, FarsideError):
            await self.command("call.release", interrupt_id=interrupt_id, started=True)

    async def _execute(self, interrupt_id: str) -> None:
        with suppress(LinkClosed):
            held = self.held(interrupt_id)
            try:
                claim = await self.command("call.claim", **held)
            except FarsideError as error:
                if not error.retryable:
                    del self._claims[interrupt_id]
                return
            self.executions.append((claim["name"], claim["args"]))
            result = await self._result(self._tools[claim["name"]], claim["args"])
            answer = {**held, "result": result}
            self._answers[interrupt_id] = answer
            await self._settle(answer)

    async def _settle(self, answer: dict[str, Any]) -> None:
        """Send an answer, again after each reconnection until the server has said what became of it."""
        try:
            await self.command("call.settle", **answer)
        except FarsideError as error:
            if error.retryable:
                return
        self._answers.pop(answer["interrupt_id"], None)

    async def _result(self, body: Body, args: dict[str, Any]) -> dict[str, Any]:
        try:
            value = body(**args)
            if inspect.isawaitable(value):
                value = await value
        except ToolError as error:
            return {"status": "error", "error": {"code": error.code, "message": error.message}}
        except Exception as error:
            return {"status": "error", "error": {"code": "failed", "message": str(error)}}
        return {"status": "success", "value": value}


def _data(event: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", event["params"]["data"])
