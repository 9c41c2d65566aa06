"""What the device tells and does, and what a browser without it says."""

from __future__ import annotations

import json
import re
from typing import Any

from e2e.browser.conftest import OpenTab, Tab
from e2e.tools.conftest import after_click, clicked, code_of, executed, is_active, value_of

RECORD_LOCKS = """
window.locks = [];
const real = WakeLock.prototype.request;
WakeLock.prototype.request = async function (...args) {
  await window.gate;
  const lock = await real.apply(this, args);
  locks.push(lock);
  lock.addEventListener("release", () => window.onReleased?.());
  return lock;
};
"""
FAKE_SHARE = """
navigator.canShare = ({ url }) => url !== "nowhere:";
navigator.share = async (data) => {
  if (!navigator.userActivation.isActive) throw new DOMException("no click", "NotAllowedError");
  if (data.title === "Close") throw new DOMException("closed", "AbortError");
  window.shared = data;
};
"""
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?(Z|[+-]\d\d:\d\d)")


def held(tab: Tab) -> list[bool]:
    """Of each wake lock that the page was given, whether it still holds."""
    return tab.run("locks.map(({ released }) => !released)")


def test_what_the_device_tells(open_tab: OpenTab) -> None:
    tab = open_tab()
    battery = {"level": 1, "charging": True, "charging_time": 0, "discharging_time": None}
    assert value_of(tab, "get_battery") == battery
    network = value_of(tab, "get_network")
    assert (network["online"], network["effective_type"], network["save_data"]) == (True, "4g", False)
    estimate = value_of(tab, "estimate_storage")
    assert 0 <= estimate["usage"] < estimate["quota"]
    assert estimate["persisted"] is False
    locale = value_of(tab, "get_locale")
    assert ISO.fullmatch(locale.pop("local_time"))
    assert locale == {
        "languages": ["en-US", "en"],
        "locale": "en-US",
        "time_zone": "UTC",
        "calendar": "gregory",
        "numbering_system": "latn",
    }


def test_the_locale_is_the_users(open_tab: OpenTab, new_context: Any) -> None:
    tab = open_tab(context=new_context(locale="de-AT", timezone_id="America/St_Johns"))
    before = tab.run("Date.now()")
    locale = value_of(tab, "get_locale")
    assert (locale["languages"], locale["locale"], locale["time_zone"]) == (["de-AT"], "de-AT", "America/St_Johns")
    assert locale["local_time"][-6:] in ("-03:30", "-02:30")  # in winter, in summer
    read = tab.run(f"Date.parse({json.dumps(locale['local_time'])})")
    assert before // 1000 * 1000 <= read <= tab.run("Date.now()")


def test_the_screen_stays_on(open_tab: OpenTab) -> None:
    tab = open_tab(prepare=lambda page: page.add_init_script(RECORD_LOCKS))
    assert ISO.fullmatch(value_of(tab, "hold_wake_lock", duration=600)["held_until"])
    assert held(tab) == [True]
    # The tool made anew, as a page with React may at each render, replaces it all the same.
    tab.run("import('/client/tools/index.js').then(({ holdWakeLock }) => holdWakeLock().execute({ duration: 1200 }))")
    assert held(tab) == [False, True]

    # The browser lets it go while the page is hidden; when it is seen again, the page takes another.
    tab.run("locks[1].release()")
    tab.run("document.dispatchEvent(new Event('visibilitychange'))")
    assert held(tab) == [False, False, True]

    assert value_of(tab, "hold_wake_lock", duration=0) == {"held_until": None}
    assert held(tab) == [False, False, False]
    tab.run("document.dispatchEvent(new Event('visibilitychange'))")
    value_of(tab, "hold_wake_lock", duration=0.01)
    tab.run("locks[3].released || new Promise((resolve) => locks[3].addEventListener('release', resolve))")
    assert held(tab) == [False] * 4

    # The browser takes its time, and the call is withdrawn meanwhile.
    tab.run("window.gate = new Promise((open) => { window.openGate = open; }); undefined")
    tab.call({"name": "hold_wake_lock", "args": {"duration": 600}})
    tab.until("log.at(-1)?.phase === 'start'")
    tab.run("void harness.thread.stop()")
    tab.until("log.at(-1)?.phase === 'cancelled' && status === 'idle'")
    tab.run("openGate(); gate")
    tab.run("locks[4]?.released || new Promise((resolve) => { window.onReleased = resolve; })")
    assert held(tab) == [False] * 5

    tab.deny("screen-wake-lock")
    assert code_of(tab, "hold_wake_lock", duration=600) == "permission_denied"


def test_the_device_vibrates_once_the_user_has_clicked(open_tab: OpenTab) -> None:
    tab = open_tab()
    assert tab.run("navigator.userActivation.hasBeenActive") is False
    assert code_of(tab, "vibrate", pattern=[10, 20, 10]) == "needs_gesture"
    tab.page.mouse.click(100, 100)
    assert value_of(tab, "vibrate", pattern=[10, 20, 10]) == {"vibrated": True}
    tab.run("navigator.vibrate = () => false")
    assert code_of(tab, "vibrate", pattern=[10]) == "unsupported"
    assert code_of(tab, "vibrate", pattern=[]) == "invalid_args"


def test_speech(open_tab: OpenTab) -> None:
    """Headless, Chromium has no voice: its absence, and a voice that is made up."""
    tab = open_tab()
    assert is_active(tab) is False
    assert code_of(tab, "say", text="Good morning.") == "needs_gesture"
    tab.page.mouse.click(100, 100)
    assert tab.run("speechSynthesis.getVoices()") == []
    assert code_of(tab, "say", text="Good morning.", language="en-GB") == "unsupported"

    # What the body does with the events of a voice.
    tab.run("window.spoken = []; speechSynthesis.cancel = () => spoken.push('silence'); undefined")
    speak = "speechSynthesis.speak = (utterance) => {{ spoken.push([utterance.text, utterance.lang]); {0} }}; undefined"
    tab.run(speak.format("utterance.onstart(); utterance.onend();"))
    assert value_of(tab, "say", text="Good morning.", language="de-AT") == {"spoken": True}
    tab.run(speak.format(""))
    assert code_of(tab, "say", text="Nobody?") == "unsupported"
    tab.run(speak.format("utterance.onstart();"))
    tab.call({"name": "say", "args": {"text": "A long story."}})
    tab.until("log.at(-1)?.phase === 'start'")
    tab.run("void harness.thread.stop()")
    tab.until("log.at(-1)?.phase === 'cancelled' && status === 'idle'")
    said = [["Good morning.", "de-AT"], ["Nobody?", ""], "silence", ["A long story.", ""], "silence"]
    assert tab.run("spoken") == said


def test_sharing(open_tab: OpenTab) -> None:
    """Chromium on Linux cannot share: its absence, and what the body does with a dialog that is made up."""
    tab = open_tab()
    assert clicked(tab, "share", title="farside")["code"] == "unsupported"
    tab.reload()
    tab.run(FAKE_SHARE)
    assert is_active(tab) is False
    assert executed(tab, "share", title="farside", text=None, url=None)["code"] == "needs_gesture"
    assert clicked(tab, "share", title="farside", url="/about")["value"] == {"shared": True}
    assert tab.run("shared") == {"title": "farside", "url": "/about"}
    assert after_click(tab, "share", title="Close")["code"] == "dismissed"
    assert after_click(tab, "share", url="nowhere:")["code"] == "invalid_args"


def test_browsers_that_lack_something(open_tab: OpenTab) -> None:
    absent = ["geolocation", "clipboard", "wakeLock", "storage", "getBattery", "vibrate", "connection"]
    script = f"""
        for (const name of {absent}) Object.defineProperty(navigator, name, {{ value: undefined }});
        for (const name of ["speechSynthesis", "Notification"])
          Object.defineProperty(window, name, {{ value: undefined }});
        IDBFactory.prototype.open = () => {{ throw new DOMException("denied", "SecurityError"); }};
    """
    tab = open_tab(prepare=lambda page: page.add_init_script(script))
    for name, args in {
        "get_location": {},
        "watch_location": {},
        "read_clipboard_text": {},
        "write_clipboard_text": {"text": ""},
        "read_clipboard_image": {},
        "write_clipboard_image": {"image": ""},
        "hold_wake_lock": {"duration": 10},
        "estimate_storage": {},
        "get_battery": {},
        "vibrate": {"pattern": [10]},
        "say": {"text": "Good morning."},
        "show_notification": {"title": "Tea"},
        "remember": {"key": "k", "value": "v"},
    }.items():
        assert after_click(tab, name, **args)["code"] == "unsupported", name
    unknown = {"effective_type": None, "downlink": None, "rtt": None, "save_data": None}
    assert value_of(tab, "get_network") == {"online": True, **unknown}
