"""What the engine asks of the world: a store, a bus, a runtime for each agent, a clock."""

from farside.core.ports.bus import Bus, Listener
from farside.core.ports.clock import Clock
from farside.core.ports.runtime import (
    AgentGraph,
    AgentState,
    Desk,
    Directive,
    Emit,
    Leg,
    NewCall,
    Opened,
    RunInfo,
    Runtime,
    ToolSpec,
)
from farside.core.ports.store import Lease, LeaseLost, StaleWrite, Store, ThreadQuery, Write

__all__ = [
    "AgentGraph",
    "AgentState",
    "Bus",
    "Clock",
    "Desk",
    "Directive",
    "Emit",
    "Lease",
    "LeaseLost",
    "Leg",
    "Listener",
    "NewCall",
    "Opened",
    "RunInfo",
    "Runtime",
    "StaleWrite",
    "Store",
    "ThreadQuery",
    "ToolSpec",
    "Write",
]
