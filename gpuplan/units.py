"""Units: the suffixes of names with their units, conversion constants, and the valid values of a quantity.

Every quantity in gpuplan carries its unit in its name. A test reads this table and the
docstrings and fails where the two disagree. A name without a suffix is a count or a ratio.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

SUFFIX = {
    "gib": "GiB",
    "mb": "MB",
    "gb": "GB",
    "gb_s": "GB/s",
    "gbit_s": "Gbit/s",
    "tflops": "TFLOP/s",
    "w": "W",
    "kw": "kW",
    "kwh": "kWh",
    "s": "s",
    "us": "us",
    "ms": "ms",
    "h": "h",
    "mm": "mm",
    "u": "U",
    "gpus": "GPU",
    "hosts": "host",
    "vms": "VM",
    "pct": "%",
    "cost": "currency",
    "price": "currency",
    "usd": "USD",
    "kg": "kg",
    "kg_kwh": "kg/kWh",
    "btu_h": "BTU/h",
}
"""Suffix of a name -> its unit, as written in docstrings, data and on the screen."""

BTU_H_PER_W = 3600 / 1055.05585262
"""One watt in British thermal units (International Table) per hour: 3.412141633. [BTU/h]"""
W_PER_KW = 1000
MIB_PER_GIB = 1024
"""Frame buffers are listed in MiB (vendors print MB), GPU memory in GiB."""


@lru_cache(maxsize=4096)  # without it a plan takes a fifth longer
def exact(value: float) -> Fraction:
    """Return the fraction that a decimal input means: 0.1 is a tenth and 0.333333 a third.

    It has a denominator up to 100 and is less than half a millionth away, or one up to 10000 and is the same to
    twelve digits; else it is the decimal itself.

    >>> exact(0.1) * 30
    Fraction(3, 1)
    >>> exact(1 / 3)
    Fraction(1, 3)
    """
    decimal = Fraction(str(value))
    near = decimal.limit_denominator(10_000)
    away = abs(near - decimal)
    typed = near != 0 and near.denominator <= 100 and away * 2_000_000 < 1
    return near if typed or away * 10**12 < abs(decimal) else decimal


def above_zero(**given: float) -> None:
    """Refuse a quantity that is not above 0 and finite, by its name."""
    for name, value in given.items():
        if not (_is_number(value) and 0 < value < math.inf):
            raise ValueError(f"{name} is {value!r}; it must be above 0, and finite")


def not_negative(**given: float) -> None:
    """Refuse a quantity that is below 0 or not finite, by its name."""
    for name, value in given.items():
        if not (_is_number(value) and 0 <= value < math.inf):
            raise ValueError(f"{name} is {value!r}; it must be at least 0, and finite")


def zero_to_one(**given: float) -> None:
    """Refuse a share that is not from 0 to 1, by its name."""
    for name, value in given.items():
        if not (_is_number(value) and 0 <= value <= 1):
            raise ValueError(f"{name} is {value!r}; it must be from 0 to 1")


def finite(name: str, values: Iterable[float]) -> None:
    """Reject anything that is not a finite number."""
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{name} has {value}; it must be finite")


def at_least_one(**given: int) -> None:
    """Refuse a count that is not a whole number from 1, by its name."""
    for name, value in given.items():
        if not _is_whole(value) or value < 1:
            raise ValueError(f"{name} is {value!r}; it must be a whole number, at least 1")


def whole_from_zero(**given: int) -> None:
    """Refuse a count that is not a whole number from 0, by its name."""
    for name, value in given.items():
        if not _is_whole(value) or value < 0:
            raise ValueError(f"{name} is {value!r}; it must be a whole number, at least 0")


def each(guard: Callable[..., None], **given: Iterable[Any]) -> None:
    """Let a guard look at every member of sequences, of sequences of these, and of values of mappings."""
    for name, values in given.items():
        for value in values.values() if isinstance(values, Mapping) else values:
            if isinstance(value, list | tuple):
                each(guard, **{name: value})
            else:
                guard(**{name: value})


# Asking an abstract class takes ten times as long as asking for the type, and a fit asks some ten million times.
def _is_number(value: object) -> bool:
    return type(value) in (float, int) or (isinstance(value, Real) and not isinstance(value, bool))


def _is_whole(value: object) -> bool:
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def whole_number(name: str, value: int, *, least: int = 0, most: int) -> int:
    """Return a count, or reject it by its name if it is no whole number or out of range."""
    if not _is_whole(value) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}: must be a whole number from {least} to {most:,}")
    return int(value)


def number_between(name: str, value: float, *, least: float = 0, most: float) -> float:
    """Return a quantity, or reject it by its name if it is no number or out of range."""
    if not _is_number(value) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}: must be a number from {least:g} to {most:,.0f}")
    return float(value)


_NUMBER = r"[+-]?\d{1,18}(\.\d{0,18})?(e[+-]?\d{1,3})?|[+-]?\.\d{1,18}|\d{1,9}\s*/\s*[1-9]\d{0,8}"
"""A decimal number, one without a digit before its point, or a fraction."""


def exact_number(given: Any, percent: bool) -> Fraction | None:
    """A number exactly as written; None for anything else."""
    if isinstance(given, bool):
        return None
    if isinstance(given, int):
        return Fraction(given)
    if isinstance(given, float):
        return Fraction(str(given)) if math.isfinite(given) else None
    if not isinstance(given, str) or len(given) > 40:
        return None
    percent = percent and given.endswith("%")
    text = given.removesuffix("%").strip() if percent else given
    if not re.fullmatch(_NUMBER, text):
        return None
    value = Fraction(text.replace(" ", ""))
    return value / 100 if percent else value
