"""Which headless tools an agent has: found in its graph, or learned when one is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool

from farside.langgraph.graph import Graph, is_graph, runnables
from farside.tools import HeadlessTool, declaration_of


class Declarations:
    """The declared headless tools of one agent, by name."""

    def __init__(self, known: Iterable[HeadlessTool] = ()) -> None:
        self._by_name = {declaration.name: declaration for declaration in known}

    def learn(self, declaration: HeadlessTool) -> None:
        """Remember a declaration; the newest of a name counts."""
        self._by_name[declaration.name] = declaration

    def get(self, name: str) -> HeadlessTool | None:
        """The declaration of that name, when it is known."""
        return self._by_name.get(name)


def declarations_of(graph: Graph) -> Iterator[HeadlessTool]:
    """What the graph's nodes and the graphs in them show: the tools of every ``ToolNode``."""
    for tool in _tools(graph):
        declaration = declaration_of(tool)
        if declaration is not None:
            yield declaration


def _tools(runnable: Any) -> Iterator[BaseTool]:
    if is_graph(runnable):
        for inner in runnables(runnable):
            yield from _tools(inner)
    elif isinstance(by_name := getattr(runnable, "tools_by_name", None), Mapping):
        yield from cast("Mapping[str, BaseTool]", by_name).values()
    elif isinstance(steps := getattr(runnable, "steps", None), Sequence):
        for step in cast("Sequence[Any]", steps):
            yield from _tools(step)
