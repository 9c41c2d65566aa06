"""Bytes that a page answers with, as the model and the other pages get them."""

from __future__ import annotations

import base64
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from farside.core.media import MAX_BYTES
from farside.core.model import success
from farside.langgraph import tool
from farside.langgraph.plain import plain
from farside.langgraph.results import tool_message
from server.tests.langgraph.scripted import Streaming, call, calling

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
IMAGES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0more",
    "image/gif": b"GIF89amore",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 ",
}
PDF = b"%PDF-1.7 more"


def shown(value: Any) -> ToolMessage:
    return tool_message("shoot", "call-1", success(value))


def blocks(value: Any) -> list[dict[str, Any]]:
    """The content blocks without their ids, the base64 decoded."""
    content = shown(value).content
    assert isinstance(content, list)
    found: list[dict[str, Any]] = []
    for block in content:
        assert isinstance(block, dict)
        kept = {key: each for key, each in block.items() if key != "id"}
        if "base64" in kept:
            kept["base64"] = base64.b64decode(kept["base64"], validate=True)
        found.append(kept)
    return found


@pytest.mark.parametrize("mime_type", IMAGES)
@pytest.mark.parametrize("claimed", [None, "right", "application/octet-stream", ""])
def test_an_image_is_an_image_block_whatever_the_page_says_of_it(mime_type: str, claimed: str | None) -> None:
    data = IMAGES[mime_type]
    said = mime_type if claimed == "right" else claimed
    value = data if said is None else {"mime_type": said, "data": data}
    assert blocks(value) == [{"type": "image", "base64": data, "mime_type": mime_type}]
    assert shown(value).artifact is None


def test_a_file_says_its_name() -> None:
    named = {"mime_type": "application/pdf", "name": "bill.pdf", "data": PDF}
    assert blocks(named) == [
        {"type": "text", "text": f"<bill.pdf, application/pdf, {len(PDF)} bytes>"},
        {"type": "file", "base64": PDF, "mime_type": "application/pdf", "filename": "bill.pdf"},
    ]
    assert blocks(PDF) == [{"type": "file", "base64": PDF, "mime_type": "application/pdf", "filename": "file.pdf"}]


@pytest.mark.parametrize("mime_type", ["text/plain", "text/csv;charset=utf-8", "application/json", "image/svg+xml"])
def test_a_text_file_is_a_text(mime_type: str) -> None:
    assert blocks({"mime_type": mime_type, "data": "größer".encode()}) == [{"type": "text", "text": "größer"}]


def test_media_within_a_value_follow_it_in_their_order() -> None:
    text, *rest = blocks({"shots": [PNG, {"mime_type": "", "data": PDF}], "count": 2})
    assert json.loads(text["text"]) == {
        "shots": [f"<{len(PNG)} bytes> (shown below, 1)", f"<{len(PDF)} bytes> (shown below, 2)"],
        "count": 2,
    }
    assert [block["type"] for block in rest] == ["image", "file"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"PK\x03\x04", "<4 bytes>"),
        ({"mime_type": "application/zip", "name": "a.zip", "data": b"PK"}, "<a.zip, application/zip, 2 bytes>"),
        ({"mime_type": "image/png", "data": b"no image"}, "<image/png, 8 bytes>"),
        ({"mime_type": "text/plain", "data": b"\xff\xfe"}, "<text/plain, 2 bytes>"),
        (PNG[:8].ljust(MAX_BYTES + 1), f"<{MAX_BYTES + 1} bytes, too large to be shown, the limit is {MAX_BYTES}>"),
    ],
    ids=["bytes", "zip", "no image", "no text", "too large"],
)
def test_what_a_model_cannot_take_is_described_and_kept(value: Any, text: str) -> None:
    message = shown(value)
    assert json.loads(str(message.content)) == text
    assert message.artifact == value


@pytest.mark.parametrize(
    "value",
    [
        {"mime_type": "image/png", "data": "text"},
        {"mime_type": "image/png", "data": "text", "more": 1},
        {"mime_type": 7, "data": "text"},
        {"data": "text"},
    ],
)
def test_what_only_looks_like_a_file_is_a_value(value: Any) -> None:
    assert json.loads(str(shown(value).content)) == value


def test_clients_are_shown_messages_without_what_a_page_has_sent() -> None:
    image = plain(shown(PNG))["content"][0]
    assert {**image, "id": ""} == {"type": "image", "id": "", "mime_type": "image/png"}
    own = {"type": "image", "base64": "abcd", "mime_type": "image/png"}
    assert plain(ToolMessage([own], tool_call_id="a"))["content"] == [own]  # a server tool's: nobody else has it


async def test_f25_a_screenshot_reaches_the_model_as_an_image(make_app: Any, open_page: Any) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(4 * 1024 * 1024)
    model = Streaming(
        script=lambda messages: AIMessage("seen") if messages[-1].type == "tool" else calling(call("shoot"))
    )
    app = make_app(create_agent(model, [tool(name="shoot")]))
    page = await open_page(app, tools={"shoot": lambda: {"mime_type": "image/png", "data": picture}})
    run_id = await page.submit("Look")
    await page.ended(run_id)

    given = model.seen[-1][-1].content
    assert isinstance(given, list)
    assert [block["type"] for block in given if isinstance(block, dict)] == ["image"]
    assert base64.b64decode(given[0]["base64"]) == picture  # pyright: ignore[reportArgumentType]
    assert isinstance(model.seen[-1][0], HumanMessage)
    # The page has the picture; what tells of it elsewhere is short.
    state = await page.command("state.get")
    assert len(json.dumps(state["values"]["messages"])) < 5_000
    output = await page.until(
        lambda event: event["method"] == "tools" and event["params"]["data"]["event"] == "tool-finished"
    )
    assert len(json.dumps(output["params"]["data"])) < 2_000


async def test_f25_the_bytes_are_in_the_checkpoints_once(make_app: Any, open_page: Any, tmp_path: Path) -> None:
    """Though the resumed pause, what the tool wrote, its message, and the next turn's have them."""
    picture = b"\x89PNG\r\n\x1a\n" + bytes(4 * 1024 * 1024)
    path = tmp_path / "one.db"
    model = Streaming(
        script=lambda messages: AIMessage("seen") if messages[-1].type == "tool" else calling(call("shoot"))
    )
    app = make_app(create_agent(model, [tool(name="shoot")]), store=f"sqlite:///{path}")
    page = await open_page(app, tools={"shoot": lambda: {"mime_type": "image/png", "data": picture}})
    for text in ("Look", "Look again"):
        await page.ended(await page.submit(text))

    with sqlite3.connect(path) as db:
        kept = db.execute("SELECT LENGTH(value) FROM farside_saver_large").fetchall()
        rest = db.execute(
            "SELECT checkpoint FROM farside_saver_checkpoints UNION ALL SELECT value FROM farside_saver_items"
            " UNION ALL SELECT value FROM farside_saver_writes"
        ).fetchall()
    assert kept == [(len(picture),)]
    assert sum(len(value) for [value] in rest) < 100_000
