"""What a run has used of its limits, counted across its pauses.

LangGraph counts the steps of a run, and LangChain's limits its calls, from the last time that it was entered: a run
that pauses at each call would never reach them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from langgraph.config import get_config
from langgraph.errors import GraphRecursionError

from farside.langgraph.served import RUN_ID

_TOOL_CALLS = "tool_call_count"
_MODEL_CALLS = "model_call_count"


class RunStart(TypedDict):
    """How things stood when a run began.

    ``run_id``: farside's, None where it does not serve the agent. ``step``: LangGraph's number of the step.
    ``tool_calls``, ``model_calls``: how many the thread had had, as the limits of LangChain count them: by the tool
    they are for, ``__all__`` for any.
    """

    run_id: str | None
    step: int
    tool_calls: dict[str, int]
    model_calls: int


def run_start(state: Mapping[str, Any]) -> RunStart:
    """How things stand now; called in the first step of a run."""
    return RunStart(
        run_id=_run_id(),
        step=_step(),
        tool_calls=dict(state.get(f"thread_{_TOOL_CALLS}") or {}),
        model_calls=state.get(f"thread_{_MODEL_CALLS}") or 0,
    )


def is_of_this_run(start: RunStart | None) -> bool:
    """Whether the run that began so is the running one; of two that farside does not serve that is not known."""
    return start is not None and start["run_id"] == _run_id()


def check_steps(start: RunStart) -> None:
    """Raise ``GraphRecursionError`` when the run has made more steps than its config's ``recursion_limit``."""
    limit = get_config().get("recursion_limit", 0)
    if _step() - start["step"] + 1 >= limit:  # the model would be one step more
        raise GraphRecursionError(
            f"the run has made the {limit} steps that it may, those before its pauses included; "
            "set recursion_limit in its config to allow more"
        )


def forgotten_counts(start: RunStart, state: Mapping[str, Any]) -> dict[str, Any]:
    """The update of the state that gives the limits back what they have counted in this run.

    They keep the counts of the thread in the checkpoint, and those of the run only until it pauses.
    """
    update: dict[str, Any] = {}
    thread = cast("dict[str, int]", state.get(f"thread_{_TOOL_CALLS}") or {})
    known = cast("dict[str, int]", state.get(f"run_{_TOOL_CALLS}") or {})
    counts = {key: max(count - start["tool_calls"].get(key, 0), known.get(key, 0)) for key, count in thread.items()}
    if {**known, **counts} != known:
        update[f"run_{_TOOL_CALLS}"] = {**known, **counts}
    models = (state.get(f"thread_{_MODEL_CALLS}") or 0) - start["model_calls"]
    if models > (state.get(f"run_{_MODEL_CALLS}") or 0):
        update[f"run_{_MODEL_CALLS}"] = models
    return update


def _run_id() -> str | None:
    return get_config().get("metadata", {}).get(RUN_ID)


def _step() -> int:
    return get_config().get("metadata", {})["langgraph_step"]
