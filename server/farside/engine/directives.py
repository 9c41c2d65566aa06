"""What comes with an answer beside its value; stored with the answer, so that neither is lost (L4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from farside.core.model import JournalEntry, Run
from farside.core.ports import Directive, Store, Write
from farside.engine.forks import beginning_at, checkpoint_of, graph_of
from farside.engine.thread import LiveThread
from farside.wire.messages import MISSING, InputRespondParams, RunSend

if TYPE_CHECKING:
    from farside.engine.engine import Engine


async def writes_of(engine: Engine, live: LiveThread, params: InputRespondParams, interrupt_id: str) -> list[Write]:
    """Under the lock: the rows to be stored with the answers, one of which is that to ``interrupt_id``.

    Raises:
        FarsideError: ``not_supported``: the agent is no graph, and has nothing to update and nowhere to go.
            ``invalid_argument``: the graph has no such key or node.
    """
    active = live.active
    if active is None:
        return []  # the answers will be refused
    writes: list[Write] = []
    directive = _directive(engine, params)
    if directive is not None:
        agent = active.run.agent
        await graph_of(engine.runtime(agent), agent).check(live.id, directive)
        value = {"interrupt_id": interrupt_id, "update": dict(directive.update), "goto": list(directive.goto)}
        writes.append(JournalEntry(live.id, active.run.id, f"directive:{interrupt_id}", "directive", "", value))
    if params.config is not MISSING or params.metadata is not MISSING:
        writes.append(replace(active.run, config=_config(active.run.config, params)))
    return writes


def remember(live: LiveThread, writes: Sequence[Write]) -> None:
    """Under the lock: the rows were stored."""
    for row in writes:
        if live.active is not None and isinstance(row, Run):
            live.active.run = row
        elif live.active is not None:
            live.active.is_directed = True


async def directives_of(store: Store, run: Run) -> dict[str, Directive]:
    """What has come with the answers of a run, by the interrupt id of one of them."""
    entries = await store.journal(run.thread_id, run.id)
    values = [entry.value for entry in entries if entry.kind == "directive"]
    return {value["interrupt_id"]: Directive(value["update"], value["goto"]) for value in values}


def _directive(engine: Engine, params: InputRespondParams) -> Directive | None:
    update: dict[str, Any] = {} if params.update is MISSING else engine.runs.with_ids(params.update)
    goto = [] if params.goto is MISSING else params.goto
    targets = goto if isinstance(goto, list) else [goto]
    if not update and not targets:
        return None
    return Directive(update, [each.model_dump() if isinstance(each, RunSend) else each for each in targets])


def _config(config: dict[str, Any], params: InputRespondParams) -> dict[str, Any]:
    """The run's config from now on: what the client has sent replaces entries of it, but not where the run began."""
    given: dict[str, Any] = {} if params.config is MISSING else params.config
    parts = {key: {**_object(config, key), **_object(given, key)} for key in ("configurable", "metadata")}
    if params.metadata is not MISSING:
        parts["metadata"] |= params.metadata
    return beginning_at({**config, **given, **parts}, checkpoint_of(config))


def _object(config: dict[str, Any], key: str) -> dict[str, Any]:
    found = config.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
