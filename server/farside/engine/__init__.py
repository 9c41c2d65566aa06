"""Drives runs: runtime -> store -> bus, and answers -> resume."""

from farside.engine.connection import SUBPROTOCOLS, Connection
from farside.engine.engine import Engine
from farside.engine.post import post
from farside.engine.settings import Settings

__all__ = ["SUBPROTOCOLS", "Connection", "Engine", "Settings", "post"]
