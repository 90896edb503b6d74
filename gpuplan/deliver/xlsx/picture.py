"""The size of a picture, which a sheet needs to place it."""

from __future__ import annotations

import struct

FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG file after which its size stands."""


def pixels(picture: bytes) -> tuple[int, int]:
    """(width, height) of a PNG or JPEG picture; (0, 0) where the file does not say."""
    if picture.startswith(b"\x89PNG"):
        return struct.unpack(">II", picture[16:24]) if len(picture) >= 24 else (0, 0)
    at = 2
    while at + 9 <= len(picture) and picture[at] == 0xFF:
        if picture[at + 1] in FRAMES:
            high, wide = struct.unpack(">HH", picture[at + 5 : at + 9])
            return wide, high
        at += 2 + int(struct.unpack(">H", picture[at + 2 : at + 4])[0])
    return 0, 0


def scaled(picture: bytes, wide: float, high: float) -> tuple[float, float, float]:
    """(scale, left, top) that put a picture into the middle of a room, as large as it fits; scale 0 where its size is not known."""
    own_wide, own_high = pixels(picture)
    if not own_wide or not own_high:
        return 0.0, 0.0, 0.0
    scale = min(wide / own_wide, high / own_high)
    return scale, (wide - own_wide * scale) / 2, (high - own_high * scale) / 2
