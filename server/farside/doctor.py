"""What is stuck in a store, and why: ``farside doctor``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from farside.core.model import Call, Run
from farside.core.ports import Store

LATE_MS = 60_000
"""How long after its time something may be due before it counts as stuck: a server needs a moment."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A run that has not ended, or a call that it waits for.

    ``is_stuck``: it does not go on by itself; ``advice`` says what to do then.
    """

    thread_id: str
    run_id: str
    what: str
    is_stuck: bool = False
    advice: str = ""


async def examine(store: Store, agents: Collection[str], now: int) -> list[Finding]:
    """All that has not ended, the oldest first; it changes nothing.

    Args:
        store: an open store.
        agents: the names of the agents that are served.
        now: milliseconds since the epoch.
    """
    findings: list[Finding] = []
    stranded = {run.thread_id for run in await store.stranded(now)}
    ahead: dict[str, Run] = {}
    for run in await store.unfinished():
        findings.append(_run(run, ahead.get(run.thread_id), run.thread_id in stranded, agents, now))
        ahead[run.thread_id] = run
        calls = await store.calls(run.thread_id, run_id=run.id, unsettled=True)
        findings += [_call(call, now) for call in calls]
    return findings


def report(findings: Sequence[Finding]) -> str:
    """The findings for people, one line each, with advice where something is stuck."""
    if not findings:
        return "Nothing is under way.\n"
    lines: list[str] = []
    for each in findings:
        mark = "STUCK" if each.is_stuck else "ok   "
        lines.append(f"{mark}  thread {each.thread_id}  run {each.run_id}  {each.what}")
        if each.advice:
            lines.append(f"       -> {each.advice}")
    stuck = sum(each.is_stuck for each in findings)
    return "\n".join([*lines, "", f"{len(findings)} under way, {stuck} stuck."]) + "\n"


def _run(run: Run, ahead: Run | None, is_stranded: bool, agents: Collection[str], now: int) -> Finding:
    since = f"of agent {run.agent!r}, {run.status} since {_ago(run.created_at, now)}"
    if run.agent not in agents:
        advice = f"the app serves no agent {run.agent!r}: serve it again, or cancel the run"
        return Finding(run.thread_id, run.id, since, is_stuck=True, advice=advice)
    if is_stranded:
        advice = "no server process has taken it up: start the server, or read its log"
        return Finding(run.thread_id, run.id, since, is_stuck=True, advice=advice)
    if run.status == "queued" and ahead is not None:
        return Finding(run.thread_id, run.id, f"{since}, behind run {ahead.id}")
    return Finding(run.thread_id, run.id, since)


def _call(call: Call, now: int) -> Finding:
    if call.kind == "input":
        what = f"waits for an answer to interrupt {call.interrupt_id} since {_ago(call.opened_at, now)}"
        return Finding(call.thread_id, call.run_id, what)
    has = {
        "open": "no page can take it now",
        "offered": f"offered to client {call.client_id}",
        "claimed": f"claimed by client {call.client_id}",
    }
    until = "no deadline" if call.deadline is None else f"deadline {_when(call.deadline, now)}"
    since = _ago(call.opened_at, now)
    what = f"waits for tool {call.name!r} ({call.interrupt_id}) since {since}: {has[call.state]}, {until}"
    if call.due is not None and call.due + LATE_MS < now:
        advice = "its time has passed and no server process acted on it: start the server, or read its log"
        return Finding(call.thread_id, call.run_id, what, is_stuck=True, advice=advice)
    if call.state == "open" and call.deadline is None:
        advice = "nothing ends it: open a page that implements the tool, give the tool a timeout, or stop the run"
        return Finding(call.thread_id, call.run_id, what, is_stuck=True, advice=advice)
    return Finding(call.thread_id, call.run_id, what)


def _ago(then: int, now: int) -> str:
    return f"{_span(now - then)} ago" if then <= now else _when(then, now)


def _when(then: int, now: int) -> str:
    return f"in {_span(then - now)}" if then > now else f"{_span(now - then)} ago"


def _span(milliseconds: int) -> str:
    seconds = milliseconds // 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
