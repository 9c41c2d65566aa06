"""The client where there is no page: in workers, and in Node."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from e2e.browser.conftest import APP, Message, OpenTab, Tab, new_thread, planned
from e2e.conftest import PATIENCE

SCRIPT = Path(__file__).parent / "page/node.mjs"

STARTS = {
    "DedicatedWorkerGlobalScope": "new Worker({0}, {{ type: 'module' }})",
    "SharedWorkerGlobalScope": "new SharedWorker({0}, {{ type: 'module' }})",
    "ServiceWorkerGlobalScope": "navigator.serviceWorker.register({0}, {{ type: 'module' }})",
}


def heard(tab: Tab, start: str, thread: str, what: str, **query: str) -> Any:
    """The first that a worker says of something, once it has been started."""
    url = json.dumps(f"/worker.js?{urlencode({'agent': 'function', 'thread': thread, **query})}")
    listening = f"(window.channel = new BroadcastChannel({json.dumps(thread)})).onmessage"
    told = f"{listening} = ({{ data }}) => data.{what} !== undefined && resolve(data.{what})"
    return tab.run(f"new Promise((resolve) => {{ {told}; window.worker = {start.format(url)}; }})")


def plan(*calls: Message) -> str:
    return json.dumps({"calls": calls})


def test_each_kind_of_worker(open_tab: OpenTab) -> None:
    """Its tools are called, its values travel, and it keeps a journal, from which the next one goes on."""
    tab = open_tab("function")
    for scope, start in STARTS.items():
        calls = [planned("recall", key=scope), planned("give", form="offscreen")]
        facts, picture = json.loads(heard(tab, start, new_thread(), "said", plan=plan(*calls)))
        where = {"key": scope, "scope": scope, "page": "undefined", "databases": ["farside.journal"]}
        assert facts == {"status": "success", "value": where}
        assert picture["value"]["mime_type"] == "image/png"
        assert picture["value"]["data"]["size"] == [4, 2]

    # One is ended while a tool runs that may run again.
    start, thread = STARTS["DedicatedWorkerGlobalScope"], new_thread()
    assert heard(tab, start, thread, "begun", plan=plan(planned("hold_again", name="a")), held="yes") is True
    tab.run("worker.terminate()")
    assert json.loads(heard(tab, start, thread, "said")) == [{"status": "success", "value": "done"}]


def test_node(serve: Callable[[str], str]) -> None:
    """A process is a client too, and ends when its client is closed."""
    text = plan(planned("recall", key="a"), planned("give", form="bytes"))
    # Node 20 has WebSockets only when it is told so.
    command = ["node", "--experimental-websocket", str(SCRIPT), f"{serve(APP)}/farside", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said, warned = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, warned
    recalled, given = json.loads(said)
    assert recalled["value"] == {"key": "a", "pid": process.pid, "webmcp": "undefined"}
    assert given["value"] == {"length": 3, "sha256": hashlib.sha256(b"far").hexdigest()}
    assert warned.count("farside: no IndexedDB") == 1
