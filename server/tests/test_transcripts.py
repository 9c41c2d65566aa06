"""Every transcript of the protocol against the server's half, in both encodings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from farside.testing import play

FOLDER = Path(__file__).parents[2] / "protocol" / "vectors" / "transcripts"
FILES = sorted(FOLDER.glob("*.json"))


def test_there_are_transcripts():
    assert len(FILES) >= 15


@pytest.mark.parametrize("subprotocol", ["farside.v1.json", "farside.v1.msgpack"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_transcript(path: Path, subprotocol: str):
    transcript: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    await play(transcript, subprotocol)
