"""The user's position: absent, measured, watched, denied."""

from __future__ import annotations

from playwright.sync_api import Geolocation

from e2e.browser.conftest import OpenTab, planned
from e2e.tools.conftest import code_of, value_of

BERLIN: Geolocation = {"latitude": 52.52, "longitude": 13.405, "accuracy": 20}
VIENNA: Geolocation = {"latitude": 48.2082, "longitude": 16.3738, "accuracy": 5}
UNKNOWN = {"altitude": None, "altitude_accuracy": None, "heading": None, "speed": None}

COUNT_WATCHES = """
window.watches = 0;
for (const [name, step] of [["watchPosition", 1], ["clearWatch", -1]]) {
  const real = Geolocation.prototype[name];
  Geolocation.prototype[name] = function (...args) {
    window.watches += step;
    return real.apply(this, args);
  };
}
"""
PROGRESS = "log.filter(({ phase }) => phase === 'progress').length"


def test_the_position(open_tab: OpenTab) -> None:
    tab = open_tab(prepare=lambda page: page.add_init_script(COUNT_WATCHES))
    tab.grant("geolocation")
    # Nothing measures: the browser would never answer.
    assert code_of(tab, "get_location") == "timed_out"
    assert code_of(tab, "watch_location", duration=1) == "timed_out"

    tab.page.context.set_geolocation(BERLIN)
    position = value_of(tab, "get_location", high_accuracy=True, max_age=60)
    assert position == {**BERLIN, **UNKNOWN, "measured_at": position["measured_at"]}
    assert position["measured_at"].endswith("Z")

    tab.call(planned("watch_location", max_positions=2))
    tab.until(f"{PROGRESS} === 1")
    tab.page.context.set_geolocation(VIENNA)
    (outcome,) = tab.answer()
    track = [{**BERLIN, **UNKNOWN}, {**VIENNA, **UNKNOWN}]
    assert [position.pop("measured_at")[-1] for position in outcome["value"]["positions"]] == ["Z", "Z"]
    assert outcome == {"status": "success", "value": {"positions": track}}

    tab.call(planned("watch_location", duration=300))
    tab.until(f"{PROGRESS} === 3")
    assert tab.run("watches") == 1
    tab.run("void harness.thread.stop()")
    tab.until("log.at(-1)?.phase === 'cancelled' && status === 'idle'")
    assert tab.run("watches") == 0

    tab.deny("geolocation")
    assert code_of(tab, "get_location") == "permission_denied"
    assert code_of(tab, "watch_location") == "permission_denied"
    assert tab.run("watches") == 0
