"""How long LangChain's own React hook waits after its tool's answer: ``python server/benchmarks/hook_turn.py``.

A turn with one headless tool in real Chromium, with the page of e2e/official (``make e2e`` builds it), which has
nothing of farside in it. Measured in the page: the tool's body is called (the interrupt is there) -> the first word of
the model's answer is in the document. The body returns at once. In one run, in turns, over WebSocket and over
Server-Sent Events: farside with its default, a SQLite file, and in memory; and ``@langchain/langgraph-api``'s embedded
server (``embed.mjs``), which keeps everything in memory. What counts is the ratios.

The npm packages of the other server (150 MB, MIT) are in no lock file: they are installed into a temporary folder, or
the one that FARSIDE_BENCH_EMBED names, which may have them from the run before.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median

from playwright.async_api import Browser, Page, async_playwright

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from e2e.conftest import CHROMIUM, FLAGS, PLAYWRIGHT_WITHOUT, SLOW_FEATURES  # noqa: E402
from farside.testing import ServerProcess  # noqa: E402

TURNS = 50
WARM_UP = 10
TRANSPORTS = ("websocket", "sse")
PAGES = ROOT / "e2e/official/web/dist"
PACKAGES = (
    "@langchain/langgraph-api@1.5.1",
    "@langchain/langgraph@1.7.3",
    "@langchain/langgraph-sdk@1.15.0",
    "@langchain/langgraph-checkpoint@1.2.2",
    "@langchain/core@1.4.0",
    "langchain@1.5.14",
    "@hono/node-server@1.19.19",
    "@hono/node-ws@1.3.1",
    "hono@4.13.19",
    "zod@4.6.7",
)

TURN = """async (key) => {
  const lines = (list) => [...document.querySelectorAll(`#${list} > li`)].map(({ textContent }) => textContent);
  const shown = (isShown) => new Promise((resolve) => {
    const look = () => isShown() && (observer.disconnect(), resolve(performance.now()));
    const observer = new MutationObserver(look);
    observer.observe(document, { subtree: true, childList: true, characterData: true });
    look();
  });
  hook.open(null);
  await shown(() => lines("messages").length === 0 && lines("status")[0] === "idle");
  void hook.submit(`call hold ${key}`);
  const began = await shown(() => lines("executions").at(-1) === `hold ${key}`);
  hook.finish(key, key);
  const heard = await shown(() => lines("messages").at(-1)?.startsWith("ai: heard"));
  await shown(() => lines("status")[0] === "idle");
  return heard - began;
}"""
"""A turn on a fresh thread; milliseconds. It waits by looking at each change of the document."""


@asynccontextmanager
async def farside(store: str) -> AsyncIterator[str]:
    """A farside server in a process of its own; gives its address."""
    environment = {
        "FARSIDE_BENCH_STORE": store,
        "FARSIDE_BENCH_PAGES": str(PAGES),
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "server"))),
        "PYTHONWARNINGS": "ignore",
    }
    process = await ServerProcess.start("hook_app:app", folder=Path(__file__).parent, environment=environment)
    try:
        yield f"http://{process.address}"
    finally:
        await process.stop()


def install_embed(folder: Path) -> None:
    """Install LangChain's embedded server."""
    folder.mkdir(exist_ok=True)
    options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    command = ["npm", "install", "--prefix", str(folder), *options, *PACKAGES]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    shutil.copy(Path(__file__).with_name("embed.mjs"), folder)


@asynccontextmanager
async def embed(folder: Path) -> AsyncIterator[str]:
    """LangChain's embedded server; gives its address."""
    process = await asyncio.create_subprocess_exec(
        *("node", "embed.mjs", str(PAGES)),
        cwd=folder,
        env={**os.environ, "NODE_ENV": "production"},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None  # noqa: S101
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def open_page(browser: Browser, url: str, transport: str) -> Page:
    """A page with the hook, in a browser without history."""
    page = await (await browser.new_context()).new_page()
    await page.goto(f"{url}/react.html?transport={transport}")
    return page


async def measure(folder: Path, packages: Path) -> None:
    """Measure and print."""
    async with AsyncExitStack() as opened:
        servers = {
            "farside, SQLite": await opened.enter_async_context(farside(f"sqlite:///{folder}/farside.db")),
            "farside, memory": await opened.enter_async_context(farside("memory")),
            "langgraph-api embed, memory": await opened.enter_async_context(embed(packages)),
        }
        chromium = (await opened.enter_async_context(async_playwright())).chromium
        without = ",".join([*PLAYWRIGHT_WITHOUT, *SLOW_FEATURES])
        browser = await chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, f"--disable-features={without}"])
        opened.push_async_callback(browser.close)
        pages = {
            (transport, name): await open_page(browser, url, transport)
            for name, url in servers.items()
            for transport in TRANSPORTS
        }
        times: dict[tuple[str, str], list[float]] = {key: [] for key in pages}
        keys = itertools.count()
        for turn in range(WARM_UP + TURNS):
            for key, page in pages.items():
                took = await page.evaluate(TURN, str(next(keys)))
                if turn >= WARM_UP:
                    times[key].append(took)
    print(f"the tool's body is called -> first word of the answer in the document, {TURNS} turns, milliseconds")
    for (transport, name), taken in sorted(times.items()):
        p95 = sorted(taken)[int(len(taken) * 0.95)]
        print(f"  {transport:9} {name:27} p50 {median(taken):6.1f}   p95 {p95:6.1f}   fastest {min(taken):6.1f}")
    for transport, kind in itertools.product(TRANSPORTS, (median, min)):
        *ours, theirs = (kind(times[transport, name]) for name in servers)
        ratios = " and ".join(f"{theirs / each:.2f}" for each in ours)
        print(f"  {transport:9} embed / farside with SQLite and in memory, {kind.__name__}: {ratios} (at least 3)")


def main() -> None:
    """Install, measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = Path(os.environ.get("FARSIDE_BENCH_EMBED", folder / "embed"))
        install_embed(packages)
        asyncio.run(measure(folder, packages))


if __name__ == "__main__":
    main()
