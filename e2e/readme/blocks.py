"""The README's code, as it stands."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def python_block(mark: str) -> str:
    """The Python block after ``<!-- test: mark -->``."""
    return _only(rf"<!-- test: {re.escape(mark)} -->\n```python\n(.*?)^```$")


def block(language: str) -> str:
    """The only block of a language."""
    return _only(rf"^```{re.escape(language)}\n(.*?)^```$")


def _only(pattern: str) -> str:
    found = re.findall(pattern, README, re.DOTALL | re.MULTILINE)
    assert len(found) == 1, f"expected one block {pattern!r} in README.md, found {len(found)}"
    return found[0]
