"""Numbers as people type them into a form, as a scenario reads them: a share of 1 or more is per cent, a range has two ends."""

import re
from decimal import Decimal

from gpuplan.locales import Locale
from gpuplan.scenario import Field, field_of
from gpuplan.scenario.amounts import PLAIN_NUMBER, plain_digits, plain_number

NUMERIC = ("int", "number", "money", "share", "gpus", "range")
SPACES = re.compile(r"[\u00a0\u2007\u2009\u202f\t ]+")
RANGE_TYPED = re.compile(r"(.+?)\s*(?:\bto\b|\.\.|\u2013)\s*(.+)|([^-]+?)\s*-\s*([^-]+)")


def as_typed(path: str, text: str, locale: Locale, currency: str) -> str:
    """Return typed text as a scenario reads it; a share of 1 or more without a sign is per cent."""
    spec = field_of(path)
    if spec.kind not in NUMERIC:
        return text
    inner = path.removeprefix("ranges.")
    about, paid = field_of(inner), currency if inner.startswith("prices.") else ""
    cleaned = SPACES.sub(" ", text).strip()
    if spec.kind == "range":
        ends = RANGE_TYPED.fullmatch(cleaned)
        return _range(about, [end for end in ends.groups() if end], locale, paid) if ends else cleaned
    paid = currency if about.kind == "money" else paid
    number = _number(about, cleaned, locale, paid)
    if number is None:
        return cleaned
    return f"{number}%" if about.kind == "share" and _size(number) >= 1 else number


def counted_as_typed(text: str, locale: Locale) -> str:
    """Do the same for a whole number that has no unit."""
    return plain_digits(SPACES.sub(" ", text).strip(), locale) or text


def is_half_typed(text: str, locale: Locale) -> bool:
    """True if a number may go on: it ends with a sign or a part of a unit, or its last thousands are incomplete."""
    cleaned, sign = SPACES.sub(" ", text).rstrip(), "." if locale.decimal == "," else ","
    return not re.search(r"[\d%]$", cleaned) or bool(re.search(rf"\d[ '\u2019{sign}]\d{{1,2}}$", cleaned))


def _size(number: str) -> Decimal:
    """Return the size of a plain number; 0 for a fraction or one with a per cent sign."""
    return abs(Decimal(number)) if PLAIN_NUMBER.fullmatch(number) else Decimal(0)


def _range(spec: Field, ends: list[str], locale: Locale, currency: str) -> str:
    """Return both ends; a per cent sign behind the second holds for the first, too."""
    numbers = [_number(spec, end, locale, currency) or end for end in ends]
    if spec.kind == "share" and max(map(_size, numbers)) > 1:
        numbers = [f"{number.removesuffix('%')}%" for number in numbers]
    elif numbers[1].endswith("%") and not numbers[0].endswith("%"):
        numbers[0] += "%"
    return " to ".join(numbers)


def _number(spec: Field, given: str, locale: Locale, currency: str) -> str | None:
    percent = spec.kind in ("share", "gpus")
    return plain_number(given, unit=spec.unit, percent=percent, currency=currency, locale=locale)
