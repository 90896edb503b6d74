"""Amounts as people write them: thousands and decimals of a locale, per cent, units, currencies, k, M and million."""

import re
from decimal import Decimal, localcontext

from gpuplan.locales import PLAIN, Locale
from gpuplan.wording import unit_of

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
_ZEROS = {3: "k thousand", 5: "lakh", 6: "M mn mio mio. million", 7: "crore", 9: "bn mrd billion"}
LARGER = {word: zeros for zeros, words in _ZEROS.items() for word in words.split()}
"""Suffix of a number -> its number of zeros; words in any case."""
_WORDS = "|".join(re.escape(word) for word in LARGER if len(word) > 1)
SUFFIX = {paid: rf"[kKM{'m' * paid}]|(?i:{_WORDS})" for paid in (False, True)}
"""The suffixes of a number, and of money: 12m is no count."""
NOT_THOUSAND = ("GiB", "token")
"""Units of which k may mean 1000 or 1024."""
OTHER_UNITS = {"kW": {"W": -3, "MW": 3}, "t": {"kg": -3}}
"""Unit of an input -> units that are read too, with the zeros that make one of them the unit."""
SIGNS_OF = {"USD": "$", "EUR": "\u20ac", "GBP": "\u00a3", "INR": "\u20b9", "JPY": "\u00a5"}
PLAIN_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


def plain_number(
    given: str, *, unit: str = "", percent: bool = False, currency: str = "", locale: Locale = PLAIN
) -> str | None:
    """Return a number without unit and thousands, with a point, and with a ``%`` where that is allowed. None where it is none."""
    bare, zeros = _without_unit(given, unit, percent, currency)
    sign = "%" if bare.endswith("%") and percent else ""
    bare = re.sub(r"%$", "", bare).strip() if sign else bare
    larger = re.fullmatch(rf"(.*\d) ?({SUFFIX[bool(currency)]})", bare)
    if larger and not sign and unit not in NOT_THOUSAND:
        word = larger[2].lower()
        bare, zeros = larger[1], zeros + LARGER["M" if word == "m" else word]
    digits = plain_digits(bare, locale)
    return _times(digits, zeros) if digits is not None and zeros else digits and digits + sign


def _without_unit(given: str, unit: str, percent: bool, currency: str) -> tuple[str, int]:
    """(number without its unit, zeros by which it is to be moved)."""
    zeros = dict.fromkeys((unit, f"{unit}s", unit_of(2, unit)), 0) if unit not in ("", "%") else {}
    zeros |= OTHER_UNITS.get(unit, {})
    if unit in ("us", "\u00b5s"):
        zeros |= {"\u00b5s": 0, "\u03bcs": 0}
    if percent:
        given = re.sub(r"(?<=\d) ?(per ?cent|pct)$", "%", given, flags=re.IGNORECASE)
    if currency:
        for sign in (currency, SIGNS_OF.get(currency, currency)):
            zeros[sign] = 0
            given = re.sub(rf"^{re.escape(sign)} ?(?=[\d.,-])", "", given, flags=re.IGNORECASE)
    for name in sorted(zeros, key=len, reverse=True):
        pattern = rf"(.*\d ?(?:{SUFFIX[True]})?) ?{re.escape(name)}"
        if match := re.fullmatch(pattern, given, flags=re.IGNORECASE):
            return match[1].strip(), zeros[name]
    return given, 0


def plain_digits(given: str, locale: Locale) -> str | None:
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
