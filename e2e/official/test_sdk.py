"""LangGraph's JavaScript client, the newest one, in Node."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import PATIENCE
from e2e.official.conftest import APP, each_transport

SCRIPT = Path(__file__).parent / "web/sdk.mjs"

Run = Callable[[str, str], dict[str, Any]]


@pytest.fixture
def run(serve: Callable[[str], str]) -> Run:
    """``run(transport, scenario)``: what happened."""

    def run(transport: str, scenario: str) -> dict[str, Any]:
        # Node 20 has WebSockets only when it is told so.
        command = ["node", "--experimental-websocket", str(SCRIPT), f"{serve(APP)}/farside", transport, scenario]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    return run


@each_transport
def test_a_turn(run: Run, transport: str) -> None:
    happened = run(transport, "turn")
    assert happened["said"] == ["say hello there", "hello there "]
    assert "".join(happened["streamed"]) == "hello there "


@each_transport
def test_a_headless_tool(run: Run, transport: str) -> None:
    happened = run(transport, "tool")
    asked = {"id": "call_1_first", "name": "hold", "args": {"key": "first"}}
    assert happened["payload"] == {"type": "tool", "tool_call": asked}
    assert happened["said"] == ["call hold first", "", "done", "heard done "]


@each_transport
def test_an_interrupt(run: Run, transport: str) -> None:
    happened = run(transport, "interrupt")
    assert happened["payload"] == {"question": "Send it?"}
    assert happened["said"] == ["Send it?", "You said yes."]
