"""Wording: how numbers, units and their words appear to a reader; names of choices are in ``data/words/names.csv``."""

import math
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from numbers import Real
from typing import Any

from gpuplan.facts import FORMS, PLURAL_RULES, own_rows
from gpuplan.locales import DAY_NAMES, SPOKEN, per_cent, written, written_day
from gpuplan.units import exact

PAGE_WIDTH: ContextVar[int] = ContextVar("page width", default=100)
"""Characters per line of text; the command line sets it to the width of the terminal."""
MOST_NAMES = 6
"""Names in one sentence; of many more the rest is counted."""

NAMES: dict[str, dict[str, str]] = {}
"""Input -> its choice -> the name of the choice for a reader."""
for _row in own_rows("words/names"):
    NAMES.setdefault(_row["of"], {})[_row["choice"]] = _row["name"]

PART = NAMES["part of the cost"]
"""English name of a part of the cost -> its name."""
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

NOUNS: Mapping[str, str] = NAMES["noun"]
"""Units that are nouns -> their forms by number."""


def basis_word(basis: str) -> str:
    """A basis in words a customer reads."""
    return BASIS_WORDS[basis]


TYPED = NAMES["typed choice"]
"""What a scenario or a line says in a word -> the same for a reader."""
ANSWERS = NAMES["answer"]
"""What no value, true and false are called."""


def number(value: Any) -> str:
    """A number as it is shown: whole numbers with the locale's thousands, fractions of a GPU as fractions, others to three places, or three digits below 0.1."""
    if value is None or isinstance(value, bool):
        return ANSWERS[str(value)]
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
    text = TYPED.get(value, value) if isinstance(value, str) else number(value)
    if unit in ("", "1") or isinstance(value, str | bool) or value is None:
        return text
    if unit == "s" and 0 < value < 1:
        text = three_digits(value)  # GPUs have fractions, seconds have decimals
    if unit == "%":
        return per_cent(f"{text} %")
    return said("wording.amount", number=text, unit=unit_of(value, unit))


def unit_of(value: Any, unit: str) -> str:
    """Return the unit beside a number, in its form for it; a text takes the plural."""
    forms = NOUNS.get(unit, unit)
    return form(forms, value if isinstance(value, Real) else 2) if FORMS.match(forms) else unit


def form(forms: str, value: Any) -> str:
    """Return the text for a number, from ``one=a host|other=# hosts``: that of the very number, or of its category in the language."""
    texts = dict(each.split("=", 1) for each in forms.split("|"))
    text = texts.get(f"{value:g}") or texts.get(category(value)) or texts["other"]
    return text.replace("#", number(value))


def category(value: Any) -> str:
    """Return the plural category of a number, as CLDR names it for the language."""
    return PLURAL_RULES[-1](value)


def bare_amount(value: Any, unit: str) -> str:
    """Return a number without its unit, which is shown elsewhere; money is rounded as usual."""
    return money(value, "").strip() if is_currency(unit) and value is not None else number(value)


def counted(count: int, word: str) -> str:
    """A count with its noun: ``1 price``, ``no prices``, ``3 prices``."""
    return amount(count, word) if count else said("wording.no", unit=unit_of(0, word))


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
    return ", ".join(names) if left < 2 else and_more(names[:MOST_NAMES], left)


def and_more(names: Sequence[str], left: int) -> str:
    """Names, and how many others there are."""
    return said("wording.and more", names=", ".join(names), left=left)


def joined(names: Sequence[str]) -> str:
    """A list of names in a sentence, ``and`` before the last."""
    if len(names) < 2:
        return "".join(names)
    return said("wording.and", names=", ".join(names[:-1]), last=names[-1])


def either(names: Sequence[str]) -> str:
    """A list of alternatives in a sentence, ``or`` before the last."""
    if len(names) < 2:
        return "".join(names)
    return said("wording.or", names=", ".join(names[:-1]), last=names[-1])


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
    shown, low, high = rounded_money(value, ends)
    text = priced(shown, currency)
    return said("wording.with range", value=text, range=spanned(low, high)) if low else text


def spanned(low: str, high: str) -> str:
    """Two ends of a range."""
    return said("wording.range", low=low, high=high)


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


SIZES = tuple((float(size), f" {letter}") for size, letter in NAMES["large amount"].items())
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
        return number(None)
    if value < 1 / 60:
        return said("wording.less", value=amount(1, "min"))
    if value < 1:
        return amount(round(value * 60), "min")
    return f"{written(value, '.1f')} h" if value < 10 else f"{number(round(value))} h"


def capital(text: str) -> str:
    """The text with a capital first letter, otherwise unchanged; names such as vMotion keep their own."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def wait_words(hours: float) -> str:
    """A wait for a reader: minutes, hours from two hours on, days from two days on."""
    minutes = 60 * hours
    if minutes < 1:
        return number(None) if minutes < 0.05 else said("wording.under", value=amount(1, "min"))
    if minutes < 120:
        return amount(round(minutes), "min")
    return f"{written(hours, '.1f')} h" if hours < 48 else amount(round(hours / 24), "day")


def rough(value: float) -> str:
    """A figure that is not known closely: whole ones from 10 on, two digits below."""
    return number(round(value)) if value >= 10 else written(float(f"{value:.2g}"), "g")


def rough_range(low: float, high: float) -> str:
    """Return the range of a rough figure in words."""
    return spanned(rough(low), rough(high))


def percent(value: float) -> str:
    """A chance in per cent, with two digits; never 0 or 100 unless it is certain."""
    if value in (0, 1):
        return whole_percent(value)
    if value < 0.0001:
        return said("wording.under", value=per_cent(f"{written(0.01)} %"))
    if value > 0.9999:
        return said("wording.over", value=per_cent(f"{written(99.99)} %"))
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
    span = spanned(unsigned(share_words(low)), share_words(high))
    return said("wording.with range", value=share_words(typical), range=span)


def kept_share(value: float) -> str:
    """The remaining share of a speed in whole per cent; 100 only if none is lost."""
    return per_cent("99 %") if 0.995 <= value < 1 else whole_percent(value)


def kept_range(low: float, high: float) -> str:
    """Return the range of a remaining share of speed in words."""
    return spanned(unsigned(kept_share(low)), kept_share(high))


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
    shown = [f"{run[0]}{dash}{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in spans[:most]]
    left = sum(map(len, spans[len(shown) :]))
    return and_more(shown, left) if left else ", ".join(shown)


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
    "unit": lambda unit: "" if unit == "1" else unit_of(1, unit),
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

    ``host`` is its unit, ``~carry`` the English verb of a count, ``words`` the count in words, ``words host`` both, ``no host`` a count
    that may be none, ``one=# host is|other=# hosts are`` the form for the count, ``@verdict`` a choice by its name, ``.2f`` a number in
    Python's format with the signs of the locale.
    """
    if not spec:
        return str(value)
    if spec in TOLD:
        return TOLD[spec](value)
    if FORMS.match(spec):
        return form(spec, value)
    if spec[0] == "~":
        return verb(value, spec[1:])
    if spec[0] == "@":
        return NAMES[spec[1:]].get(value, str(value))
    if spec[0] in ".," or spec == "g":
        return written(value, spec)
    if spec.startswith("no "):
        return counted(value, spec[3:])
    if spec[1:5] == "ords":
        text, unit = in_words(value), spec[6:]
        text = said("wording.amount", number=text, unit=unit_of(value, unit)) if unit else text
        return capital(text) if spec[0] == "W" else text
    return amount(value, spec)


def said(key: str, /, **values: object) -> str:
    """A text by its key in ``data/words``, ``report.csv`` or ``screen.csv``, with values filled in."""
    return told(TEXTS[key], values)


def told(text: str, values: Mapping[str, object]) -> str:
    """A text with values filled in, each by its format."""
    return _Teller().vformat(per_cent(text), (), values)


def week_hours(quarters: Iterable[int], most: int = 3) -> str:
    """Quarters of an hour of a week (0 is Monday, 00:00) as days and hours: ``Mon-Fri 09:00-18:00``."""
    marked = set(quarters)
    if len(marked) == 7 * 96:
        return said("wording.always")
    by_day: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for day in range(7):
        edges = [
            q
            for q in range(97)
            if (q < 96 and 96 * day + q in marked) != (q > 0 and 96 * day + q - 1 in marked)
        ]
        spans = tuple(zip(edges[::2], edges[1::2], strict=True))
        if spans:
            by_day.setdefault(spans, []).append(day)
    parts = []
    for spans, days in by_day.items():
        clock = ", ".join(f"{a // 4:02}:{a % 4 * 15:02}-{b // 4:02}:{b % 4 * 15:02}" for a, b in spans)
        parts.append(f"{_days(days)} {clock}")
    shown, left = "; ".join(parts[:most]), len(parts) - most
    return said("wording.and more times", times=shown, left=left) if left > 0 else shown


def moment(quarter: int) -> str:
    """A quarter of an hour of a week (0 is Monday, 00:00): ``Wed 15:00``."""
    day, at = divmod(quarter, 96)
    return f"{DAY_NAMES[day]} {at // 4:02}:{at % 4 * 15:02}"


def _days(days: list[int]) -> str:
    if len(days) > 2 and days == list(range(days[0], days[-1] + 1)):
        return f"{DAY_NAMES[days[0]]}-{DAY_NAMES[days[-1]]}"
    return ", ".join(DAY_NAMES[day] for day in days)
