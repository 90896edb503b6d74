"""Clash: why no design is within all limits, by the fewest of them, and the least relaxation of each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpuplan.analysis.solve.designs import designs_of, space_of
from gpuplan.analysis.solve.search import Search
from gpuplan.analysis.solve.solution import Binding, Clash
from gpuplan.analysis.solve.trial import measured
from gpuplan.plan.limits import Within


def clash_of(search: Search) -> Clash:
    """Return the fewest limits that no design keeps together; every design is measured by all of them, whatever it exceeds."""
    question = search.question
    steps = question.quantity.low if question.quantity.most else question.quantity.asked
    limits, space = question.scenario.limits, question.space
    if limits.boards or limits.vendors:  # all others are measured too: the lists may be what clashes
        free = replace(question.scenario, limits=replace(limits, boards=None, vendors=None))
        space = space_of(free, search.engine.catalog)
    designs = designs_of(question.scenario, search.engine.catalog, space)
    rows: list[Sequence[Within]] = []
    reasons: Counter[str] = Counter()
    for part in search.engine.each(measured, [(question, design, steps) for design in designs]):
        for found in part:
            rows += found.within
            if found.reason:
                reasons[found.reason] += 1
    return Clash(steps, _fewest(rows), tuple(_relaxed(rows)), tuple(reasons.most_common()))


def _over(within: Sequence[Within]) -> frozenset[str]:
    return frozenset(each.key for each in within if each.met is False)


def _fewest(rows: Sequence[Sequence[Within]]) -> tuple[str, ...]:
    """Return the fewest limits of which every design exceeds one."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # imported here: most answers have no clash

    sets = {_over(within) for within in rows} - {frozenset()}
    keys = sorted({key for each in sets for key in each})
    if not keys:
        return ()
    hit = np.array([[key in each for key in keys] for each in sets], dtype=float)
    result: Any = milp(
        np.ones(len(keys)),
        constraints=LinearConstraint(hit, lb=1),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(keys)),
    )
    return tuple(key for key, taken in zip(keys, result.x, strict=True) if taken > 0.5)


def _relaxed(rows: Sequence[Sequence[Within]]) -> list[Binding]:
    """Return of each limit the least that a design takes that keeps all others."""
    least: dict[str, Within] = {}
    for within in rows:
        over = _over(within)
        if len(over) != 1:
            continue
        each = next(each for each in within if each.key in over)
        if each.key not in least or _value(each) < _value(least[each.key]):
            least[each.key] = each
    return [
        Binding(each.key, each.name, each.limit, each.value, _value(each), each.unit)
        for each in least.values()
    ]


def _value(each: Within) -> float:
    return float(each.value) if isinstance(each.value, int | float) else 0.0
