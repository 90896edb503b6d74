"""Values of a trace: times, durations, GPUs and per cents as written, parsed or rejected with the reason."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from gpuplan.facts import own_rows
from gpuplan.scenario import MAX_GPUS

NO_VALUE = {"", "nat", "n/a", "[n/a]", "none", "unknown", "null", "nan", "-"}
NO_VALUE |= {"[not supported]", "not supported"}
PARTS = {"%": 0.01, "m": 0.001}
"""Ending of a number of GPUs -> what it is of one."""
DIGITS, DASHES = frozenset("0123456789"), frozenset("-/")


class Unit(NamedTuple):
    """A unit of a column."""

    name: str
    factor: float
    """What one of it is in the unit in which values are kept: seconds, or GPUs."""
    shown: str


UNITS: dict[str, dict[str, Unit]] = {}
"""What a column holds -> word for a unit -> the unit."""
for _row in own_rows("words/trace_units"):
    _unit = Unit(_row["unit"], float(_row["factor"]), _row["shown"])
    UNITS.setdefault(_row["holds"], {}).update(dict.fromkeys(_row["names"].split(), _unit))
UNITS["length"] = UNITS["time"]

DATE = re.compile(r"(\d{4})[-/](\d\d?)[-/](\d\d?)(?!\d)|(\d\d?)\.(\d\d?)\.(\d{4})(?!\d)")
NAMED = re.compile(
    r"(?:[a-z]{3},? )?(?:(\d\d?)[ -]([a-z]{3})[a-z]*[ -]|([a-z]{3})[a-z]* +(\d\d?),? (?:(\d\d?:\S+) )?)(\d{4})(?!\d)",
    re.IGNORECASE,
)
"""Dates with the name of the month, also with the time of day before the year."""
MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
LOGGED = re.compile(r"^(\d\d?)/([A-Za-z]{3})/(\d{4}):")
"""Days as web servers log them."""
SLASHED = re.compile(r"(\d\d?)([-/])(\d\d?)\2(\d{4})(?!\d)")
"""Dates whose day and month only other values of the column tell apart."""
HALF_DAY = re.compile(r"(\d\d?)(:\d\d(?::\d\d(?:[.,]\d+)?)?) ?([ap])\.?m\.?(?![a-z])", re.IGNORECASE)
DURATION = re.compile(r"(-?)(?:(\d{1,9})(?:-| days?,? ))?(?:(\d{1,9}):)?(\d{1,9}):(\d\d(?:\.\d+)?)")
PART = re.compile(r"(\d{1,12}(?:\.\d{1,9}|,\d{1,2})?)\s*([a-z]+)")
PARTED = re.compile(r"[1-9]\d{0,2}(?:([.,' \u00a0\u202f])\d{3})(?:\1\d{3})*")
AMOUNT = re.compile(r"(\d(?:[\d.,' \u00a0\u202f]{0,30}\d)?)\s*([a-z]*)", re.IGNORECASE)
PLAIN = re.compile(r"\d{1,15}(?:[.,]\d{1,6})?")
THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
"""Commas in a number that divide thousands, where they are no decimal commas."""
SERIAL_DAYS = (36_526.0, 73_051.0)
"""Days since the end of 1899, as spreadsheets count them, in the years 2000 to 2099."""
DAY_S, SERIAL_OF_1970 = 86_400.0, 25_569


class BadValue(Exception):
    """A value that cannot be read, with the key of the reason and the values in its text."""

    def __init__(self, key: str, value: str, **values: object) -> None:
        super().__init__(key, value)
        self.key, self.value, self.values = key, value, values


def is_missing(text: str) -> bool:
    """True if a cell says that there is no value."""
    return text.strip().lower() in NO_VALUE


def missing_of(texts: Iterable[str]) -> np.ndarray:
    """Return which cells say that there is no value."""
    return np.array([text[:1] not in DIGITS and is_missing(text) for text in texts], dtype=bool)


def number_of(text: str) -> float:
    """Parse a number with a decimal point or comma."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise BadValue("audit.value.number", text) from None


def amount_of(text: str, units: Mapping[str, Unit]) -> tuple[float, Unit | None]:
    """Parse a number, with thousands parted or not, and the unit after it, if there is one."""
    match = AMOUNT.fullmatch(text.strip())
    number, word = match.groups() if match else ("", "")
    parted = PARTED.fullmatch(number)
    if not (parted or PLAIN.fullmatch(number)) or (word and word.lower() not in units):
        raise BadValue("audit.value.number", text)
    return float(re.sub(r"\D", "", number) if parted else number.replace(",", ".")), units.get(word.lower())


def duration_s(text: str, unit_s: float = 1.0) -> float:
    """Return the seconds of ``90``, ``01:30``, ``00:01:30`` or ``2-00:01:30``; a plain number is in the unit given.

    Two parts are minutes and seconds, in a column of hours hours and minutes.
    """
    try:
        value = float(text) * unit_s
    except ValueError:
        match = DURATION.fullmatch(text.strip())
        if match is None:
            value = _with_units_s(text, unit_s)
        else:
            sign, days, hours, minutes, seconds = match.groups()
            if unit_s == 3600 and not hours:
                hours, minutes, seconds = minutes, seconds, "0"
            value = 86400 * int(days or 0) + 3600 * int(hours or 0) + 60 * float(minutes) + float(seconds)
            value = -value if sign else value
    if value < 0:
        raise BadValue("audit.value.negative", text)
    if not value < 1e10:
        raise BadValue("audit.value.duration", text)
    return value


def _with_units_s(text: str, unit_s: float) -> float:
    """Return the seconds of ``2h30m``, ``90 s``, ``PT1H`` or ``1,5``."""
    plain, units = re.sub(r"^p|t(?=\d)|\(s\)", "", text.strip().lower()), UNITS["time"]
    parts = PART.findall(plain)
    if parts and not PART.sub("", plain).strip(" ,") and all(word in units for _, word in parts):
        return sum(number_of(value) * units[word].factor for value, word in parts)
    try:
        return number_of(text) * unit_s
    except BadValue:
        raise BadValue("audit.value.duration", text) from None


def gpus_of(text: str, factor: float = 1.0) -> float:
    """Parse the GPUs of a job in a unit of ``factor`` GPUs: a fraction of one, or a whole number; also ``50%`` of one."""
    try:
        value = float(text) * factor
    except ValueError:
        plain = text.strip()
        value = number_of(plain.rstrip("%m")) * PARTS.get(plain[-1:], factor)
    value = round(value, 9) if value % 1 else value
    if not 0 <= value <= MAX_GPUS or (value > 1 and value != int(value)):
        raise BadValue("audit.value.gpus", text, most=MAX_GPUS)
    return value


def count_of(text: str) -> float:
    """Parse a whole number, of tokens or of nodes."""
    value = number_of(text.replace(",", "") if THOUSANDS.fullmatch(text) else text)
    if not 0 <= value <= 100_000_000 or value != int(value):
        raise BadValue("audit.value.count", text)
    return value


def percent_of(text: str, scale: float) -> float:
    """Parse per cent from a number with or without its sign, after ``scale``."""
    value = number_of(text.strip().removesuffix("%")) * scale
    if not 0 <= value <= 100.0001:
        raise BadValue("audit.value.percent", text, most=f"{100 / scale:g}")
    return min(value, 100.0)


class Clock:
    """Reads times; ten minutes of clock time are remembered, else a file of jobs takes several times as long."""

    LATEST_S = datetime(2200, 1, 1, tzinfo=UTC).timestamp()
    BEGIN = datetime(1970, 1, 1)

    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone
        self.known: dict[str, float] = {}
        """Ten minutes by the clock -> seconds since 1970."""
        self.tails: dict[str, float] = {}
        self.odd: dict[str, str] = {}
        """Ten minutes that come twice or are missing where clocks change."""
        self.counts = {"twice": 0, "missing": 0}
        self.relative = True
        """True if all times count from an unknown moment."""

    def __call__(self, text: str, unit_s: float = 1.0) -> float:
        """Return seconds since 1970, UTC; a number is in the unit given, and in a smaller one if it is too large.

        Days are those of a spreadsheet where they would else be later than 2069.
        """
        base, rest = self.known.get(text[:15]), self.tails.get(text[15:])
        if base is not None and rest is not None:
            return base + rest
        if text[4:5] in DASHES:
            try:
                return self._utc(datetime.fromisoformat(text.replace("/", "-")), text)
            except ValueError:
                pass
        try:
            value = number_of(text) * unit_s
        except BadValue:
            iso = _iso(text)
            try:
                return self._utc(datetime.fromisoformat(iso), iso)
            except ValueError:
                raise BadValue("audit.value.time", text) from None
        if unit_s == DAY_S and value >= SERIAL_DAYS[0] * DAY_S:
            value = round(value - SERIAL_OF_1970 * DAY_S, 3)
        for _ in range(3):
            value /= 1000 if value > 1e11 else 1
        if not 0 <= value < self.LATEST_S:
            raise BadValue("audit.value.time", text)
        self.relative = self.relative and value < 1e8
        return value

    def _utc(self, moment: datetime, text: str) -> float:
        if not 1970 <= moment.year < 2200:
            raise ValueError
        self.relative = False
        if moment.tzinfo:
            return moment.timestamp()
        tens = moment.replace(minute=moment.minute // 10 * 10, second=0, microsecond=0)
        there = tens.replace(tzinfo=self.zone)
        before, after = there.utcoffset(), there.replace(fold=1).utcoffset()
        assert before is not None and after is not None
        if before != after:
            self.odd[text[:15]] = "twice" if after < before else "missing"
        base, rest = (tens - self.BEGIN - before).total_seconds(), (moment - tens).total_seconds()
        if len(self.known) > 200_000 or len(self.tails) > 10_000:
            self.known, self.tails = {}, {}
        if text[13:14] == ":" and len(text) > 15:
            self.known[text[:15]], self.tails[text[15:]] = base, rest
        return base + rest

    def count(self, texts: Iterable[str]) -> None:
        """Count times read in local time that come twice or do not exist."""
        for text in texts if self.odd else ():
            if text[:15] in self.odd and not datetime.fromisoformat(_iso(text)).tzinfo:
                self.counts[self.odd[text[:15]]] += 1

    def notes(self) -> dict[str, object]:
        """Return key of a note on the times read -> how many it is about, or whether it applies."""
        return {
            "audit.note.twice": self.counts["twice"],
            "audit.note.skipped": self.counts["missing"],
            "audit.note.relative": self.relative,
        }


def turned(text: str, *, day_first: bool) -> str:
    """Return a time with its year first, where day and month can be what they are said to be."""
    day, blank, clock = text.strip().partition(" ")
    return _turned(day, day_first) + blank + clock


@lru_cache(maxsize=10_000)  # else the days of a log are turned again and again: half a second of 300,000 jobs
def _turned(date: str, day_first: bool) -> str:
    match = SLASHED.match(date)
    if match is None:
        return date
    day, month = (match[1], match[3]) if day_first else (match[3], match[1])
    return f"{match[4]}-{month:0>2}-{day:0>2}{date[match.end() :]}" if int(month) <= 12 else date


def _iso(text: str) -> str:
    """Return a time in the form of ISO 8601: also ``2024/5/1 9:00 UTC``, ``01.05.2024``, ``01/May/2024:09:00`` or ``May 1, 2024 9:00 AM``."""
    text = LOGGED.sub(r"\1 \2 \3 ", text.strip())
    clock = ""
    if match := DATE.match(text):
        year, month, day = match.groups()[:3] if match[1] else match.groups()[:2:-1]
    elif match := NAMED.match(text):
        clock, year, day = match[5] or "", match[6], match[1] or match[4]
        month = str(MONTHS.find((match[2] or match[3]).lower()) // 3 + 1)
    else:
        return text
    clock = f" {clock}" * bool(clock) + text[match.end() :].removeprefix(",")
    clock = HALF_DAY.sub(lambda of: f"{int(of[1]) % 12 + 12 * (of[3] in 'pP')}{of[2]}", clock)
    clock = re.sub(r"\s*(?:UTC|GMT|Z)$", "+00:00", clock, flags=re.IGNORECASE)
    clock = re.sub(r"\s+(?=[+-]\d)", "", clock)
    return f"{year}-{month:0>2}-{day:0>2}" + re.sub(r"^([ T])(\d:)", r"\g<1>0\2", clock)
