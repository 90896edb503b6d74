"""Wording: how numbers, their units and the words for them appear to a reader."""

from __future__ import annotations

from typing import Any

from gpuplan.units import exact

MODE_NAMES = {
    "passthrough": "Passthrough",
    "vgpu": "vGPU",
    "mig": "MIG-backed vGPU",
    "bitfusion": "Bitfusion",
    "": "none possible",
}

BASIS_WORDS = {
    "measured": "measured",
    "published": "published",
    "quoted": "stated or quoted",
    "derived": "derived",
    "assumed": "assumed",
}


COUNTED = ("GPU", "host", "additional host", "VM", "input", "error", "note")
"""Units that take a plural."""


def basis_word(basis: str) -> str:
    """A basis in words a customer reads."""
    return BASIS_WORDS[basis]


def number(value: Any) -> str:
    """A number as it is shown: whole numbers with thin spaces, fractions of a GPU as fractions, others to three places, or three digits below 0.1."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if float(value).is_integer():
        return f"{int(value):,}".replace(",", "\u202f") if abs(value) >= 10_000 else str(int(value))
    share = exact(value)
    if 0 < share < 1 and share.denominator <= 16 and abs(float(share) - value) < 1e-6:
        return f"{share.numerator}/{share.denominator}"
    if abs(value) < 0.1:
        return f"{value:.3g}"
    return f"{value:,.3f}".rstrip("0").rstrip(".").replace(",", "\u202f")


def amount(value: Any, unit: str) -> str:
    """A number with its unit; a count has none, and one of a thing is not in the plural."""
    text = number(value)
    if unit in ("", "1") or isinstance(value, str | bool) or value is None:
        return text
    many = unit in COUNTED and not 0 < float(value) <= 1
    return f"{text} {unit}{'s' if many else ''}"


def hours(value: float) -> str:
    """Hours a year as they are shown: minutes and seconds where they are few, none where there are none."""
    if value == 0:
        return "none"
    if value < 1 / 60:
        return "less than 1 min"
    if value < 1:
        return f"{value * 60:.0f} min"
    return f"{value:.1f} h" if value < 10 else f"{number(round(value))} h"


def percent(value: float) -> str:
    """A chance in per cent, two digits of it; never 0 or 100 for what is not certain."""
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if value < 0.0001:
        return "under 0.01 %"
    if value > 0.9999:
        return "over 99.99 %"
    digits = 0 if 0.1 <= value <= 0.99 else 1 if 0.01 <= value < 0.1 else 2
    return f"{100 * value:.{digits}f} %"
