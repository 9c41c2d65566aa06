"""500 turns of the real client over a network that loses, delays, doubles and swallows frames, and breaks connections.

The page and the server live: whatever the network does, no answer is lost, nothing is executed twice that must not be,
and every turn ends with what its tools answered.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext

from farside.testing import Faults, Proxy

THREADS, TURNS = 10, 50
FAULTS = Faults(drop=0.004, double=0.004, delay=0.02, cut=0.003, swallow=0.001, longest_delay=0.1)


@contextmanager
def bad_network(target: str, faults: Faults, seed: int) -> Iterator[tuple[Proxy, str]]:
    """A proxy in a thread of its own; gives its address too."""
    proxy = Proxy(target, faults, seed)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    opened = proxy.open()
    try:
        yield proxy, asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(10)
    finally:
        asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.mark.timeout(180)  # five hundred turns
def test_five_hundred_turns_over_a_bad_network(
    serve: Callable[[str], str],
    new_context: Callable[..., BrowserContext],
    record_property: Callable[[str, object], None],
) -> None:
    url, context = serve("e2e.chaos.app:app"), new_context()
    threads = [f"chaos-{number}" for number in range(THREADS)]
    with bad_network(urlsplit(url).netloc, FAULTS, seed=3) as (proxy, proxied):
        page = context.new_page()
        page.goto(f"{url}/?url=http://{proxied}/farside")
        page.set_default_timeout(300_000)
        page.evaluate("([threads, turns]) => chaos.run(threads, turns)", [threads, TURNS])
        ran: dict[str, int] = page.evaluate("chaos.ran")
        page.close()
    happened = ", ".join(f"{kind} {count}" for kind, count in sorted(proxy.happened.items()))
    record_property("table", f"{THREADS * TURNS} turns over a bad network: {happened}")

    keys = [f"{thread}/turn-{turn}" for thread in threads for turn in range(TURNS)]
    assert {key: ran.get(f"pay {key}") for key in keys} == dict.fromkeys(keys, 1)
    assert all(ran.get(f"look {key}", 0) >= 1 for key in keys)
    expected = [text for turn in range(TURNS) for text in (f"turn-{turn}", f"turn-{turn} looked payed")]
    for thread in threads:
        state = context.request.get(f"{url}/farside/threads/{thread}/state").json()
        assert [message["content"] for message in state["values"]["messages"]] == expected
    assert all(proxy.happened[kind] > 3 for kind in ("drop", "double", "delay", "cut", "swallow"))
