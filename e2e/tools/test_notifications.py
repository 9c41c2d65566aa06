"""Notifications, by the page and by its service worker."""

from __future__ import annotations

from e2e.browser.conftest import OpenTab
from e2e.tools.conftest import code_of, value_of

RECORD = """
window.notified = [];
window.Notification = class extends Notification {
  constructor(title, options) {
    super(title, options);
    notified.push([this.title, this.body, this.tag]);
  }
};
"""
REGISTER = "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => true)"
SHOWN = """
navigator.serviceWorker.ready.then((registration) => registration.getNotifications())
  .then((all) => all.map(({ title, body, tag }) => [title, body, tag]))
"""


def test_notifications(open_tab: OpenTab) -> None:
    tab = open_tab(prepare=lambda page: page.add_init_script(RECORD))
    tab.grant("notifications")
    assert value_of(tab, "show_notification", title="Tea", body="It is ready.", tag="tea") == {"shown": True}
    assert value_of(tab, "show_notification", title="Tea") == {"shown": True}
    (first, (title, body, tag)) = tab.run("notified")
    assert first == ["Tea", "It is ready.", "tea"]
    # Its own: shown twice, it is there once.
    assert (title, body, len(tag) > 8) == ("Tea", "", True)

    tab.run(REGISTER)
    assert value_of(tab, "show_notification", title="Tea", tag="tea") == {"shown": True}
    assert value_of(tab, "show_notification", title="Coffee", body="Now.", tag="tea") == {"shown": True}
    assert len(tab.run("notified")) == 2
    assert tab.run(SHOWN) == [["Coffee", "Now.", "tea"]]

    tab.deny("notifications")
    assert code_of(tab, "show_notification", title="Tea") == "permission_denied"
