"""What each command does."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from farside.app import DEVELOPMENT
from farside.asgi import server_options
from farside.cli import reload
from farside.cli.places import app_at
from farside.cli.types import run as write_types
from farside.doctor import report


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="farside", description="Headless tools for Python agents.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser(
        "serve", help="serve an app", description="Serve a Farside app, or any ASGI app with one."
    )
    dev = commands.add_parser(
        "dev",
        help="serve an app while you write it",
        description="Serve a Farside app, or any ASGI app with one: anew whenever a Python file below the current "
        "folder changes, and also to pages of other ports of localhost, whatever allowed_origins says.",
    )
    for command in (serve, dev):
        command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        command.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")
    serve.add_argument(
        "--workers", type=int, default=1, help="processes; only 1 works with the memory bus (default: 1)"
    )
    doctor = commands.add_parser(
        "doctor",
        help="list what is stuck, and why",
        description="List the runs of a Farside app's store that have not ended, and what they wait for. "
        "Changes nothing; the server may be running. The exit code is 1 when something is stuck.",
    )
    types = commands.add_parser(
        "types",
        help="write the TypeScript types of the app's headless tools",
        description="Write a TypeScript file with the types of every headless tool that a Farside app declares, and "
        "with what a page implements it by. A module without an app will do, too: its exported tools are meant then.",
    )
    types.add_argument("-o", "--output", type=Path, help="the file to write (default: the standard output)")
    types.add_argument(
        "--check", action="store_true", help="write nothing; the exit code is 1 when the file is out of date"
    )
    types.add_argument(
        "--import",
        dest="source",
        metavar="MODULE",
        default="farside",
        help="the module that the file imports farside from (default: %(default)s)",
    )
    for command in (serve, dev, doctor, types):
        command.add_argument("app", metavar="module:app", help="where the app is, for example server:app")
    options = parser.parse_args(arguments)
    module, _, name = options.app.partition(":")
    if not module or (not name and (options.command != "types" or ":" in options.app)):
        parser.error(f"expected module:app, got {options.app!r}; for example server:app")
    sys.path.insert(0, str(Path.cwd()))
    if options.command == "types" and options.check and options.output is None:
        parser.error("expected --check with the file to check, got no -o")
    if options.command in ("types", "doctor"):
        importlib.import_module(module)  # whatever is wrong in there has its own traceback
    if options.command == "types":
        try:
            return write_types(options.app, options.output, check=options.check, source=options.source)
        except ValueError as error:
            parser.error(str(error))
    if options.command == "doctor":
        try:
            app = app_at(options.app)
        except ValueError as error:
            parser.error(str(error))
        findings = asyncio.run(app.examine())
        sys.stdout.write(report(findings))
        return int(any(finding.is_stuck for finding in findings))
    if options.command == "dev":
        os.environ[DEVELOPMENT] = "1"
        reload.run(options.app, host=options.host, port=options.port)
        return 0
    if options.workers != 1:
        parser.error(f"expected --workers 1, got {options.workers}; several processes need a bus between them")
    os.environ.pop(DEVELOPMENT, None)
    uvicorn.run(options.app, host=options.host, port=options.port, **server_options())
    return 0
