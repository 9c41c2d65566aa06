"""Everything from a client is hostile: an error with a code, the connection lives on, the thread is untouched."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest

from farside import FarsideError, Limits
from farside.testing import MemoryLink
from server.tests.agents import guide

packb: Any = msgpack.packb

ANSWER = {"status": "success", "value": {"lat": 1}}
CALL, CLAIM = {"interrupt_id": "CALL"}, {"claim_id": "claim-1"}

FRAMES = [
    ("not json", "malformed_frame"),
    ("", "malformed_frame"),
    (b"\x00\x01", "malformed_frame"),
    ("[]", "invalid_argument"),
    ("null", "invalid_argument"),
    ('{"id": 1}', "invalid_argument"),
    ('{"id": "1", "method": "run.start"}', "invalid_argument"),
    ('{"id": -1, "method": "run.start"}', "invalid_argument"),
    ('{"id": 1, "method": "no.such"}', "unknown_command"),
    ('{"id": 1, "method": "run.start", "params": {"assistant_id": 5}}', "invalid_argument"),
    ('{"id": 1, "method": "run.start", "params": {"assistant_id": "nobody"}}', "not_found"),
    ('{"id": 1, "method": "subscription.subscribe", "params": {"channels": ["secrets"]}}', "invalid_argument"),
    ('{"id": 1, "method": "subscription.unsubscribe", "params": {"subscription_id": "s9"}}', "no_such_subscription"),
    ('{"id": 1, "method": "input.respond", "params": {"interrupt_id": "x", "response": 1}}', "no_such_interrupt"),
    ('{"id": 1, "method": "input.respond", "params": {}}', "invalid_argument"),
    ('{"id": 1, "method": "state.get", "params": {"namespace": [], "n": 9007199254740992}}', "invalid_value"),
    ('{"id": 1, "method": "state.get", "params": {"__proto__": {}}}', "invalid_value"),
    (json.dumps({"id": 1, "method": "state.get", "params": {"x": {"$bytes": "!"}}}), "invalid_value"),
    ("[" * 150 + "]" * 150, "too_deep"),
    ("[" * 5000, "too_deep"),
    (json.dumps({"id": 1, "x": "y" * 2000}), "too_large"),
]


@pytest.fixture
async def waiting(make_app, open_page):
    """An app with a thread that waits for an answer, and a page on it."""
    app = make_app(guide, limits=Limits(frame_bytes=6000))
    page = await open_page(app)
    await page.submit("Where am I?")
    opened = (await page.until(lambda e: e["method"] == "calls"))["params"]["data"]
    return app, page, opened["interrupt_id"]


@pytest.mark.parametrize(("frame", "code"), FRAMES)
async def test_bad_frames(make_app, open_page, frame, code):
    app = make_app(guide, limits=Limits(frame_bytes=1500 if code == "too_large" else 12_000))
    page = await open_page(app, tools={"locate": lambda high: {"lat": 1}})
    link = await MemoryLink(app, "thread-1", "farside.v1.json").open()

    await link.send_frame(frame)
    reply = await link.receive()
    assert (reply["type"], reply["error"]) == ("error", code)
    assert reply["message"]

    await link.send({"id": 7, "method": "connection.ping", "params": {}})
    assert (await link.receive())["type"] == "success"
    await link.close()
    assert await page.ask("Where am I?") == "You are at 1."


async def test_bad_messagepack(make_app):
    link = await MemoryLink(make_app(guide), "thread-1", "farside.v1.msgpack").open()
    for frame, code in [
        (b"", "malformed_frame"),
        (b"\xc1", "malformed_frame"),
        (packb({"id": 1})[:-1], "malformed_frame"),
        (packb(1) + packb(2), "malformed_frame"),
        (packb({1: 2}), "invalid_value"),
        (packb(msgpack.ExtType(5, b"x")), "invalid_value"),
        (packb({"id": 1, "method": "x", "params": {"a": float("nan")}}), "invalid_value"),
        ("{}", "malformed_frame"),
    ]:
        await link.send_frame(frame)
        assert (await link.receive())["error"] == code
    await link.close()


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("call.claim", {"interrupt_id": "nothing", **CLAIM}, "not_found"),
        ("call.claim", CALL, "invalid_argument"),
        ("call.settle", {"interrupt_id": "nothing", **CLAIM, "result": ANSWER}, "not_found"),
        ("call.settle", {**CALL, "result": ANSWER}, "invalid_argument"),
        ("call.settle", {**CALL, **CLAIM}, "invalid_argument"),
        ("call.settle", {**CALL, **CLAIM, "result": {"status": "success"}}, "invalid_argument"),
        ("call.settle", {**CALL, **CLAIM, "result": {"status": "done", "value": 1}}, "invalid_argument"),
        ("call.settle", {**CALL, **CLAIM, "result": {"status": "error", "error": "x"}}, "invalid_argument"),
        ("call.settle", {**CALL, **CLAIM, "result": None}, "invalid_argument"),
        ("call.progress", {**CALL, "value": 1}, "invalid_argument"),
        ("call.progress", {**CALL, **CLAIM, "value": 1}, "claim_lost"),
        ("call.release", CALL, "claim_lost"),
        ("run.cancel", {"run_id": "nowhere"}, "no_such_run"),
        ("run.cancel", {"run_id": None}, "invalid_argument"),
    ],
)
async def test_bad_commands_leave_the_call_open(waiting, open_page, method, params, code):
    _, page, interrupt_id = waiting
    asked = {key: interrupt_id if value == "CALL" else value for key, value in params.items()}

    with pytest.raises(FarsideError) as refused:
        await page.command(method, **asked)
    assert refused.value.code == code

    state = await page.command("state.get")
    assert state["calls"][0]["state"] == "open"
    stored = await page.command("call.settle", **page.held(interrupt_id), result=ANSWER)
    assert stored == {"result": ANSWER}


async def test_an_error_code_that_is_no_tool_code_is_refused(waiting):
    _, page, interrupt_id = waiting
    with pytest.raises(FarsideError) as refused:
        result = {"status": "error", "error": {"code": "whatever", "message": "m"}}
        await page.command("call.settle", **page.held(interrupt_id), result=result)
    assert refused.value.code == "invalid_argument"


async def test_calls_need_an_announced_client(make_app):
    link = await MemoryLink(make_app(guide), "thread-1", "farside.v1.json").open()
    await link.send({"id": 1, "method": "call.claim", "params": {"interrupt_id": "x", "claim_id": "k"}})
    reply = await link.receive()
    assert reply["error"] == "not_announced"
    assert "client.announce" in reply["message"]
    await link.close()


async def test_our_commands_need_our_subprotocol(make_app):
    link = await MemoryLink(make_app(guide), "thread-1", None).open()
    await link.send({"id": 1, "method": "client.announce", "params": {"client_id": "x", "tools": []}})
    assert (await link.receive())["error"] == "not_supported"
    await link.close()


async def test_a_thread_that_never_ran_is_not_found(make_app, open_page):
    page = await open_page(make_app(guide))
    with pytest.raises(FarsideError) as refused:
        await page.command("state.get")
    assert refused.value.code == "not_found"


async def test_a_result_larger_than_a_frame_is_refused_by_name(waiting):
    """F26: the connection and the thread live on."""
    app, page, interrupt_id = waiting
    link = await MemoryLink(app, "thread-1", "farside.v1.json").open()
    await link.send({"id": 1, "method": "client.announce", "params": {"client_id": "other", "tools": []}})
    assert (await link.receive())["result"]["limits"]["frame_bytes"] == 6000
    result = {"status": "success", "value": {"lat": 1, "note": "x" * 7000}}

    params = {"interrupt_id": interrupt_id, "claim_id": "k", "result": result}
    await link.send({"id": 2, "method": "call.settle", "params": params})
    refused = await link.receive()
    await link.close()

    assert (refused["id"], refused["error"]) == (None, "too_large")
    assert await page.command("call.settle", **page.held(interrupt_id), result=ANSWER) == {"result": ANSWER}
