"""The HTTP and WebSocket face: moves bytes between the network and the engine."""

from farside.asgi.routes import routes
from farside.asgi.serving import server_options
from farside.asgi.threads import NEXT_HEADER

__all__ = ["NEXT_HEADER", "routes", "server_options"]
