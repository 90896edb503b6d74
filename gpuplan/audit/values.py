"""Values of a trace: times, durations, GPUs and per cents as written, parsed or rejected with the reason."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from gpuplan.scenario import MAX_GPUS

NO_VALUE = {"", "n/a", "[n/a]", "none", "unknown", "null", "nan", "[not supported]", "not supported", "-"}

UNIT_S: Mapping[str, float] = {
    "ms": 0.001,
    "s": 1,
    "sec": 1,
    "seconds": 1,
    "min": 60,
    "minutes": 60,
    "h": 3600,
    "hours": 3600,
}
"""Ending of a column's name -> its unit in seconds."""

DURATION = re.compile(r"(-?)(?:(\d{1,9})(?:-| days?,? ))?(?:(\d{1,9}):)?(\d{1,9}):(\d\d(?:\.\d+)?)")


class BadValue(Exception):
    """A value that cannot be read, with the key of the reason and the values in its text."""

    def __init__(self, key: str, value: str, **values: object) -> None:
        super().__init__(key, value)
        self.key, self.value, self.values = key, value, values


def is_missing(text: str) -> bool:
    """True if a cell says that there is no value."""
    return text.strip().lower() in NO_VALUE


def number_of(text: str) -> float:
    """Parse a number with a decimal point or comma."""
    try:
        return float(text)
    except ValueError:
        try:
            return float(text.strip().replace(",", "."))
        except ValueError:
            raise BadValue("audit.value.number", text) from None


def duration_s(text: str, unit_s: float = 1.0) -> float:
    """Return the seconds of ``90``, ``01:30``, ``00:01:30`` or ``2-00:01:30``; a plain number is in the unit given."""
    try:
        value = float(text) * unit_s
    except ValueError:
        match = DURATION.fullmatch(text.strip())
        if match is None:
            raise BadValue("audit.value.duration", text) from None
        sign, days, hours, minutes, seconds = match.groups()
        value = 86400 * int(days or 0) + 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)
        value = -value if sign else value
    if value < 0:
        raise BadValue("audit.value.negative", text)
    if not value < 1e10:
        raise BadValue("audit.value.duration", text)
    return value


def gpus_of(text: str) -> float:
    """Parse the GPUs of a job: a fraction of one, or a whole number."""
    value = number_of(text)
    if not 0 <= value <= MAX_GPUS or (value > 1 and value != int(value)):
        raise BadValue("audit.value.gpus", text, most=MAX_GPUS)
    return value


def gpus_of_milli(text: str) -> float:
    """Parse GPUs from thousandths of a GPU: a part of one, or a whole number of them."""
    value = number_of(text)
    if not 0 <= value <= 1000 * MAX_GPUS or (value > 1000 and value % 1000):
        raise BadValue("audit.value.gpu milli", text)
    return value / 1000


def tokens_of(text: str) -> float:
    """Parse the tokens of a prompt or of an answer."""
    value = number_of(text)
    if not 0 <= value <= 100_000_000 or value != int(value):
        raise BadValue("audit.value.tokens", text)
    return value


def percent_of(text: str, scale: float) -> float:
    """Parse per cent from a number with or without its sign, after ``scale``."""
    value = number_of(text.strip().removesuffix("%")) * scale
    if not 0 <= value <= 100.0001:
        raise BadValue("audit.value.percent", text, most=f"{100 / scale:g}")
    return min(value, 100.0)


class Clock:
    """Reads times; ten minutes of clock time are remembered, else a file of jobs takes nearly four times as long."""

    TIME = re.compile(
        r"(\d{4})[-/](\d\d?)[-/](\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d(?:[.,]\d+)?))?\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?",
        re.IGNORECASE,
    )
    TEN_MINUTES = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d")
    TAIL = re.compile(r"(\d):(\d\d(?:\.\d+)?)", re.ASCII)
    LATEST_S = datetime(2200, 1, 1, tzinfo=UTC).timestamp()

    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone
        self.known: dict[str, float] = {}
        self.tails: dict[str, float] = {}
        self.odd: dict[str, str] = {}
        """Ten minutes that come twice or are missing where clocks change."""
        self.counts = {"twice": 0, "missing": 0}
        self.relative = True
        """True if all times count from an unknown moment."""

    def __call__(self, text: str) -> float:
        """Return seconds since 1970, UTC."""
        base = self.known.get(text[:15])
        if base is not None:
            rest = self.tails.get(text[15:])
            if rest is None:
                rest = self._tail(text[15:])
            if rest < 600:
                return base + rest
        return self._slow(text.strip())

    def _tail(self, text: str) -> float:
        """Return the seconds after ten minutes of ``7:30``; infinite for anything else."""
        match = self.TAIL.fullmatch(text)
        rest = 60 * int(match[1]) + float(match[2]) if match and float(match[2]) < 60 else math.inf
        if len(self.tails) < 10_000:
            self.tails[text] = rest
        return rest

    def _slow(self, text: str) -> float:
        match = self.TIME.fullmatch(text)
        if match is None:
            return self._epoch(text)
        self.relative = False
        tens, rest = self._tens(match)
        if match[7]:
            return tens.replace(tzinfo=UTC).timestamp() + rest - _offset_s(match[7])
        key = text[:15]
        if (later := tens.replace(fold=1)).utcoffset() != tens.utcoffset():
            before, after = tens.utcoffset(), later.utcoffset()
            assert before is not None and after is not None
            self.odd[key] = "twice" if after < before else "missing"
        if len(self.known) > 200_000:
            self.known.clear()
        base = tens.timestamp()
        if self.TEN_MINUTES.fullmatch(key):
            self.known[key] = base
        return base + rest

    def _tens(self, match: re.Match[str]) -> tuple[datetime, float]:
        """Return ten minutes of the clock, and the seconds after their start."""
        year, month, day, hour, minute = (int(part or 0) for part in match.groups()[:5])
        seconds = float((match[6] or "0").replace(",", "."))
        try:
            tens = datetime(year, month, day, hour, minute - minute % 10, tzinfo=self.zone)
            if minute > 59 or seconds >= 61 or not 1970 <= year < 2200:
                raise ValueError
        except ValueError:
            raise BadValue("audit.value.time", match[0]) from None
        return tens, 60 * (minute % 10) + seconds

    def _epoch(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise BadValue("audit.value.time", text) from None
        if value > 1e11:
            value /= 1000
        if not 0 <= value < self.LATEST_S:
            raise BadValue("audit.value.time", text)
        self.relative = self.relative and value < 1e8
        return value

    def count(self, texts: Iterable[str]) -> None:
        """Count times read in local time that come twice or do not exist."""
        for text in texts if self.odd else ():
            kind = self.odd.get(text.strip()[:15])
            match = self.TIME.fullmatch(text.strip()) if kind else None
            if kind and match and not match[7]:
                self.counts[kind] += 1

    def notes(self) -> dict[str, object]:
        """Return key of a note on the times read -> how many it is about, or whether it applies."""
        return {
            "audit.note.twice": self.counts["twice"],
            "audit.note.skipped": self.counts["missing"],
            "audit.note.relative": self.relative,
        }


def _offset_s(text: str) -> float:
    if text[0] not in "+-":
        return 0.0
    digits = text[1:].replace(":", "").ljust(4, "0")
    return (1 if text[0] == "+" else -1) * (3600 * int(digits[:2]) + 60 * int(digits[2:]))
