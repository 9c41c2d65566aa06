"""The frames that the official hooks send, and what they hear."""

from __future__ import annotations

from typing import Any

from farside.testing import MemoryLink

CONTENT = ["values", "checkpoints", "lifecycle", "input", "messages", "tools"]


class Hook:
    """Sends what the hook sends, in its order and spelling."""

    def __init__(self, link: MemoryLink) -> None:
        self.link = link
        self.sent = 0
        self.heard: list[dict[str, Any]] = []

    async def send(self, method: str, **params: Any) -> int:
        self.sent += 1
        await self.link.send({"id": self.sent, "method": method, "params": params})
        return self.sent

    async def start(self, text: str, agent: str = "assistant") -> int:
        message = {"type": "human", "content": text, "id": text, "additional_kwargs": {}, "response_metadata": {}}
        config = {"configurable": {"thread_id": "t"}}
        started = await self.send("run.start", input={"messages": [message]}, config=config, assistant_id=agent)
        await self.subscribe()
        return started

    async def subscribe(self) -> None:
        await self.send("subscription.subscribe", channels=["lifecycle", "input"])
        await self.send("subscription.subscribe", channels=CONTENT, namespaces=[[]], depth=1)

    async def until(self, fits: Any) -> dict[str, Any]:
        while True:
            message = await self.link.receive()
            self.heard.append(message)
            if fits(message):
                return message

    async def reply(self, command_id: int) -> dict[str, Any]:
        return await self.until(lambda m: m.get("id") == command_id)

    async def answer(self, requested: dict[str, Any], value: Any) -> int:
        """Answer what was requested as the hook does, under the names that it was asked by."""
        response = {requested["payload"]["tool_call"]["id"]: value}
        answer = {"interrupt_id": requested["interrupt_id"], "response": response, "namespace": []}
        return await self.send("input.respond", responses=[answer])

    async def goes_on(self, link: MemoryLink, *, lost: int = 0) -> None:
        """Connect anew and count on. ``lost``: how many commands were sent that did not arrive."""
        self.link = link
        self.sent += lost
        await self.subscribe()

    async def requested(self) -> dict[str, Any]:
        return (await self.until(lambda m: m.get("method") == "input.requested"))["params"]["data"]

    async def ended(self) -> dict[str, Any]:
        def last(m: dict[str, Any]) -> bool:
            return m.get("method") == "lifecycle" and m["params"]["data"]["event"] != "running"

        return (await self.until(last))["params"]["data"]

    def events(self, method: str) -> list[dict[str, Any]]:
        """The data of all events of a method that were heard so far."""
        return [m["params"]["data"] for m in self.heard if m.get("method") == method]

    def texts(self) -> list[str]:
        finished = [m["params"]["data"] for m in self.heard if m.get("method") == "messages"]
        return list(dict.fromkeys(d["content"]["text"] for d in finished if d["event"] == "content-block-finish"))
