"""What an agent that farside serves finds in its run's config."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from langgraph.config import get_config

from farside.langgraph.declarations import Declarations

CONFIG_KEY = "__farside"
"""Where a run's ``configurable`` has it. The underscores keep it out of checkpoints and traces."""

RUN_ID = "farside_run_id"
"""The key of the run's ``metadata``, and of its checkpoints', that names the run."""


@dataclass(frozen=True, slots=True)
class Served:
    """What the runtime lends the code of its agent for one leg.

    Args:
        declarations: the registry of the agent's headless tools.
        implements: whether a page that is connected now implements the tool of that name.
    """

    declarations: Declarations
    implements: Callable[[str], bool]


def served() -> Served | None:
    """What is lent to the running leg; None in a graph that farside does not serve."""
    found = get_config().get("configurable", {}).get(CONFIG_KEY)
    return found if isinstance(found, Served) else None
