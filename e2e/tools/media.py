"""The page with the tools for files, media and the page, in a browser with a made-up camera and microphone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, Playwright

from e2e.browser.conftest import Tab
from e2e.browser.conftest import open_tab as open_browser_tab  # noqa: F401 (a fixture)
from e2e.conftest import CHROMIUM, FLAGS, PLAYWRIGHT_WITHOUT, SLOW_FEATURES

APP = "e2e.tools.media_app:app"
DEVICE = "--use-fake-device-for-media-stream"


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    without = ",".join([*PLAYWRIGHT_WITHOUT, *SLOW_FEATURES])
    flags = [*FLAGS, DEVICE, f"--disable-features={without}"]
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
    yield browser
    browser.close()


@pytest.fixture
def open_page(open_browser_tab: Callable[..., Tab]) -> Callable[..., Tab]:  # noqa: F811
    """``open_page(**query)``: the page, with the agent that calls the tools."""
    return partial(open_browser_tab, "function", app=APP)
