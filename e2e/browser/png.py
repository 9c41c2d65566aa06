"""Reads PNG pictures, as far as a canvas writes them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PNG = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}


@dataclass(frozen=True)
class Picture:
    width: int
    height: int
    rows: list[bytes]
    """Raw pixels, 3 or 4 bytes each."""

    def colors(self, columns: Iterable[int]) -> set[str]:
        """The colors, ``#rrggbb``, that these columns have."""
        size = len(self.rows[0]) // self.width
        return {f"#{row[x * size : x * size + 3].hex()}" for x in columns for row in self.rows}


def read_png(png: bytes) -> Picture:
    """The picture. Raises ValueError when it is no whole PNG of 8 bits per channel."""
    if not png.startswith(PNG):
        raise ValueError("no PNG signature")
    chunks = list(_chunks(png))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if chunks[0][0] != b"IHDR" or chunks[-1][0] != b"IEND" or depth != 8 or kind not in _CHANNELS or interlaced:
        raise ValueError("not the kind of PNG that a canvas writes")
    data = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    size = _CHANNELS[kind]
    rows: list[bytes] = []
    above = bytes(width * size)
    for start in range(0, height * (width * size + 1), width * size + 1):
        above = _unfiltered(data[start], data[start + 1 : start + 1 + width * size], above, size)
        rows.append(above)
    return Picture(width, height, rows)


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(PNG)
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        body, check = png[at + 8 : at + 8 + length], png[at + 8 + length : at + 12 + length]
        if zlib.crc32(name + body).to_bytes(4, "big") != check:
            raise ValueError(f"chunk {name!r} is damaged")
        yield name, body
        at += 12 + length


def _unfiltered(kind: int, line: bytes, above: bytes, size: int) -> bytes:
    row = bytearray(line)
    for at, up in enumerate(above):
        left, corner = (row[at - size], above[at - size]) if at >= size else (0, 0)
        row[at] = (row[at] + (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]) & 255
    return bytes(row)


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda each: abs(guess - each))
