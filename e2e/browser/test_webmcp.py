"""``farside/webmcp`` in a Chromium that has WebMCP, which is behind a flag, and in one that has not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Playwright

from e2e.browser.conftest import OpenTab, Tab, planned
from e2e.conftest import CHROMIUM, FLAGS, watch

EXPOSE = """
const { declare, tool } = await import("/client/index.js");
const { exposeToModelContext } = await import("/client/webmcp/index.js");
window.context = document.modelContext;
window.exposeToModelContext = exposeToModelContext;
const text = { type: "string" };
const args = { type: "object", properties: { word: text }, required: ["word"] };
const echo = declare({ name: "echo", description: "Says it again.", fingerprint: "", args, result: text });
const bare = (name, body, options) => tool({ name, description: name }).implement(body, options);
window.fresh = bare("fresh", () => 1);
window.heard = [];
window.tools = [
  echo.implement(({ word }, { toolCallId }) => (word === "" ? toolCallId.length : word)),
  bare("give_bytes", () => new Uint8Array([1, 2, 3])),
  bare("ask", () => "agreed", { consent: "always" }),
  bare("wait", (_, { signal }) => new Promise(() => onBegun(signal))),
];
window.find = async (name) => (await context.getTools()).find((each) => each.name === name);
window.outcome = (name, args = {}, options = {}) =>
  find(name).then((found) => context.executeTool(found, args, options)).catch((error) => error.name);
window.exposure = exposeToModelContext(tools, { onTool: (event) => {
  heard.push(event.phase);
  window.onWaiting?.(event);
} });
await exposure.registered;
"""
ADOPT = """
const { adopt } = await import("/client/webmcp/index.js");
const listeners = new Set();
window.adopt = adopt;
window.seen = [];
window.names = (...wanted) => new Promise((resolve) => {
  const look = () => JSON.stringify(seen.at(-1)) === JSON.stringify(wanted) && resolve(true);
  listeners.add(look);
  look();
});
const values = { text: "5", list: [1, { a: null }], nothing: undefined, brace: "{", number: 5 };
window.registered = new AbortController();
const register = (name, execute, options, context = document.modelContext) =>
  context.registerTool({ name, description: "The page's own.", execute }, options);
window.runs = [];
await register("remember", async (args) => (runs.push(args), values[args.key]), registered);
await register("throw", ({ message }) => { throw new Error(message); });
await register("hold", (_, { signal }) => new Promise(() => { signal.onabort = () => runs.push("aborted"); }));
await register("recall", () => "nobody adopts it");
const frame = document.body.appendChild(document.createElement("iframe"));
await register("ping", () => "of a frame", {}, frame.contentDocument.modelContext);
window.stop = adopt(["remember", "throw", "hold", "ping"], (adopted) => {
  harness.client.setTools(adopted);
  seen.push(adopted.map(({ tool }) => tool.name).sort());
  for (const look of listeners) look();
});
"""


@pytest.fixture
def context(playwright: Playwright, page_errors: list[str]) -> Iterator[BrowserContext]:
    """A browser that has WebMCP."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, "--enable-features=WebMCP"])
    context = browser.new_context()
    watch(context, page_errors)
    yield context
    browser.close()


def script(tab: Tab, code: str) -> None:
    tab.run(f"(async () => {{ {code} }})()")


def invoked(tab: Tab, session: CDPSession, name: str, **args: Any) -> dict[str, Any]:
    """How a call of the browser's own agent ends."""
    ends: dict[str, dict[str, Any]] = {}
    session.on("WebMCP.toolResponded", lambda event: ends.update({event["invocationId"]: event}))
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    invocation = session.send("WebMCP.invokeTool", {"frameId": frame, "toolName": name, "input": args})["invocationId"]
    while invocation not in ends:
        tab.run("0")
    return ends[invocation]


def test_both_directions(open_tab: OpenTab, context: BrowserContext, page_errors: list[str]) -> None:
    tab = open_tab("function", context=context)
    session = context.new_cdp_session(tab.page)
    session.send("WebMCP.enable")

    # The page's tools, for an agent of the browser.
    script(tab, EXPOSE)
    names = "context.getTools().then((tools) => tools.map(({ name }) => name).sort())"
    assert tab.run(names) == ["ask", "echo", "give_bytes", "wait"]
    (echo,) = tab.run("find('echo').then(({ description, inputSchema }) => [[description, inputSchema]])")
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"word": text}, "required": ["word"]}
    assert echo == ["Says it again.", schema]
    assert tab.run("outcome('echo', { word: 'hi' })") == "hi"
    assert tab.run("outcome('give_bytes').then(JSON.parse)") == {"$bytes": "AQID"}
    assert invoked(tab, session, "echo", word="hi")["output"] == "hi"
    for args, complaint in (
        ({}, "invalid_args: The arguments do not fit the tool's schema: expected the member word, got an object"),
        ({"word": ""}, "invalid_result: The result does not fit the tool's schema: expected string, got 15"),
    ):
        end = invoked(tab, session, "echo", **args)
        assert (end["status"], end.get("output")) == ("Error", None)
        assert end["exception"]["description"].startswith(f"FarsideError: {complaint}\n")

    # What has to ask the user asks, or does not run.
    answered = "new Promise((resolve) => {{ window.onWaiting = resolve; }}).then((event) => event.{0}?.())"
    for answer, end in (("proceed", "agreed"), ("dismiss", "UnknownError")):
        both = f"Promise.all([{answered.format(answer)}, outcome('ask')]).then(([_, end]) => end)"
        assert tab.run(both) == end
    withdrawn = "new Promise((resolve) => { window.onWaiting = () => resolve(abort.abort(new Error('withdrawn'))); })"
    tab.run("window.abort = new AbortController(); undefined")
    assert tab.run(f"Promise.all([{withdrawn}, outcome('ask', {{}}, abort)]).then(([_, end]) => end)") == "Error"
    assert tab.run("heard") == ["waiting", "waiting", "waiting", "cancelled"]
    tab.run("window.abort = new AbortController(); undefined")
    aborted = "new Promise((end) => { window.onBegun = (signal) => { signal.onabort = end; abort.abort(); }; })"
    assert tab.run(f"Promise.all([outcome('wait', {{}}, abort), {aborted}]).then(([end]) => end)") == "AbortError"

    # A tool that cannot be registered takes the others with it; one that is taken back at once is no error.
    undescribed = "{ tool: { name: 'undescribed' }, execute() {} }"
    for refused in ("tools[0]", undescribed):
        outcome = f"exposeToModelContext([fresh, {refused}]).registered.catch((error) => error.code)"
        assert tab.run(outcome) == "invalid_argument"
    assert tab.run(names) == ["ask", "echo", "give_bytes", "wait"]
    tab.run("exposure.remove()")
    assert tab.run(names) == []
    early = "((exposure) => { exposure.remove(); return exposure.registered; })(exposeToModelContext(tools))"
    assert tab.run(f"{early}.then(() => 'quiet')") == "quiet"
    tab.run("window.exposure = exposeToModelContext(tools.slice(2, 3)); exposure.registered")
    end = invoked(tab, session, "ask")
    assert end["exception"]["description"].startswith("FarsideError: needs_gesture: No onTool asks the user.\n")
    tab.run("exposure.remove()")

    # The page's other tools, for the agent of the server.
    script(tab, ADOPT)
    tab.run("names('hold', 'remember', 'throw')")
    kept = {"text": "5", "list": [1, {"a": None}], "nothing": None, "brace": "{", "number": "5"}
    told = tab.ask(*(planned("remember", key=key, value=key) for key in kept))
    assert [each["value"] for each in told] == list(kept.values())
    assert tab.run("runs.splice(0)") == [{"key": key, "value": key} for key in kept]
    (failed,) = tab.ask(planned("throw", message="no more"))
    assert (failed["status"], failed["code"]) == ("error", "failed")
    tab.call(planned("hold", name="any"))
    tab.until("log.at(-1)?.tool === 'hold' && log.at(-1).phase === 'start'")
    tab.run("harness.thread.stop()")
    tab.until("log.at(-1)?.phase === 'cancelled' && status === 'idle'")
    assert tab.run("runs") == ["aborted"]

    # They come and go.
    tab.run("registered.abort(); names('hold', 'throw')")
    back = "document.modelContext.registerTool({ name: 'remember', description: 'Anew.', execute: () => 'anew' })"
    tab.run(f"{back}.then(() => names('hold', 'remember', 'throw'))")
    assert tab.ask(planned("remember", key="a", value="b")) == [{"status": "success", "value": "anew"}]
    count = tab.run("stop(); adopt(['hold'], () => seen.push('late'))(); seen.length")
    another = "document.modelContext.registerTool({ name: 'ping', description: 'Too late.', execute() {} })"
    heard = "new Promise((resolve) => document.modelContext.addEventListener('toolchange', resolve, { once: true }))"
    tab.run(f"Promise.all([{heard}, {another}]).then(() => document.modelContext.getTools()).then(() => undefined)")
    assert tab.run("seen.length") == count

    # The browser shows on the console what its agent's calls throw; there was nothing else.
    shown = "console: WebMCP tool execution failed: Uncaught "
    told = [error for error in page_errors if error.startswith(shown)]
    codes = ["invalid_args", "invalid_result", "dismissed", "needs_gesture"]
    assert [error.removeprefix(shown).split(":")[:2] for error in told] == [
        *(["FarsideError", f" {code}"] for code in codes),
        ["Error", " no more ()"],
    ]
    page_errors[:] = [error for error in page_errors if error not in told]


def test_a_browser_without_it(open_tab: OpenTab) -> None:
    """Nothing is done, and the return values say so."""
    tab = open_tab("function")
    called = "[mcp.exposeToModelContext(harness.tools), mcp.adopt(['ping'], () => { throw new Error('called'); })]"
    facts = f"['modelContext' in document, ...{called}.map((each) => typeof each)]"
    assert tab.run(f"import('/client/webmcp/index.js').then((mcp) => {facts})") == [False, "undefined", "undefined"]
