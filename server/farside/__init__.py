"""farside: tools that are declared on the server and executed in the user's browser."""

from farside.app import Farside
from farside.core.ports import RunInfo
from farside.engine import Settings
from farside.errors import FarsideError, ToolError
from farside.functions import Turn
from farside.tools import HeadlessTool, tool
from farside.wire.values import Limits

__all__ = ["Farside", "FarsideError", "HeadlessTool", "Limits", "RunInfo", "Settings", "ToolError", "Turn", "tool"]
__version__ = "0.1.0"
