"""The vectors of the protocol, as Python reads them."""

import json
from pathlib import Path
from typing import Any

import pytest

from farside.wire.values import unescape

FOLDER = Path(__file__).resolve().parents[2] / "protocol" / "vectors"
PROTOCOL = FOLDER.parent


def entries(file: str, key: str) -> list[Any]:
    """The entries of one list of a file, as parameters that are named like them."""
    return [pytest.param(entry, id=entry["name"]) for entry in json.loads((FOLDER / file).read_text())[key]]


def messages(key: str) -> list[Any]:
    """Entries of messages.json, with bytes for ``{"$bytes": ...}``."""
    return [pytest.param(unescape(param.values[0]), id=param.id) for param in entries("messages.json", key)]


def frames(entry: dict[str, Any]) -> dict[str, list[str | bytes]]:
    """An entry's frames, the canonical one first, by the name of the codec."""
    return {
        "json": [entry[key] for key in ("json",) if key in entry] + entry.get("json_also", []),
        "msgpack": [
            bytes.fromhex(text)
            for text in [entry[key] for key in ("msgpack",) if key in entry] + entry.get("msgpack_also", [])
        ],
    }
