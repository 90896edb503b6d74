"""Numbers as people type them, converted for a scenario: thousands, decimals of the locale, per cent, units, k, M."""

import re
from decimal import Decimal, localcontext

from gpuplan.locales import Locale
from gpuplan.scenario import Field, field_of
from gpuplan.wording import PLURALS

NUMERIC = ("int", "number", "share", "gpus", "range")
SPACES = re.compile(r"[\u00a0\u2007\u2009\u202f\t ]+")
QUOTES = re.compile(r"[\u2019\u02bc']")
GROUPED = r"(?P<whole>\d{1,3}(?:SIGN\d{3})+|\d{1,2}(?:SIGN\d{2})*SIGN\d{3})"
"""Digits with a sign before each three, or each two and the last three as in India."""


def _readings(decimal: str, other: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return (sign between thousands, pattern of a number), the first that fits counts."""
    unsigned = r"[^., ']"
    rows = (
        (" ", r"GROUPED([.,](?P<part>\d+))?"),
        ("'", r"GROUPED([.,](?P<part>\d+))?"),
        (other, rf"(?!0)GROUPED\{decimal}(?P<part>{unsigned}*)"),
        (decimal, rf"(?!0)GROUPED\{other}(?P<part>{unsigned}*)"),
        (other, r"(?!0)GROUPED"),
        ("", rf"(?P<whole>\d+)\{other}(?P<part>\d+)"),  # it cannot separate thousands
        ("", rf"(?P<whole>{unsigned}*)\{decimal}(?P<part>{unsigned}*)"),
        (decimal, "GROUPED"),
        ("", rf"(?P<whole>{unsigned}+)"),
    )
    grouped = [(sign, pattern.replace("GROUPED", GROUPED)) for sign, pattern in rows]
    return [(sign, re.compile(pattern.replace("SIGN", re.escape(sign)))) for sign, pattern in grouped]


READINGS = {decimal: _readings(decimal, other) for decimal, other in (".,", ",.")}
"""Decimal sign of a locale -> the ways to read a number there."""
LARGER = {"k": 3, "K": 3, "M": 6, "bn": 9, "lakh": 5, "crore": 7}
"""Suffix of a number -> its number of zeros."""
NOT_THOUSAND = ("GiB", "token")
"""Units of which k may mean 1000 or 1024."""
SIGNS_OF = {"USD": "$", "EUR": "\u20ac", "GBP": "\u00a3", "INR": "\u20b9", "JPY": "\u00a5"}
PLAIN_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")
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
    number = _number(about, cleaned, locale, paid)
    if number is None:
        return cleaned
    return f"{number}%" if about.kind == "share" and _size(number) >= 1 else number


def counted_as_typed(text: str, locale: Locale) -> str:
    """Do the same for a whole number that has no unit."""
    return _digits(SPACES.sub(" ", text).strip(), locale) or text


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
    """Return a number without unit and thousands, with a point; a share keeps its ``%``. None where it is none."""
    bare = _without_unit(spec, given, currency)
    percent = "%" if bare.endswith("%") and spec.kind in ("share", "gpus") else ""
    bare = re.sub(r"%$", "", bare).strip() if percent else bare
    larger = re.fullmatch(r"(.*\d) ?(k|K|M|bn|lakh|crore)", bare)
    if larger and not percent and spec.unit not in NOT_THOUSAND:
        digits = _digits(larger[1], locale)
        return None if digits is None else _times(digits, LARGER[larger[2]])
    digits = _digits(bare, locale)
    return None if digits is None else digits + percent


def _without_unit(spec: Field, given: str, currency: str) -> str:
    known = spec.unit not in ("", "%")
    units = {spec.unit, f"{spec.unit}s", PLURALS.get(spec.unit, spec.unit)} if known else set()
    if spec.unit in ("us", "\u00b5s"):
        units |= {"\u00b5s", "\u03bcs"}
    if spec.kind == "share":
        given = re.sub(r"(?<=\d) ?(per ?cent|pct)$", "%", given, flags=re.IGNORECASE)
    if currency:
        units |= {currency, SIGNS_OF.get(currency, currency)}
        for sign in (currency, SIGNS_OF.get(currency, currency)):
            given = re.sub(rf"^{re.escape(sign)} ?(?=[\d.,-])", "", given, flags=re.IGNORECASE)
    for unit in sorted(units, key=len, reverse=True):
        match = re.fullmatch(rf"(.*[\dkKMn]) ?{re.escape(unit)}", given, flags=re.IGNORECASE)
        if match:
            return match[1]
    return given


def _digits(given: str, locale: Locale) -> str | None:
    """Return digits with a point from a locale's; None for what can be read in no way."""
    sign, body = (given[0], given[1:].lstrip()) if given[:1] in ("+", "-", "\u2212") else ("", given)
    body = QUOTES.sub("'", body)
    for thousands, pattern in READINGS[locale.decimal]:
        if match := pattern.fullmatch(body):
            part = match.groupdict().get("part")
            whole = sign.replace("\u2212", "-") + match["whole"].replace(thousands, "")
            return whole if part is None else f"{whole}.{part}"
    return None


def _times(digits: str, zeros: int) -> str | None:
    if not PLAIN_NUMBER.fullmatch(digits):
        return None
    with localcontext(prec=60):
        text = f"{Decimal(digits).scaleb(zeros):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
