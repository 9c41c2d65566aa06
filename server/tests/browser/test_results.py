"""What a page returns for files, pictures and sound, and what a model is given of it."""

from __future__ import annotations

from typing import Any

import pytest

from farside import HeadlessTool, ToolError, browser
from farside.core.model import success
from farside.langgraph.results import tool_message

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"


@pytest.mark.parametrize(
    ("tool", "value", "types"),
    [
        (browser.draw, {"mime_type": "image/png", "data": PNG}, ["image"]),
        (browser.take_screenshot, {"mime_type": "image/png", "data": PNG}, ["image"]),
        (browser.take_photo, {"mime_type": "image/jpeg", "data": JPEG}, ["image"]),
        (
            browser.open_file,
            {
                "files": [
                    {"name": "a.png", "mime_type": "image/png", "data": PNG},
                    {"name": "a.txt", "mime_type": "text/plain", "data": b"hello"},
                    {"name": "b.txt", "mime_type": "text/plain", "text": "hello"},
                ]
            },
            ["text", "image", "text"],
        ),
    ],
)
def test_a_model_is_shown_the_pictures_and_texts_of_a_page(tool: HeadlessTool, value: Any, types: list[str]) -> None:
    result = success(value)
    assert tool.check_result(result) is result
    message = tool_message(tool.name, "call", result)
    assert [block["type"] for block in message.content if isinstance(block, dict)] == types


def test_sound_is_named_and_kept_beside_what_the_model_reads() -> None:
    clip = {"mime_type": "audio/webm;codecs=opus", "data": b"\x1a\x45\xdf\xa3"}
    result = success(clip)
    assert browser.record_audio.check_result(result) is result
    message = tool_message("record_audio", "call", result)
    assert (message.text, message.artifact) == ('"<audio/webm;codecs=opus, 4 bytes>"', clip)


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        (browser.draw, {"mime_type": "image/png", "data": "iVBORw0KGgo="}),
        (browser.open_file, {"files": [{"name": "a", "mime_type": ""}]}),
        (browser.save_file, {"name": "a", "size": 1, "how": "mailed"}),
        (browser.ask_user, {"answers": {"name": ["a", "b"]}}),
    ],
)
def test_a_page_that_returns_something_else_is_not_believed(tool: HeadlessTool, value: Any) -> None:
    checked = tool.check_result(success(value))
    assert checked.status == "error"
    assert checked.error.code == "invalid_result"


@pytest.mark.parametrize(
    ("tool", "args", "problem"),
    [
        (browser.draw, {"width": 100_000, "height": 1, "shapes": []}, "width"),
        (browser.draw, {"width": 1, "height": 1, "shapes": [{"type": "line", "points": [[0, 0]] * 1001}]}, "points"),
        (browser.record_audio, {"seconds": 3600}, "seconds"),
        (browser.navigate, {"path": "javascript:alert(1)"}, "path"),
        (browser.open_file, {"accept": ["*/*;x"]}, "accept"),
        (browser.save_file, {"name": "a/b", "text": ""}, "name"),
        (browser.fill_form, {"fields": [{"label": "a", "value": "b"}] * 51}, "fields"),
        (browser.ask_user, {"title": "?", "form": {"properties": {"a": {"type": "array"}}}}, "type"),
        (browser.take_screenshot, {"max_width": 100_000}, "max_width"),
    ],
)
def test_what_a_model_asks_for_has_bounds(tool: HeadlessTool, args: Any, problem: str) -> None:
    with pytest.raises(ToolError, match=problem) as refused:
        tool.parse_args(args)
    assert refused.value.code == "invalid_args"
