"""Server processes that are forked from one that has imported what servers import: that takes them 3 s of CPU each."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *("farside.cli", "farside.langgraph", "farside.pydantic_ai", "uvicorn.main", "uvloop"),
        *("langchain.agents", "langchain.chat_models", "langgraph.checkpoint.sqlite.aio"),
        *("pydantic_ai.models.function", "pydantic_ai.models.test"),
    ]
)


def serve(app: str, port: int, *, folder: Path, env: Mapping[str, str]) -> tuple[BaseProcess, IO[str]]:
    """``farside serve app --port port`` in a folder; returns the process and what it writes.

    Args:
        env: variables beside this process's own; those of ``PYTHONPATH`` count too.
    """
    ours, theirs = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=_serve, args=(app, port, folder, {**os.environ, **env}, theirs))
    process.start()
    theirs.close()
    return process, open(os.dup(ours.fileno()), encoding="utf-8")  # noqa: PTH123


def _serve(app: str, port: int, folder: Path, env: Mapping[str, str], output: Connection) -> None:
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    output.close()
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", buffering=1, closefd=False) for stream in (1, 2))
    os.environ.clear()
    os.environ.update(env)
    sys.path[:0] = env["PYTHONPATH"].split(os.pathsep)
    os.chdir(folder)
    from farside.cli import main

    sys.exit(main(["serve", app, "--port", str(port)]))
