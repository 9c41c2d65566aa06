"""The MCP server of test_mcp: run, it speaks over standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server.fastmcp import FastMCP, Image


def places(ran: Path) -> FastMCP:
    """A server with three tools; ``add`` leaves a line in the file each time it runs."""
    server = FastMCP("places")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        with ran.open("a") as file:
            file.write("add\n")
        return a + b

    @server.tool()
    def chart() -> Image:
        """Draw it."""
        return Image(data=b"\x89PNG", format="png")

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError("no such place")

    return server


if __name__ == "__main__":
    places(Path(sys.argv[1])).run()
