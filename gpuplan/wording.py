"""Wording: how numbers, units and their words appear to a reader; names of choices are in ``data/words/names.csv``."""

import math
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from numbers import Real
from typing import Any

from gpuplan.facts import own_rows
from gpuplan.locales import SPOKEN, per_cent, written, written_day
from gpuplan.units import exact

PAGE_WIDTH: ContextVar[int] = ContextVar("page width", default=100)
"""Characters per line of text; the command line sets it to the width of the terminal."""
MOST_NAMES = 6
"""Names in one sentence; of many more the rest is counted."""

NAMES: dict[str, dict[str, str]] = {}
"""Input -> its choice -> the name of the choice for a reader."""
for _row in own_rows("words/names"):
    NAMES.setdefault(_row["of"], {})[_row["choice"]] = _row["name"]

MODE_NAMES, RULE_NAMES, METHOD_NAMES = NAMES["mode"], NAMES["rule"], NAMES["method"]
FORMULA_NAMES = {
    (method, rule): name for method in METHOD_NAMES for rule, name in NAMES[f"formula of {method}"].items()
}
"""(method, rule) -> the formula by its name in the field."""
BASIS_WORDS, TRANSPORT_NAMES, AGGREGATION_NAMES = NAMES["basis"], NAMES["transport"], NAMES["aggregation"]
VERDICTS = NAMES["verdict"]
"""Verdicts on whether a network carries work, in words."""
LICENCE_NAMES = {path: NAMES[path] for path in ("cost.platform_licence", "cost.gpu_licence")}
"""Names of software licensing models, by their input."""

PLURALS: Mapping[str, str] = NAMES["plural"]
"""Units that take a plural, in it."""


def basis_word(basis: str) -> str:
    """A basis in words a customer reads."""
    return BASIS_WORDS[basis]


def number(value: Any) -> str:
    """A number as it is shown: whole numbers with the locale's thousands, fractions of a GPU as fractions, others to three places, or three digits below 0.1."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if float(value).is_integer():
        return written(int(value), ",")
    share = exact(value)
    if 0 < share < 1 and share.denominator <= 16 and abs(float(share) - value) < 1e-6:
        return f"{share.numerator}/{share.denominator}"
    if abs(value) < 0.1:
        return written(value, ".3g")
    return written(value, ",.3f").rstrip("0").rstrip(SPOKEN.get().decimal)


def whole(gpus: float) -> int:
    """GPUs as a headline says them: whole ones, one of which a part is needed counted."""
    return math.ceil(gpus - 1e-9)


def mean_gpus(gpus: float) -> float:
    """Mean GPUs for a reader: whole ones from 10 on, two digits below."""
    return round(gpus) if gpus >= 10 else float(f"{gpus:.2g}")


def amount(value: Any, unit: str) -> str:
    """A number with its unit; a count has none, and one of a thing is not in the plural."""
    if is_currency(unit) and value is not None:
        return money(value, unit)
    text = number(value)
    if unit in ("", "1") or isinstance(value, str | bool) or value is None:
        return text
    if unit == "s" and 0 < value < 1:
        text = three_digits(value)  # GPUs have fractions, seconds have decimals
    return per_cent(f"{text} {unit_of(value, unit)}")


def unit_of(value: Any, unit: str) -> str:
    """Return the unit beside a number: plural, unless the number is one or a part of one."""
    if unit == "us":
        return "\u00b5s"
    if isinstance(value, Real) and 0 < float(value) <= 1:
        return unit
    return f"{unit}es" if unit.endswith("switch") else PLURALS.get(unit, unit)


def bare_amount(value: Any, unit: str) -> str:
    """Return a number without its unit, which is shown elsewhere; money is rounded as usual."""
    return money(value, "").strip() if is_currency(unit) and value is not None else number(value)


def counted(count: int, word: str) -> str:
    """A count with its noun: ``1 price``, ``no prices``, ``3 prices``."""
    return f"{number(count) if count else 'no'} {word}{'s' * (count != 1)}"


COUNT_WORDS = tuple(NAMES["count in words"].values())
"""Small counts as words."""


def in_words(count: int) -> str:
    """A count in a sentence: small ones as words."""
    return COUNT_WORDS[count] if count < len(COUNT_WORDS) else number(count)


def verb(count: float, many: str) -> str:
    """Return the verb for a count, from its plural: one ``is``, ``has``, ``needs``; two ``are``, ``have``, ``need``."""
    return VERBS.get(many, f"{many}s") if 0 < count <= 1 else many


VERBS = {"are": "is", "have": "has", "carry": "carries", "do": "does"}
"""Plural of a verb -> its singular, where that is not formed by an s."""


def some_of(names: Sequence[str]) -> str:
    """A list of names; of many the first few, and the number of the others."""
    left = len(names) - MOST_NAMES
    return ", ".join(names) if left < 2 else f"{', '.join(names[:MOST_NAMES])} and {number(left)} more"


def joined(names: Sequence[str]) -> str:
    """A list of names in a sentence, ``and`` before the last."""
    return said("headline.and").join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def is_currency(unit: str) -> bool:
    """True if a unit is a currency code."""
    return len(unit) == 3 and unit.isalpha() and unit.isupper() and unit != "GPU"


MINUS = "\u2212"


def money(value: float, currency: str) -> str:
    """An amount of money: whole units from 100 on, two decimals below, three below 1."""
    size = abs(value)
    places = 0 if size >= 100 or size == int(size) else 2 if size >= 1 else 3
    text = written(size, f",.{places}f")
    return priced(f"{MINUS * (value < 0 and any(c in '123456789' for c in text))}{text}", currency)


def priced(text: str, currency: str) -> str:
    """An amount with its currency."""
    return f"{text} {currency}" if SPOKEN.get().currency == "after" and currency else f"{currency} {text}"


def headline_money(value: float, currency: str, ends: tuple[float, float] | None = None) -> str:
    """An amount of money for a headline, rounded, with its range: ``USD 2.4 M (2.0 to 3.1 M)``."""
    said, low, high = rounded_money(value, ends)
    return priced(said, currency) + (f" ({low} to {high})" if low else "")


def rounded_money(value: float, ends: tuple[float, float] | None = None) -> tuple[str, str, str]:
    """An amount of money and its range as short as a headline: ``2.4 M``, ``2.0``, ``3.1 M``; no ends where there is no range.

    Two digits, and more where the ends would read like the amount; three where there is no range.
    """
    largest = max(abs(value), abs(ends[1]) if ends else 0)
    size, letter = next(((s, t) for s, t in SIZES if largest >= 0.9995 * s), (1.0, ""))
    digits = 2 if letter and ends and ends[0] < ends[1] else 3
    whole = (
        len(f"{abs(value) / size:.0f}") if abs(value) >= size else not letter or abs(value) >= 0.9995 * size
    )
    places = max(0, digits - whole)
    low, high = ends or (value, value)
    most = 3 if low < value < high else places  # more digits where the ends would read like the amount
    for decimals in range(places, max(places, most) + 1):
        low_said, value_said, high_said = (written(end / size, f".{decimals}f") for end in (low, value, high))
        if len({low_said, value_said, high_said}) == 3:
            break
    if low_said == high_said:
        return value_said + letter, "", ""
    return value_said + letter, low_said, high_said + letter


SIZES = ((1e9, " bn"), (1e6, " M"), (1e3, " k"))
"""Larger units for amounts, with their letters."""


def watts(value: float) -> str:
    """A power for a reader: kilowatts to one place, watts below one, megawatts from one on."""
    if value >= 999_950:
        return f"{number(round(value / 1e6, 2))} MW"
    return f"{value:.0f} W" if value < 1000 else f"{number(round(value / 1000, 1))} kW"


def short_number(value: float) -> str:
    """A large amount as short as a figure must be: ``1.72 M``."""
    for size, letter in SIZES:
        if abs(value) >= 0.9995 * size:
            return f"{written(float(f'{value / size:.3g}'), 'g')}{letter}"
    return written(float(f"{value:.3g}"), "g")


def short_watts(value: float) -> str:
    """A power as short as a figure must be: ``11.2 kW``, ``19.7 MW``."""
    if value >= 999_500:
        return f"{written(float(f'{value / 1e6:.3g}'), 'g')} MW"
    return f"{written(float(f'{value / 1000:.3g}'), 'g')} kW"


def hours(value: float) -> str:
    """Hours a year for a reader: minutes and seconds where they are few, none where there are none."""
    if value == 0:
        return "none"
    if value < 1 / 60:
        return "less than 1 min"
    if value < 1:
        return f"{value * 60:.0f} min"
    return f"{written(value, '.1f')} h" if value < 10 else f"{number(round(value))} h"


def capital(text: str) -> str:
    """The text with a capital first letter, otherwise unchanged; names such as vMotion keep their own."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def wait_words(hours: float) -> str:
    """A wait for a reader: minutes, hours from two hours on, days from two days on."""
    minutes = 60 * hours
    if minutes < 1:
        return "none" if minutes < 0.05 else "under 1 min"
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{written(hours, '.1f')} h" if hours < 48 else f"{number(round(hours / 24))} days"


def rough(value: float) -> str:
    """A figure that is not known closely: whole ones from 10 on, two digits below."""
    return number(round(value)) if value >= 10 else written(float(f"{value:.2g}"), "g")


def rough_range(low: float, high: float) -> str:
    """Return the range of a rough figure in words."""
    return f"{rough(low)} to {rough(high)}"


def percent(value: float) -> str:
    """A chance in per cent, with two digits; never 0 or 100 unless it is certain."""
    if value in (0, 1):
        return whole_percent(value)
    if value < 0.0001:
        return per_cent(f"under {written(0.01)} %")
    if value > 0.9999:
        return per_cent(f"over {written(99.99)} %")
    digits = 0 if 0.1 <= value <= 0.99 else 1 if 0.01 <= value < 0.1 else 2
    return per_cent(f"{written(100 * value, f'.{digits}f')} %")


def unsigned(text: str) -> str:
    """A number without its sign of per cent."""
    return text.removesuffix("%").rstrip()


def whole_percent(share: float) -> str:
    """A share in whole per cent."""
    return per_cent(f"{100 * share:.0f} %")


def share_words(share: float) -> str:
    """A part of a whole in whole per cent; a small part is never shown as nothing."""
    return per_cent("<1 %") if 0 < share < 0.005 else whole_percent(share)


def share_range(low: float, typical: float, high: float) -> str:
    """A part of a whole with its range: ``97 % (33 to 99 %)``."""
    return f"{share_words(typical)} ({unsigned(share_words(low))} to {share_words(high)})"


def kept_share(value: float) -> str:
    """The remaining share of a speed in whole per cent; 100 only if none is lost."""
    return per_cent("99 %") if 0.995 <= value < 1 else whole_percent(value)


def kept_range(low: float, high: float) -> str:
    """Return the range of a remaining share of speed in words."""
    return f"{unsigned(kept_share(low))} to {kept_share(high)}"


def three_digits(value: float) -> str:
    """A computed rate or time, to three digits."""
    return written(float(f"{value:.3g}"), "g") if value < 999.5 else number(round(value))


def two_digits(value: float) -> str:
    """A rate or a ratio, to two digits and never as a fraction."""
    return written(float(f"{value:.2g}"), ",g")


def points(value: float) -> str:
    """A share in per cent, to one place."""
    return per_cent(f"{written(value, '.1f')} %")


def stated_percent(value: float) -> str:
    """A share in per cent as stated, without rounding it to two digits: ``0.2 %``."""
    return per_cent(f"{written(100 * value, '.6g')} %")


def one_place(value: float) -> str:
    """A mean or a quantile of a count with one decimal, which suffices."""
    return written(value, ",.0f" if round(value, 1) == round(value) else ",.1f")


def seconds(value: float) -> str:
    """A wait for a first token: hundredths up to ten seconds."""
    return written(value, ".2f") if value < 10 else number(round(value))


def run_words(numbers: Iterable[int], *, dash: str = "\u2013", most: int | None = None) -> str:
    """Numbers with ascending neighbours joined: ``1\u20133, 7``; runs beyond the most allowed are only counted."""
    spans = runs(numbers)
    said = [f"{run[0]}{dash}{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in spans[:most]]
    left = sum(map(len, spans[len(said) :]))
    return ", ".join(said) + (f" and {number(left)} more" if left else "")


def runs(numbers: Iterable[int]) -> list[list[int]]:
    """Ascending numbers as runs without gaps."""
    spans: list[list[int]] = []
    for n in numbers:
        if spans and spans[-1][-1] == n - 1:
            spans[-1].append(n)
        else:
            spans.append([n])
    return spans


TEXTS: Mapping[str, str] = {
    row["key"]: row["text"] for name in ("words/report", "words/screen") for row in own_rows(name)
}
"""Key -> a text of the reports, or of the screen."""


TOLD: Mapping[str, Callable[[Any], str]] = {
    "#": number,
    "%": percent,
    "1": one_place,
    "capital": capital,
    "day": written_day,
    "hours": hours,
    "few": three_digits,
    "money": lambda value: money(value, "").strip(),
    "names": some_of,
    "points": lambda share: points(100 * share),
    "rough": rough,
    "rounded": lambda value: rounded_money(value)[0],
    "share": share_words,
    "short s": seconds,
    "stated": stated_percent,
    "wait": wait_words,
    "thousands": lambda value: number(round(value / 1000)),
    "watts": watts,
    "whole": lambda value: number(round(value)),
    "2": two_digits,
    "3": three_digits,
    "rough range": lambda ends: rough_range(ends.low, ends.high),
    "kept": kept_share,
    "short W": short_watts,
}
"""Format in a text -> the function that words a value."""


class _Teller(string.Formatter):
    """Fills values into a text, each by its `worded` format."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return worded(value, format_spec)


def worded(value: Any, spec: str) -> str:
    """A value by its format in a text.

    ``host`` is its unit, ``~carry`` the verb of a count, ``words`` the count in words, ``words host`` both, ``no host`` a count that
    may be none, ``@verdict`` a choice by its name, ``.2f`` a number in Python's format with the signs of the locale.
    """
    if not spec:
        return str(value)
    if spec in TOLD:
        return TOLD[spec](value)
    if spec[0] == "~":
        return verb(value, spec[1:])
    if spec[0] == "@":
        return NAMES[spec[1:]].get(value, str(value))
    if spec[0] in ".," or spec == "g":
        return written(value, spec)
    if spec.startswith("no "):
        return counted(value, spec[3:])
    if spec[1:5] == "ords":
        text = f"{in_words(value)} {unit_of(value, spec[6:])}".rstrip()
        return capital(text) if spec[0] == "W" else text
    return amount(value, spec)


def said(key: str, /, **values: object) -> str:
    """A text by its key in ``data/words``, ``report.csv`` or ``screen.csv``, with values filled in."""
    return told(TEXTS[key], values)


def told(text: str, values: Mapping[str, object]) -> str:
    """A text with values filled in, each by its format."""
    return _Teller().vformat(per_cent(text), (), values)
