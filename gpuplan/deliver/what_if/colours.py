"""Colours: the accent of a firm as it reads on a dark screen."""

from __future__ import annotations

from gpuplan.deliver.brand import PLAIN, contrast_on_white

DARK_CARD = "18202B"
LEAST_CONTRAST = 5.5
"""Of the accent on a dark card: words in it are small."""
PLAIN_ON_DARK = "5AA9F0"
"""The accent of gpuplan on a dark screen."""


def on_dark(accent: str) -> str:
    """The accent, with as much white as it needs on a dark card."""
    if accent == PLAIN.accent:
        return PLAIN_ON_DARK
    mixed = (_with_white(accent, tenths / 10) for tenths in range(11))
    return next(colour for colour in mixed if _contrast(colour) >= LEAST_CONTRAST)


def _with_white(colour: str, share: float) -> str:
    parts = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
    return "".join(f"{round(part + share * (255 - part)):02X}" for part in parts)


def _contrast(colour: str) -> float:
    """Contrast of a colour and the card below it (WCAG 2.2)."""
    return contrast_on_white(DARK_CARD) / contrast_on_white(colour)
