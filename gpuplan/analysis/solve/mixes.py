"""Mixes: two kinds of hosts, some workloads on hosts of their own, tried while their bound is better than the best."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplan.analysis.solve.bounds import Bound, Demands, Units, bare, hosts_for, least_with, objective_of
from gpuplan.analysis.solve.designs import Design, as_asked
from gpuplan.analysis.solve.search import ROUND, Search
from gpuplan.analysis.solve.trial import BOUNDED, Question, least_planned, with_terms
from gpuplan.analysis.variants import outcome
from gpuplan.catalog import Catalog

FEW = 2
"""Hosts with which servers are compared."""


class Slot(NamedTuple):
    """Some workloads on hosts of one kind."""

    question: Question
    groups: tuple[str, ...]
    designs: tuple[Design, ...]
    steps: int
    units: Units
    planned: bool
    """True if each is planned, which tells more and takes longer than to count its hosts."""


class Least(NamedTuple):
    """The least that some workloads take on hosts of a kind."""

    design: Design
    limits: tuple[float, ...]
    """In the order of ``BOUNDED``."""
    figure: float
    """Of the figure that is to be small."""


def least_of_slot(catalog: Catalog, slot: Slot) -> list[Least]:
    """Return the least of each kind of hosts with one board: by their number, or planned for these workloads alone."""
    question, wanted = slot.question, slot.question.quantity.at(slot.question.scenario, slot.steps)
    alone = wanted.with_groups([group for group in wanted.groups if group.id in slot.groups])
    demands, found = Demands(alone, catalog, slot.designs), []
    for design in slot.designs:
        if (unit := slot.units[bare(design.hosts)]) is None:
            continue
        hosts: tuple[float, ...] = hosts_for(demands.of(alone), design.hosts)
        least = least_with(unit, hosts)
        if math.inf in hosts:
            continue
        if slot.planned:
            plan = outcome(design.apply(alone, catalog), catalog, check=False).plan
            if plan is None or plan.totals.unplaced_vms or not plan.pools:
                continue
            hosts, least = (plan.totals.hosts,), least_planned(with_terms(plan, question.space))
        limits = tuple(least.get(key, 0.0) for key in BOUNDED)
        found.append(Least(design, limits, objective_of(question.quantity.figure, hosts[0], least)))
    return found


def try_mixes(search: Search, kinds: Sequence[Design]) -> None:
    """Try pairs of hosts for each way to part the workloads, the most promising first, while there is time."""
    for apart in search.question.space.mixes:
        pairs = _pairs(search, kinds, apart)
        while pairs and not search.late:
            now, pairs = pairs[: ROUND * search.engine.workers], pairs[ROUND * search.engine.workers :]
            before = search.best
            search.of += len(now)
            search.try_each(now)
            if search.best is not before:
                pairs = _pairs(search, kinds, apart)
        if pairs or search.late:
            return
        search.mixes_left -= 1


def _next(search: Search) -> int:
    """Return the amount at which a pair is better than the best."""
    quantity = search.question.quantity
    if not search.most:
        return quantity.asked
    return search.best.steps + 1 if search.best else quantity.low


def _pairs(search: Search, kinds: Sequence[Design], apart: tuple[str, ...]) -> list[Bound]:
    """Return the pairs of hosts not yet tried that may be better than the best, the cheapest first; all that there is time for."""
    steps = _next(search)
    question = search.question
    if steps > question.quantity.high:
        return []
    rest = tuple(group.id for group in question.scenario.groups if group.id not in apart)
    kinds_of = [tuple(kinds), tuple(kinds)]
    for planned in (False, True):
        if search.late:
            return []
        tables = [
            _table(search, kinds_of[at], groups, steps, planned=planned)
            for at, groups in enumerate((rest, apart))
        ]
        figures, able = _able(search, *tables)
        left = [np.nonzero(able.any(axis=1 - at))[0] for at in (0, 1)]
        kinds_of = [tuple(tables[at][n].design for n in left[at]) for at in (0, 1)]
    one, two = tables
    term = as_asked(question.scenario).term
    order = sorted(zip(*np.nonzero(able), strict=True), key=lambda pair: (figures[pair], pair))
    found = []
    for n, m in order:
        hosts, other = one[n].design.hosts, two[m].design.hosts
        if (hosts.gpu, hosts.server, hosts.gpus_per_host) != (other.gpu, other.server, other.gpus_per_host):
            design = Design(hosts, term, other, apart)
            if design not in search.missed and design not in search.found:
                found.append(Bound(design, question.quantity.high, float(figures[n, m])))
    return found


def _able(search: Search, one: Sequence[Least], two: Sequence[Least]) -> tuple[Any, Any]:
    """Return the figure that is to be small of each pair, and whether the pair may be within the limits and better."""
    if not one or not two:
        return np.zeros((len(one), len(two))), np.zeros((len(one), len(two)), dtype=bool)
    limits = [getattr(search.question.scenario.limits, key) for key in BOUNDED]
    most = np.array([np.inf if limit is None else float(limit) for limit in limits])
    both = np.array([each.limits for each in one])[:, None] + np.array([each.limits for each in two])[None]
    figures = np.array([each.figure for each in one])[:, None] + np.array([each.figure for each in two])[None]
    able = (both <= most + 1e-9).all(axis=2)
    if not search.most and search.best:
        able &= figures < search.best.value
    return figures, able


def _table(
    search: Search, kinds: Sequence[Design], groups: tuple[str, ...], steps: int, *, planned: bool
) -> list[Least]:
    boards = dict.fromkeys(design.hosts.gpu for design in kinds)
    slots = [
        Slot(
            search.question,
            groups,
            tuple(d for d in kinds if d.hosts.gpu == gpu),
            steps,
            search.units_of(kinds),
            planned,
        )
        for gpu in boards
    ]
    return [each for part in search.engine.each(least_of_slot, slots) for table in part for each in table]


def cheapest_servers(search: Search, designs: Sequence[Design]) -> list[Design]:
    """Return the hosts that mixes have: of each board and number of GPUs those that cost least without workloads."""
    least: dict[tuple[str, int], tuple[float, Design]] = {}
    for design in designs if search.question.space.mixes else ():
        hosts = design.hosts
        if hosts.sharing == "as asked" and not design.kinds and (unit := search.units.get(bare(hosts))):
            paid, kind = least_with(unit, (FEW,))["budget"], (hosts.gpu, hosts.gpus_per_host)
            if kind not in least or paid < least[kind][0]:
                least[kind] = (paid, design)
    return [design for _, design in least.values()]
