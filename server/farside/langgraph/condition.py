"""``tools_condition``: a router for graphs that keep LangGraph's own ``ToolNode``."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.prebuilt import tools_condition as stock_tools_condition
from langgraph.types import Send

from farside.langgraph.history import messages_in


def tools_condition(
    state: Any, messages_key: str = "messages", *, node: str = "tools"
) -> Literal["__end__"] | list[Send]:
    """Where a message of the model leads: to the node with the tools, once for each of its calls, or to the end.

    LangGraph's ``tools_condition`` leads there once for all calls, which then run in one task: a pause of one makes it
    run the others again. As in LangGraph's, the last message counts, and the state may be a list, a dict or an object::

        graph.add_conditional_edges("model", tools_condition, ["tools", END])

    Args:
        messages_key: where the state has its messages.
        node: the name of the node with the tools.

    Raises:
        ValueError: the state has no messages.
    """
    if stock_tools_condition(state, messages_key) == "__end__":
        return "__end__"
    return [Send(node, [call]) for call in messages_in(state, messages_key)[-1].tool_calls]
