"""The camera, the microphone and the canvas."""

from __future__ import annotations

from e2e.browser.conftest import OpenTab, planned
from e2e.conftest import set_permission
from e2e.tools.conftest import code_of, is_active, outcome_of, value_of
from e2e.tools.media import browser as browser
from e2e.tools.media import open_browser_tab as open_browser_tab
from e2e.tools.media import open_page as open_page


def test_a_photo_is_taken_without_a_click_and_the_camera_is_off_again(open_page: OpenTab) -> None:
    tab = open_page()
    tab.grant("camera")
    assert is_active(tab) is False
    photo = value_of(tab, "take_photo", max_width=320)
    assert (photo["mime_type"], photo["data"]["begins"][:6]) == ("image/jpeg", "ffd8ff")
    assert photo["data"]["size"] == [320, 240]
    assert tab.run("areOff()") == [True]

    # The browser asks; headless, it takes the question back at once.
    set_permission(tab.page, "camera", "prompt")
    assert code_of(tab, "take_photo") == "dismissed"
    tab.deny("camera")
    assert is_active(tab) is False
    assert code_of(tab, "take_photo") == "permission_denied"
    assert tab.run("areOff()") == [True]


def test_sound_is_recorded_for_a_while_and_the_microphone_is_off_again(open_page: OpenTab) -> None:
    tab = open_page()
    tab.grant("microphone")
    assert is_active(tab) is False
    clip = value_of(tab, "record_audio", seconds=0.5)
    assert clip["mime_type"].startswith("audio/webm")
    assert clip["data"]["begins"].startswith("1a45dfa3"), "WebM"
    assert tab.run("areOff()") == [True]
    outcome = outcome_of(tab, "record_audio", seconds=31)
    assert (outcome["code"], "at most 30 seconds, got 31" in outcome["message"]) == ("invalid_args", True)

    set_permission(tab.page, "microphone", "prompt")
    assert code_of(tab, "record_audio", seconds=1) == "dismissed"
    tab.deny("microphone")
    assert code_of(tab, "record_audio", seconds=1) == "permission_denied"
    assert tab.run("areOff()") == [True]


def test_a_device_is_off_when_the_call_is_withdrawn(open_page: OpenTab) -> None:
    tab = open_page()
    tab.grant("microphone")
    tab.grant("camera")
    tab.call(planned("record_audio", seconds=20))
    tab.until("log.some(({ phase }) => phase === 'progress')")
    assert tab.run("areOff()") == [False]
    tab.run("void harness.thread.stop()")
    tab.until("log.some(({ phase }) => phase === 'cancelled')")
    assert tab.run("areOff()") == [True]

    # The browser is still asking when the call is withdrawn.
    tab.run("holdDevices()")
    tab.call(planned("take_photo"))
    tab.run("devicesHeld")
    tab.run("void harness.thread.stop()")
    tab.until("log.some(({ tool, phase }) => tool === 'take_photo' && phase === 'cancelled')")
    tab.run("giveDevices()")
    assert tab.run("areOff()") == [True, True]


def test_a_device_that_is_not_there_is_unsupported(open_page: OpenTab) -> None:
    tab = open_page()
    tab.grant("camera")
    tab.run("failDevices('NotFoundError')")
    assert code_of(tab, "take_photo") == "unsupported"
    tab.run("Object.defineProperty(navigator, 'mediaDevices', { value: undefined })")
    assert code_of(tab, "record_audio", seconds=1) == "unsupported"


def test_a_drawing_is_what_was_asked_for(open_page: OpenTab) -> None:
    tab = open_page()
    shapes = [
        {"type": "rectangle", "x": 0, "y": 0, "width": 20, "height": 10, "fill": "#c81e3c"},
        {"type": "ellipse", "x": 30, "y": 5, "radius_x": 5, "radius_y": 5},
        {"type": "line", "points": [[40, 5], [60, 5]], "stroke": "rgb(0 0 255)", "stroke_width": 10},
        {"type": "path", "d": "M 60 0 h 20 v 10 h -20 z", "fill": "lime"},
        {"type": "text", "x": 90, "y": 10, "text": "M", "size": 20, "align": "center", "fill": "black"},
    ]
    picture = value_of(tab, "draw", width=100, height=10, background="white", shapes=shapes)
    assert (picture["mime_type"], picture["data"]["size"]) == ("image/png", [100, 10])
    assert picture["data"]["middle"][:20] == ["#c81e3c"] * 20
    assert picture["data"]["middle"][20:24] == ["#ffffff"] * 4
    assert picture["data"]["middle"][27:33] == ["#000000"] * 6, "what has no color is black"
    assert picture["data"]["middle"][40:60] == ["#0000ff"] * 20
    assert picture["data"]["middle"][60:75] == ["#00ff00"] * 15
    assert set(picture["data"]["middle"][81:]) > {"#ffffff"}, "the text"
    # The same call makes the same picture.
    assert value_of(tab, "draw", width=100, height=10, background="white", shapes=shapes) == picture

    for args, why in (
        ({"width": 2049}, "width: "),
        ({"height": 0}, "height: "),
        ({"shapes": [shapes[0]] * 501}, "shapes: "),
        ({"shapes": [{**shapes[0], "fill": "url(//evil.example)"}]}, "Expected a CSS color"),
        ({"shapes": [{**shapes[2], "points": [[0, 0], [1e9, 0]]}]}, "points"),
        ({"shapes": [{"type": "image", "href": "https://example.org"}]}, "shapes.0"),
    ):
        outcome = outcome_of(tab, "draw", **{"width": 10, "height": 10, "shapes": [], **args})
        assert (outcome["code"], why in outcome["message"]) == ("invalid_args", True), outcome


def test_a_screenshot_shows_an_element_and_leaves_out_what_is_hidden(open_page: OpenTab) -> None:
    tab = open_page(library="")
    page = value_of(tab, "take_screenshot")
    assert (page["mime_type"], page["data"]["size"]) == ("image/png", [300, 200])
    assert page["data"]["middle"] == ["#203040"] * 300
    half = value_of(tab, "take_screenshot", element="half", max_width=50)
    assert (half["data"]["size"], set(half["data"]["middle"])) == ([50, 25], {"#ff0000"})
    for name in ("nothing", "toString"):
        outcome = outcome_of(tab, "take_screenshot", element=name)
        assert (outcome["code"], "page, half, nothing" in outcome["message"]) == ("invalid_args", True)


def test_a_page_without_the_library_takes_no_screenshots(open_page: OpenTab, page_errors: list[str]) -> None:
    tab = open_page()
    assert code_of(tab, "take_screenshot") == "unsupported"
    del page_errors[:]
