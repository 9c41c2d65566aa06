"""The code of the README and of other pages, as it stands."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def python_block(mark: str) -> str:
    """The Python block after ``<!-- test: mark -->``."""
    return _only(rf"<!-- test: {re.escape(mark)} -->\n```python\n(.*?)^```$")


def block(language: str, page: str = README) -> str:
    """The only block of a language."""
    return _only(rf"^```{re.escape(language)}\n(.*?)^```$", page)


def _only(pattern: str, page: str = README) -> str:
    found = re.findall(pattern, page, re.DOTALL | re.MULTILINE)
    assert len(found) == 1, f"expected one block {pattern!r} in the page, found {len(found)}"
    return found[0]
