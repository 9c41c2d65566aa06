"""The agent that the ready-made tools are tested with: it calls what the message says, as those of ``e2e.browser.app``
do, and says as JSON how each call ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import farside
from farside import browser

DECLARED: dict[str, farside.HeadlessTool] = {name: getattr(browser, name) for name in browser.__all__}


def agent(described: Callable[[bytes], Any]) -> Callable[[farside.Turn, Any], Awaitable[None]]:
    """``described`` makes of bytes what there is to say about them."""

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shown(each) for key, each in value.items()}
        if isinstance(value, list):
            return [shown(each) for each in value]
        return described(value) if isinstance(value, bytes) else value

    async def outcome(turn: farside.Turn, name: str, args: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"status": "success", "value": shown(await turn.call(DECLARED[name], **args))}
        except farside.ToolError as error:
            return {"status": "error", "code": error.code, "message": error.message}

    async def function(turn: farside.Turn, _input: Any) -> None:
        calls = (outcome(turn, each["name"], each["args"]) for each in json.loads(turn.text)["calls"])
        await turn.say(json.dumps(await asyncio.gather(*calls)))

    return function
