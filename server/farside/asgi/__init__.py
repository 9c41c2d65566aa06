"""The HTTP and WebSocket face: moves bytes between the network and the engine."""

from farside.asgi.routes import routes
from farside.asgi.serving import server_options

__all__ = ["routes", "server_options"]
