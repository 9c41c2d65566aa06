"""``farside doctor``: what is stuck, and why."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from farside import cli
from farside.core.model import Call, Run
from farside.core.ports import Lease
from farside.doctor import examine, report
from farside.stores.memory import MemoryStore
from farside.stores.sqlite import SqliteStore
from farside.testing.contracts import NOW, a_call, a_run


async def findings(*rows: Run | Call, driven: bool = True, agents: tuple[str, ...] = ("assistant",)):
    store = MemoryStore()
    await store.commit(rows)
    if driven:
        await store.beat("p1", NOW + 600_000)
        await store.acquire(Lease("t1", "p1"), NOW)
    return await examine(store, agents, NOW + 120_000)


async def test_nothing_is_under_way():
    assert await findings(a_run(status="completed")) == []
    assert report([]) == "Nothing is under way.\n"


async def test_a_run_that_executes_is_fine():
    [run] = await findings(a_run())

    assert not run.is_stuck
    assert run.what == "of agent 'assistant', running since 2 min ago"


@pytest.mark.parametrize(
    ("run", "driven", "agents", "advice"),
    [
        (a_run(), False, ("assistant",), "no server process has taken it up: start the server, or read its log"),
        (a_run(), True, ("other",), "the app serves no agent 'assistant': serve it again, or cancel the run"),
    ],
)
async def test_a_run_that_nobody_drives_is_stuck(run, driven, agents, advice):
    [found] = await findings(run, driven=driven, agents=agents)

    assert found.is_stuck
    assert found.advice == advice


async def test_a_queued_run_waits_for_the_one_before_it():
    _, queued = await findings(a_run(), a_run(id="r2", status="queued"))

    assert not queued.is_stuck
    assert queued.what.endswith("queued since 2 min ago, behind run r1")


@pytest.mark.parametrize(
    ("call", "what", "is_stuck"),
    [
        (a_call(deadline=NOW + 180_000), "no page can take it now, deadline in 60 s", False),
        (a_call(), "no page can take it now, no deadline", True),
        (
            a_call(state="offered", client_id="c1", lease_until=NOW + 121_000),
            "offered to client c1, no deadline",
            False,
        ),
        (
            a_call(state="claimed", client_id="c1", lease_until=NOW + 130_000, deadline=NOW + 4 * 3_600_000),
            "claimed by client c1, deadline in 3 h",
            False,
        ),
        (a_call(deadline=NOW), "no page can take it now, deadline 2 min ago", True),
        (a_call(kind="input", name="", tool_call_id="", args={}), "waits for an answer to interrupt i1", False),
    ],
)
async def test_a_call_says_what_it_waits_for(call, what, is_stuck):
    _, found = await findings(a_run(), replace(call, opened_at=NOW))

    assert what in found.what
    assert found.is_stuck is is_stuck
    assert bool(found.advice) is is_stuck


async def test_the_report_names_threads_runs_and_what_to_do():
    text = report(await findings(a_run(), a_call()))

    assert text.splitlines() == [
        "ok     thread t1  run r1  of agent 'assistant', running since 2 min ago",
        "STUCK  thread t1  run r1  waits for tool 'get_location' (i1) since 2 min ago: "
        "no page can take it now, no deadline",
        "       -> nothing ends it: open a page that implements the tool, give the tool a timeout, or stop the run",
        "",
        "2 under way, 1 stuck.",
    ]


async def test_the_command_reads_the_app_s_store_and_fails_when_something_is_stuck(tmp_path):
    (tmp_path / "server.py").write_text(
        "from farside import Farside\n"
        "async def assistant(turn, value): ...\n"
        f"app = Farside({{'assistant': assistant}}, store={json.dumps(f'sqlite:///{tmp_path}/farside.db')})\n"
    )

    def doctor() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "farside.cli", "doctor", "server:app"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    healthy = doctor()
    store = SqliteStore(tmp_path / "farside.db")
    await store.open()
    await store.commit([a_run(), a_call()])
    await store.close()
    ill = doctor()

    assert (healthy.returncode, healthy.stdout, healthy.stderr) == (0, "Nothing is under way.\n", "")
    assert ill.returncode == 1
    assert "2 under way, 2 stuck." in ill.stdout


def test_something_else_than_an_app_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["doctor", "farside.cli:main"])
    assert "expected farside.cli:main to be a Farside app, got <function main" in capsys.readouterr().err
