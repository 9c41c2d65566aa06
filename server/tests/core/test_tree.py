from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from farside.core.model import Event, Run
from farside.core.tree import statuses, tree

RUN = Run(id="r1", thread_id="t", agent="assistant", input=None, config={}, status="running", created_at=0)


def event(*namespace: str, run_id: str = "r1", method: str = "lifecycle", **data: Any) -> Event:
    return Event("t", run_id, 1, method, namespace, 0, data)


def test_a_run_that_has_entered_no_other_graph() -> None:
    assert tree(RUN, [event(event="running")]) == {"namespace": [], "status": "running", "graph_name": "assistant"}


@pytest.mark.parametrize(
    ("status", "shown"),
    [("queued", "started"), ("completed", "completed"), ("failed", "failed"), ("cancelled", "interrupted")],
)
def test_how_a_run_stands(status: Any, shown: str) -> None:
    assert tree(replace(RUN, status=status), [])["status"] == shown


def test_graphs_within_graphs() -> None:
    inner = {"namespace": ["a:1", "b:2"], "status": "failed", "graph_name": "named"}
    outer = {"namespace": ["a:1"], "status": "completed", "graph_name": "a", "children": [inner]}
    other = {"namespace": ["c:3"], "status": "started", "graph_name": "c"}
    found = tree(
        RUN,
        [
            event("a:1", event="started"),
            event("a:1", "b:2", event="running", graph_name="named"),
            event("a:1", "b:2", event="failed"),
            event("a:1", event="completed"),
            event("c:3", method="values", messages=[]),
            event("d:4", run_id="another", event="started"),
        ],
    )
    assert found == {"namespace": [], "status": "running", "graph_name": "assistant", "children": [outer, other]}
    assert [(entry["namespace"], entry["status"]) for entry in statuses(found)] == [
        ([], "running"),
        (["a:1"], "completed"),
        (["a:1", "b:2"], "failed"),
        (["c:3"], "started"),
    ]


def test_a_graph_whose_outer_one_said_nothing() -> None:
    [outer] = tree(RUN, [event("a:1", "b:2", event="running")])["children"]
    assert (outer["namespace"], outer["status"]) == (["a:1"], "started")
    assert outer["children"][0]["status"] == "running"
