"""``farside types``: what a page is typed by, made of what Python declares."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, cast

from farside.cli.places import app_at
from farside.tools import HeadlessTool, declaration_of
from farside.typegen import generate


def run(place: str, output: Path | None, *, check: bool, source: str) -> int:
    """Write the types of the tools at a place, to the standard output without a file; returns the exit code.

    Args:
        place: ``module:app``, or a module that exports tools.
        check: write nothing, say whether the file is what would be written.
        source: the module that the file imports ``declare`` from.

    Raises:
        ValueError: there are no tools at that place, or two of one name; says what to do.
    """
    written = generate(tools_at(place), f"farside types {place}", source=source)
    if output is None:
        sys.stdout.write(written)
    elif not check:
        output.write_text(written, encoding="utf-8", newline="\n")
    elif not output.exists() or output.read_text(encoding="utf-8") != written:
        options = f"-o {output}" if source == "farside" else f"-o {output} --import {source}"
        sys.stderr.write(
            f"{output} is not what {place} declares; run `farside types {place} {options}` and commit the file\n"
        )
        return 1
    return 0


def tools_at(place: str) -> list[HeadlessTool]:
    """The tools of ``module:app``, or those that a module exports: each once, by name.

    Raises:
        ValueError: there are none, or two different ones of one name.
    """
    is_app = ":" in place
    tools = list(app_at(place).tools) if is_app else _exported(importlib.import_module(place))
    if not tools:
        what = "shows" if is_app else "exports"
        raise ValueError(
            f"expected {place} to declare headless tools, it {what} none; name those that the server cannot find by "
            "itself with Farside(agents, tools=[...])"
        )
    return sorted(tools, key=lambda tool: tool.name)


def _exported(module: Any) -> list[HeadlessTool]:
    public = [name for name in cast("dict[str, Any]", vars(module)) if not name.startswith("_")]
    names: list[str] = getattr(module, "__all__", public)
    found: dict[str, HeadlessTool] = {}
    for tool in (declaration_of(getattr(module, name)) for name in names):
        if tool is not None and found.setdefault(tool.name, tool).fingerprint != tool.fingerprint:
            raise ValueError(f"expected one tool named {tool.name!r} in {module.__name__}, got two; rename one")
    return list(found.values())
