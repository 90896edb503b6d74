"""A record of a result file, whose errors name file and field, and what is read from it."""

import datetime
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpuplan.analysis.llm_runs import Run
from gpuplan.catalog import CatalogError
from gpuplan.facts import own_rows
from gpuplan.scenario import one_line, show
from gpuplan.wording import said

MOST = 1e19
"""Largest number that a result may hold; more is a mistake."""
MOST_TEXT = 200
DEEPEST = 8
"""Levels of a file at which a setting is looked for."""
NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?([eE][+-]?\d{1,3})?")
EMPTY = ("", "none", "null", "n/a", "nan", "-", "inf", "infinity")
"""Texts that tools write where they have no figure, or no limit."""
MOMENTS = ("startTime", "endTime", "completionStartTime")
FIELDS: dict[str, dict[str, list[tuple[tuple[str, ...], float]]]] = {}
"""Tool -> figure -> the fields that may hold it, each with the factor to its unit; ``sign``: fields by which it is known."""
for _row in own_rows("words/benchmark_fields"):
    _names = (tuple(_row["fields"].split("; ")), float(_row["times"] or 1))
    FIELDS.setdefault(_row["tool"], {}).setdefault(_row["figure"], []).append(_names)


@dataclass(frozen=True, slots=True)
class Result:
    """A run as a tool or a log reports it."""

    run: Run
    tool: str
    """Key in ``names.csv`` (``benchmark tool``)."""
    file: str
    group: str = ""
    """Group of the design for which it was run, where file or folder name it."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What else it says: percentiles [ms], requests per second, share of the prompts that a cache would hold."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a file; a field is named by its path, such as ``metrics.ttft.mean``, or ``*.name`` at any level."""

    file: str
    data: Mapping[str, Any]
    line: int | None = None
    at: str = ""

    def error(self, name: str, key: str, **words: object) -> CatalogError:
        path = one_line(f"{self.at}.{name}".strip("."))[:MOST_TEXT]
        about = said("bench.field", path=path) + said(key, **words)
        return CatalogError(about, file=self.file, row=self.line)

    def value(self, name: str) -> Any:
        if name in self.data:
            return self.data[name]
        first, _, rest = name.partition(".")
        if first == "*":
            return _anywhere(self.data, rest, DEEPEST)
        inner = self.data.get(first)
        return replace(self, data=inner).value(rest) if rest and isinstance(inner, Mapping) else None

    def number(self, *names: str, times: float = 1.0) -> float | None:
        """Return the first of some fields that holds a number, times a factor; None where none does."""
        figures = (self._number(name, self.value(name)) for name in names)
        return next((figure * times for figure in figures if figure is not None), None)

    def _number(self, name: str, value: Any) -> float | None:
        if value is None or (isinstance(value, str) and value.strip().lower() in EMPTY):
            return None
        if isinstance(value, str) and NUMBER.fullmatch(value.strip()) and re.search(r"\d", value):
            value = float(value.replace(",", ""))
        elif isinstance(value, str) and name in MOMENTS:
            value = self._moment(name, value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(name, "bench.no number", value=show(value))
        if not 0 <= value <= MOST or not math.isfinite(value):
            raise self.error(name, "bench.out of range", value=show(value))
        return float(value)

    def _moment(self, name: str, value: str) -> float:
        """Return a moment in seconds; without an offset it is UTC."""
        try:
            moment = datetime.datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
        except (ValueError, OverflowError):
            raise self.error(name, "bench.no moment", value=show(value)) from None

    def need(self, *names: str, times: float = 1.0) -> float:
        if not (value := self.number(*names, times=times)):
            raise self.error(names[0], "bench.needed")
        return value

    def text(self, *names: str) -> str:
        values = (value[0] if isinstance(value := self.value(n), list) and value else value for n in names)
        return next((v.strip()[:MOST_TEXT] for v in values if isinstance(v, str) and v.strip()), "")

    def flag(self, name: str) -> bool:
        return str(self.value(name)).strip().lower() in ("true", "1", "yes")

    def part(self, name: str) -> "Record":
        if not isinstance(value := self.value(name), Mapping):
            raise self.error(name, "bench.no object")
        return replace(self, data=value, at=f"{self.at}.{name}".strip("."))

    def listed(self, name: str) -> "Iterator[Record]":
        if not isinstance(values := self.value(name), list):
            raise self.error(name, "bench.no list")
        for at, value in enumerate(values):
            yield replace(self, data={f"{name}[{at}]": value}).part(f"{name}[{at}]")

    def figure(self, tool: str, name: str) -> float | None:
        values = (self.number(*names, times=times) for names, times in FIELDS[tool].get(name, ()))
        return next((value for value in values if value is not None), None)

    def words(self, tool: str, name: str) -> str:
        return self.text(*(each for names, _ in FIELDS[tool].get(name, ()) for each in names))

    def known(self, tool: str) -> bool:
        """Return True if the object has the fields by which a tool is known; ``name[]`` is a list."""
        return any(all(map(self._is_there, names)) for names, _ in FIELDS[tool]["sign"])

    def _is_there(self, name: str) -> bool:
        value = self.value(name.removesuffix("[]"))
        return isinstance(value, list) if name.endswith("[]") else value is not None


def _anywhere(data: Any, name: str, levels: int) -> Any:
    """Return the first value with a name at any level: tools move settings between versions."""
    if not levels or not isinstance(data, Mapping | list):
        return None
    if isinstance(data, Mapping) and not isinstance(data.get(name), Mapping | None):
        return data[name]
    inner = data.values() if isinstance(data, Mapping) else data
    return next((v for each in inner if (v := _anywhere(each, name, levels - 1)) is not None), None)
