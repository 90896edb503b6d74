"""Locales: decimal and thousands signs, place of the currency, form of a date and paper, as in ``data/words/locales.csv``.

Text for readers follows the scenario's locale: the renderer sets it with `speaking`. Files for programs never change.
"""

import datetime
import functools
import re
import string
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from gpuplan.facts import own_rows

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")
THIN_SPACE = "\u202f"
_NAMES = [(row["of"], row["name"]) for row in own_rows("words/names")]
MONTHS, DAY_NAMES = (tuple(n for of, n in _NAMES if of == kind) for kind in ("month", "day of the week"))
PER_CENT = re.compile(r"(?<=[\d}]) %")
THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
"""Numbers in text quoted by the catalog, which is English."""


@dataclass(frozen=True, slots=True)
class Locale:
    """Form of numbers, money and dates in a place, and its paper."""

    id: str
    name: str
    decimal: str
    thousands: str
    grouping: int
    """Digits of a group left of the last three: 3, or 2 as in India."""
    grouped_from: int
    """Numbers from here on are grouped."""
    currency: str
    """``before`` or ``after`` the amount."""
    day: str
    """Template of a date with ``year``, ``month`` (its name), ``number`` (of the month) and ``day``."""
    paper: str
    """``a4`` or ``letter``."""
    percent: str
    """Position of the per cent sign: ``close`` to its number or ``apart`` from it."""

    def grouped(self, digits: str) -> str:
        """Digits with signs between thousands."""
        sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
        parts, rest = [digits[-3:]], digits[:-3]
        while rest:
            parts.insert(0, rest[-self.grouping :])
            rest = rest[: -self.grouping]
        return sign + self.thousands.join(parts)


PLAIN = Locale(
    "", "International", ".", THIN_SPACE, 3, 1_000, "before", "{year}-{number:02}-{day:02}", "a4", "apart"
)
"""Locale of scenarios that choose none."""
LOCALES: Mapping[str, Locale] = {
    row["locale"]: Locale(
        row["locale"],
        row["name"],
        row["decimal"],
        row["thousands"],
        int(row["grouping"]),
        int(row["grouped_from"]),
        row["currency"],
        row["day"],
        row["paper"],
        row["percent"],
    )
    for row in own_rows("words/locales")
}
SPOKEN: ContextVar[Locale] = ContextVar("locale", default=PLAIN)
"""Locale of the text being rendered."""


def locale_of(scenario: Any) -> Locale:
    """The locale of a scenario."""
    return LOCALES.get(scenario.format.locale or "", PLAIN)


@contextmanager
def speaking(locale: str | Locale | None) -> Iterator[None]:
    """Render within the block in a locale, or as in international documents."""
    token = SPOKEN.set(locale if isinstance(locale, Locale) else LOCALES.get(locale or "", PLAIN))
    try:
        yield
    finally:
        SPOKEN.reset(token)


def spoken(render: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Render the result of a function of a plan, or of anything else with a scenario, in the scenario's locale."""

    @functools.wraps(render)
    def in_its_locale(of: S, /, *args: P.args, **rest: P.kwargs) -> T:
        with speaking(locale_of(getattr(of, "scenario", of))):
            return render(of, *args, **rest)

    return in_its_locale


def written(value: Any, spec: str = "") -> str:
    """Format a number by a Python format, such as ``.2f`` or ``,.0f``, with the signs of the locale."""
    here = SPOKEN.get()
    whole, point, part = format(value, spec).partition(".")
    if "," in whole:
        digits = whole.replace(",", "")
        whole = here.grouped(digits) if abs(int(digits)) >= here.grouped_from else digits
    return f"{whole}{here.decimal}{part}" if point else whole


def per_cent(text: str) -> str:
    """Apply the locale to the space before per cent signs in a text: ``5 %`` or ``5%``."""
    return PER_CENT.sub("%", text) if SPOKEN.get().percent == "close" else text


class _Filler(string.Formatter):
    """Fills words in; a number with a format has the signs of the locale."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return written(value, format_spec) if format_spec else str(value)


def filled(text: str, /, **words: object) -> str:
    """A text with its words filled in, as ``str.format`` does, numbers with the signs of the locale."""
    return _Filler().vformat(per_cent(text), (), words)


def quoted(text: str) -> str:
    """Format thousands and per cent in text quoted by the catalog with the signs of the locale, if one is chosen."""
    if SPOKEN.get() is PLAIN:
        return text
    return per_cent(THOUSANDS.sub(lambda found: written(int(found[0].replace(",", "")), ","), text))


def written_day(iso: str) -> str:
    """Return a day such as 2026-11-21 in the form of the locale; other text stays as it is."""
    try:
        day = datetime.date.fromisoformat(iso)
    except ValueError:
        return iso
    return SPOKEN.get().day.format(year=day.year, month=MONTHS[day.month - 1], number=day.month, day=day.day)
