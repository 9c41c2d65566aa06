"""The command line: ``farside serve module:app``, ``farside dev module:app``, ``farside doctor
module:app``, ``farside types module:app``."""

from farside.cli.commands import main

__all__ = ["main"]
