"""``farside serve module:app``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from farside.asgi import server_options


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="farside", description="Headless tools for Python agents.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser(
        "serve", help="serve an app", description="Serve a Farside app, or any ASGI app with one."
    )
    serve.add_argument("app", metavar="module:app", help="where the app is, for example server:app")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")
    serve.add_argument(
        "--workers", type=int, default=1, help="processes; only 1 works with the memory bus (default: 1)"
    )
    options = parser.parse_args(arguments)
    if ":" not in options.app:
        parser.error(f"expected module:app, got {options.app!r}; for example server:app")
    if options.workers != 1:
        parser.error(f"expected --workers 1, got {options.workers}; several processes need a bus between them")
    sys.path.insert(0, str(Path.cwd()))
    uvicorn.run(options.app, host=options.host, port=options.port, **server_options())
    return 0


if __name__ == "__main__":
    sys.exit(main())
