"""Ready-made tools: the declarations whose bodies are in the npm package's ``farside/tools``.

::

    from farside import Farside, browser
    from farside.langgraph import tool
    from langchain.agents import create_agent

    agent = create_agent("openai:gpt-5", tools=[tool(browser.get_location), tool(browser.read_clipboard_text)])
    app = Farside({"assistant": agent}, store="sqlite:///farside.db")

In the page ``createClient({ ..., tools: [getLocation(), readClipboardText()] })``. docs/tools.md lists what each of
them needs. The page's half is generated from this one.
"""

from farside.browser.asking import ask_user
from farside.browser.capture import record_audio, take_photo
from farside.browser.clipboard import (
    read_clipboard_image,
    read_clipboard_text,
    write_clipboard_image,
    write_clipboard_text,
)
from farside.browser.device import estimate_storage, get_battery, get_network, hold_wake_lock, vibrate
from farside.browser.drawing import draw
from farside.browser.files import open_file, save_file
from farside.browser.geolocation import get_location, watch_location
from farside.browser.locale import get_locale
from farside.browser.memory import forget, list_memories, recall, remember, search_memories
from farside.browser.notification import show_notification
from farside.browser.page import fill_form, get_selection, navigate
from farside.browser.screen import take_screenshot
from farside.browser.sharing import share
from farside.browser.speech import say

__all__ = [
    "ask_user",
    "draw",
    "estimate_storage",
    "fill_form",
    "forget",
    "get_battery",
    "get_locale",
    "get_location",
    "get_network",
    "get_selection",
    "hold_wake_lock",
    "list_memories",
    "navigate",
    "open_file",
    "read_clipboard_image",
    "read_clipboard_text",
    "recall",
    "record_audio",
    "remember",
    "save_file",
    "say",
    "search_memories",
    "share",
    "show_notification",
    "take_photo",
    "take_screenshot",
    "vibrate",
    "watch_location",
    "write_clipboard_image",
    "write_clipboard_text",
]
