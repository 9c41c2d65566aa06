"""Names that TypeScript takes, and that are not in use yet."""

from __future__ import annotations

import re

_WORDS = """
any arguments as async await break case catch class const continue debugger declare default delete do else enum eval
export extends false finally for function if implements import in instanceof interface let new null package private
protected public return static super switch this throw true try typeof undefined var void while with yield
"""
_RESERVED = frozenset(_WORDS.split())


class Names:
    """The names of one file: each is given once."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._types = {"Array", "Blob", "Record", "Uint8Array"}

    def value(self, name: str) -> str:
        """A name for a constant: that of the tool where it is an identifier, ``get_x`` for ``get-x``."""
        found = re.sub(r"\W", "_", name, flags=re.ASCII)
        if found[:1].isdigit():
            found = f"_{found}"
        return _free(f"{found}_" if found in _RESERVED else found, self._values)

    def type(self, *words: str) -> str:
        """A name for a type, in capitals: ``GetLocationArgs`` for ``get_location`` and ``Args``."""
        parts = [part for word in words for part in re.split(r"[\W_]+", word, flags=re.ASCII) if part]
        found = "".join(part[0].upper() + part[1:] for part in parts) or "Type"
        return _free(f"_{found}" if found[0].isdigit() else found, self._types)


def _free(name: str, taken: set[str]) -> str:
    found, count = name, 2
    while found in taken:
        found, count = f"{name}{count}", count + 1
    taken.add(found)
    return found
