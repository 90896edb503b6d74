"""Tables of traffic: wait times of a language model's users by replicas, by formula and by simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.analysis.llm_traffic import GroupTraffic
from gpuplan.locales import written
from gpuplan.models.llm.traffic import Answers
from gpuplan.report.table import Cell, Table, tabulate
from gpuplan.simulation.batching import Simulated
from gpuplan.simulation.jobs import Estimate
from gpuplan.wording import number, rough, said


def few_digits(value: float) -> str:
    """A rate to three digits, never as a fraction."""
    return written(value, ".3g") if value < 1000 else number(round(value))


class Row(NamedTuple):
    """Wait times with a number of replicas, and their basis."""

    replicas: int
    method: str
    found: Answers | Simulated


def waits(traffic: GroupTraffic, simulated: Sequence[tuple[int, Simulated]] = ()) -> Table:
    """Tabulate waits for the first token by replicas; a simulated row follows its formula."""
    played = dict(simulated)
    formulas = dict(traffic.curve) | {traffic.replicas: traffic.planned}
    rows = [
        Row(count, method, found)
        for count, by_formula in sorted(formulas.items())
        for method, found in (("formula", by_formula), ("simulated", played.get(count)))
        if found is not None
    ]

    def replicas(row: Row) -> Cell:
        planned = said("table.waits.planned", replicas=row.replicas)
        return Cell(row.replicas, words=planned if row.replicas == traffic.replicas else None)

    return tabulate(
        "waits",
        rows,
        replicas=replicas,
        mean_s=lambda row: _seconds(row.found.mean_s),
        p50_s=lambda row: _seconds(row.found.p50_s),
        p95_s=lambda row: _seconds(row.found.p95_s),
        p99_s=lambda row: _seconds(row.found.p99_s),
        kept_share=lambda row: _value(row.found.kept_share),
        tokens_per_s=_speed,
        requests=lambda row: _rough(row.found.requests),
        heads={"kept_share": said("table.waits.kept_share", seconds=written(traffic.first_token_s, "g"))},
    )


def seconds(value: float) -> str:
    """A wait for a first token: hundredths up to ten seconds."""
    return written(value, ".2f") if value < 10 else number(round(value))


def _value(found: float | Estimate) -> float:
    return found.value if isinstance(found, Estimate) else found


def _seconds(found: float | Estimate) -> Cell:
    """A time with its interval; none where more comes than can be done."""
    value = _value(found)
    if math.isinf(value):
        return Cell(None, words=said("table.waits.keeps growing"), tone="bad")
    half = found.half_width if isinstance(found, Estimate) else None
    words = seconds(value) + (f" \u00b1 {seconds(half)}" if half else "")
    return Cell(value, words=words, low=value - half if half else None, high=value + half if half else None)


def _rough(found: float | Estimate) -> Cell:
    value = _value(found)
    return Cell(None, words="") if math.isinf(value) else Cell(value, words=rough(value))


def _speed(row: Row) -> Any:
    each = _value(row.found.token_s)
    return Cell(None, words="") if math.isinf(each) or not each else Cell(1 / each, words=rough(1 / each))
