"""Columns of a file from outside: content and unit by their names, however spelled, checked against their values."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from gpuplan.audit.values import DAY_S, SERIAL_DAYS, UNITS, Unit
from gpuplan.facts import own_rows

EPOCH_S = (1e9, 4.2e9)
"""Seconds since 1970 in the years 2001 to 2103: numbers of this size, in any unit, are such times."""
BEFORE = {"job", "task", "pod", "t"}
AFTER = {"time", "timestamp", "ts", "date", "datetime", "at", "epoch", "unix"}
AFTER |= {"utc", "gmt", "iso", "iso8601", "local", "anon"}
"""Words around the name of a time that do not say which time it is."""
COUNTING = {"n", "num", "number", "of", "count", "total", "usage", "llm", "gen", "ai", "token", "tok", "toks"}
COUNTING |= {"tokens", "len", "length"}
"""Words around the name of a count of tokens that do not say which tokens."""
MOST_CODES = 100
NUMBER = re.compile(r"\+?\d{0,30}[.,]?\d{1,30}(?:e[+-]?\d{1,3})?", re.IGNORECASE)
MEASURE = re.compile(r"[-+\d.,:/]+(?: [-+\d.,:]+)?")
"""Numbers, lengths of time and dates."""


class Column(NamedTuple):
    """A column as it is read."""

    place: int
    unit: Unit | None = None
    by: str = "name"
    """Origin of the unit: ``name``, ``size`` or ``order`` of values, ``end`` of jobs, ``hand``, or ``none``: assumed."""


Known = tuple[tuple[str, ...], str]
"""Known by which the column of a value is recognised, after a colon the unit by convention; and its content: ``time``,
``length`` of time, ``gpus``, ``count``, ``tokens``, ``percent`` or ``name``, if its unit or its values matter."""

COLUMNS: dict[str, dict[str, Known]] = {}
"""Format -> value -> names of its column."""
for _row in own_rows("words/trace_columns"):
    COLUMNS.setdefault(_row["format"], {})[_row["what"]] = (tuple(_row["names"].split()), _row["holds"])


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in small letters, without brackets and accents, and ``%`` and ``#`` as words.

    >>> words_of("GPU Memory (MB)"), words_of("startTime_ms"), words_of("numGPUs"), words_of("GPU.Util [%]")
    (['gpu', 'memory', 'mb'], ['start', 'time', 'ms'], ['num', 'gpus'], ['gpu', 'util', 'percent'])
    """
    plain = name.replace("\u0153", "oe").replace("\u00df", "ss")
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", plain))
    plain = plain.replace("%", " percent ").replace("#", " num ").replace("iB", "ib")
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z\u039c])|(?<=[A-Z])(?=[A-Z][a-z]{2})", " ", plain)
    small = re.sub(r"\bper[ _]cent\b", "percent", split.lower().replace("\u03bc", "u"))
    return re.findall(r"[a-z0-9]+", small)


def stem_of(name: str, holds: str) -> tuple[str, Unit | None]:
    """Return a column's name in one word without its unit and words that say nothing, and the unit."""
    words = words_of(name)
    if holds == "tokens":
        return _tokens_of(words), None
    if holds == "gpus":
        words = words[: next((n for n, word in enumerate(words) if n and word in ("per", "each")), None)]
    words, unit = _without_unit(words, UNITS.get(holds, {}))
    while holds == "time" and len(words) > 1 and words[-1] in AFTER:
        words = words[:-1]
    if holds in ("time", "length") and len(words) > 1 and words[0] in BEFORE:
        words = words[1:]
    return "".join(words[:-1]) + "_" * (len(words) > 1 and len(words[-1]) == 1) + "".join(words[-1:]), unit


def _tokens_of(words: Sequence[str]) -> str:
    """Name of a count of tokens in one word; that of a text, as a prompt is, is another name."""
    parts = [
        part
        for word in words
        for part in (word.removesuffix("tokens"), word[len(word.removesuffix("tokens")) :])
    ]
    named = "".join(part for part in parts if part not in COUNTING)
    return f"{named} tokens" if {"token", "tok", "toks", "tokens", "len", "length"} & {*parts} else named


def _without_unit(words: list[str], units: Mapping[str, Unit]) -> tuple[list[str], Unit | None]:
    """Return words without the unit that is the last of them or the end of it, and the unit; a unit alone stays."""
    *others, last = words or [""]
    if last in units:
        return (others[:-1] if others[-1:] == ["in"] else others) or words, units[last]
    glued = max((unit for unit in units if len(unit) > 1 and last.endswith(unit)), key=len, default="")
    return [*others, last.removesuffix(glued)] if glued else words, units.get(glued)


def given_column(header: Sequence[str], text: str, names: Known) -> Column | None:
    """Return the column that a user names, with its unit after a colon where its name states none or another."""
    (usual, *_), holds = names
    units = UNITS.get(holds, {})
    if text in header:
        return Column(header.index(text), stem_of(text, holds)[1] or units.get(usual.partition(":")[2]))
    name, _, word = text.rpartition(":")
    unit = units.get(word.strip().lower())
    return Column(header.index(name), unit, "hand") if unit and name in header else None


def timed(column: Column, texts: Sequence[str], holds: str) -> Column:
    """Return a column of numbers with its unit: by the size of times since 1970, else by its name, else seconds."""
    if holds not in ("time", "length"):
        return column
    numbers = [float(text.replace(",", ".")) for text in texts if NUMBER.fullmatch(text)]
    if not any(numbers):
        return column
    units, middle = UNITS["time"], median(number for number in numbers if number)
    for name in ("s", "ms", "us", "ns") if holds == "time" and column.by != "hand" else ():
        if EPOCH_S[0] <= middle * units[name].factor <= EPOCH_S[1]:
            return Column(column.place, units[name], "size")
    if holds == "time" and not column.unit and _serial(numbers):
        return Column(column.place, units["d"], "size")
    return column if column.unit else Column(column.place, units["s"], "none")


def _serial(numbers: Sequence[float]) -> bool:
    """True for moments as spreadsheets count them, in days: whole seconds, and not all of them thousandths of a day."""
    if not SERIAL_DAYS[0] <= min(numbers) <= max(numbers) < SERIAL_DAYS[1]:
        return False
    seconds, odd = ([number * of - round(number * of) for number in numbers] for of in (DAY_S, 1000))
    return max(map(abs, seconds)) < 0.05 and max(map(abs, odd)) > 1e-6


def holds_names(texts: Sequence[str], name: str) -> bool:
    """True if values are names, or few codes that come again and again; never measures, as a queue is a wait in seconds."""
    if 2 * sum(bool(MEASURE.fullmatch(text)) for text in texts) < len(texts):
        return True
    counts = Counter(texts)
    rest = sorted(counts.values())[:-1]
    codes = bool(rest) and all(text.isdecimal() for text in counts)
    return codes and len(counts) <= MOST_CODES and sum(rest) >= 2 * len(rest) and name != "queue"
