"""The working week: active users by hours and time zones, and the mixes of groups that are active together."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from gpuplan.catalog import SEASONS, Catalog, offset_min, zone_of
from gpuplan.facts import Brief, Fact
from gpuplan.models.demand import working_hours
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.llm import TUNING
from gpuplan.plan.requests import held_gpus
from gpuplan.scenario import Group, Scenario, hours_length_h, hours_min, sites_people
from gpuplan.units import exact


class Ask(NamedTuple):
    """Demand of one group at one time of the week. A request is all VMs that one person runs at once."""

    group: str
    gpus: float
    """GPUs that one request takes."""
    people: tuple[int, ...]
    """A closed group: people with the chances of ``chances`` to be active. Empty for a stated number of jobs."""
    chances: tuple[float, ...]
    load: float
    """Mean requests under way at once."""
    spread: float
    """Standard deviation of the requests under way."""
    most: int
    work_h: float


@dataclass(frozen=True)
class Mix:
    """Groups that are active together, and the quarters of an hour of the week, UTC, in which they are."""

    asks: tuple[Ask, ...]
    season: str
    quarters: tuple[int, ...]

    @property
    def gpus(self) -> float:
        """Mean GPUs needed at once."""
        return sum(ask.load * ask.gpus for ask in self.asks)


@dataclass(frozen=True, eq=False, repr=False)
class Week(Brief):
    """Working week of a group: its people by site, and the quarters of an hour in which each site is on duty.

    Equal groups share one, see ``weeks``.
    """

    group: Group
    gpus: float
    """GPUs that one request takes."""
    people: tuple[int, ...]
    on: np.ndarray
    """Sites x 672 quarters of an hour, UTC."""
    work_h: float

    @property
    def closed(self) -> bool:
        """True if it is a known number of people, and not a number of jobs."""
        return self.group.jobs_per_day is None

    @cached_property
    def rates(self) -> np.ndarray:
        """Jobs begun in an hour, for each quarter of an hour, for a group that states its jobs per day."""
        off_share = self.group.off_hours_share or 0.0
        length_h = hours_length_h(self.group.hours)
        rate = working_hours.work_rate(
            self.group.jobs_per_day or 0.0, hours_per_day=length_h + off_share * (24 - length_h)
        )
        parts = np.array(self.people if any(self.people) else [1] * len(self.people), dtype=float)
        return np.asarray(rate * (parts / parts.sum()) @ np.where(self.on, 1.0, off_share))

    @cached_property
    def loads(self) -> np.ndarray:
        """Mean requests under way at once, for each quarter of an hour."""
        if not self.closed:
            alike = self.group.use_case == TUNING  # the tokens of a job say how long it takes
            return working_hours.jobs_underway(self.rates.tolist(), duration_h=self.work_h, alike=alike)
        off_share = self.group.off_hours_share or 0.0
        return np.asarray(np.array(self.people) @ np.where(self.on, self.group.active_share, off_share))

    def ask(self, quarters: Sequence[int]) -> Ask:
        """Return the highest demand of the group in some quarters of an hour in which the same sites are on duty."""
        if self.closed:
            return self._asks[self._on_duty[quarters[0]]]
        load = max(map(self._loads.__getitem__, quarters))
        most = math.ceil(load + 12 * math.sqrt(load) + 12) if load else 0
        return Ask(self.group.id, self.gpus, (), (), load, math.sqrt(load), most, self.work_h)

    @cached_property
    def _loads(self) -> list[float]:
        """``loads`` as plain numbers, with faded ones as 0: they are read one quarter of an hour after the other."""
        least = LEAST_LEFT * float(self.loads.max())
        return [0.0 if load < least else load for load in self.loads.tolist()]

    @cached_property
    def _on_duty(self) -> list[int]:
        return [int(here) for here in np.array(self.people) @ self.on]

    @cached_property
    def _asks(self) -> dict[int, Ask]:
        """Demand by the number of people on duty, with those who work outside their hours."""
        return {here: self._asked(here) for here in set(self._on_duty)}

    def _asked(self, here: int) -> Ask:
        counts = [
            (here, self.group.active_share),
            (sum(self.people) - here, self.group.off_hours_share or 0.0),
        ]
        active = [(n, p) for n, p in counts if n and p]
        return Ask(
            self.group.id,
            self.gpus,
            tuple(n for n, _ in active),
            tuple(p for _, p in active),
            sum(n * p for n, p in active),
            math.sqrt(sum(n * p * (1 - p) for n, p in active)),
            sum(n for n, _ in active),
            self.work_h,
        )


LEAST_LEFT = 0.01
"""Work that fades after its hours counts until this share of its peak is left."""


def weeks(
    scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan] = ()
) -> dict[str, dict[str, Week]]:
    """Season -> group -> its working week; ``groups`` say how many GPUs a VM occupies, else it is its request."""
    plans = {plan.id: plan for plan in groups}
    by_season: dict[str, dict[str, Week]] = {season: {} for season, _ in SEASONS}
    for group in scenario.groups:
        plan = plans.get(group.id)
        per_vm = held_gpus(scenario, catalog, group, plan) if plan else float(group.gpus_each)
        gpus = float(group.vms_each * exact(per_vm))
        work_h = float(work_fact(scenario, catalog, group).value)
        for season, week in _seasons(group, gpus, work_h, catalog).items():
            by_season[season][group.id] = week
    return by_season


def work_fact(scenario: Scenario, catalog: Catalog, group: Group) -> Fact:
    """Return the job duration of a group: stated, or the catalog's planning value."""
    if group.work_h is None:
        return catalog.assumptions["duration-of-work"].fact("work_h")
    return scenario.fact(f"groups.{group.id}.work_h")


def _seasons(group: Group, gpus: float, work_h: float, catalog: Catalog) -> dict[str, Week]:
    zones = [zone_of(name, catalog) for name, _ in sites_people(group.sites)]
    return {
        season: _week(group, gpus, tuple(offset_min(zone, monday) for zone in zones), work_h)
        for season, monday in SEASONS
    }


@lru_cache(maxsize=1024)  # without it a plan takes an eighth longer
def _week(group: Group, gpus: float, offsets: tuple[int, ...], work_h: float) -> Week:
    """Return the working week of a group; the same object for the same group, to compute its results once."""
    hours, days = hours_min(group.hours), group.days or "every-day"
    on = np.array([working_hours.on_duty(*hours, days=days, offset_min=offset) for offset in offsets])
    on.flags.writeable = False
    parts = [part for _, part in sites_people(group.sites)]
    return Week(group, gpus, working_hours.people_at_sites(group.people, parts), on, work_h)


def peak_jobs(scenario: Scenario, catalog: Catalog, group: Group) -> int:
    """Jobs of a group under way on average when most are, rounded up."""
    alone = weeks(replace(scenario, groups=(group,)), catalog)
    peak = max(float(groups[group.id].loads.max()) for groups in alone.values())
    return math.ceil(peak - 1e-9)


MOST_MIXES = 40
"""Most mixes that are kept: those with the highest GPU demand."""


PIECE = 8
"""Quarters of an hour for which work that builds up or fades counts at its peak."""


def mixes(by_season: Mapping[str, Mapping[str, Week]], members: Sequence[str]) -> tuple[Mix, ...]:
    """The different mixes of a week, the largest first, without mixes that another one covers."""
    if not members:
        return ()
    return _mixes(tuple((season, tuple(groups[m] for m in members)) for season, groups in by_season.items()))


@lru_cache(maxsize=512)  # candidates have the same weeks: without it `explore` takes a sixth longer
def _mixes(by_season: tuple[tuple[str, tuple[Week, ...]], ...]) -> tuple[Mix, ...]:
    ordered = sorted(_different(by_season), key=lambda mix: (-mix.gpus, mix.season, mix.quarters))
    wants = np.array([[(ask.load, ask.most) for ask in mix.asks] for mix in ordered])
    kept: list[int] = []
    for at in range(len(ordered)):
        if len(kept) < MOST_MIXES and not (wants[kept] >= wants[at]).all(axis=(1, 2)).any():
            kept.append(at)
    return tuple(ordered[at] for at in kept)


def _different(by_season: tuple[tuple[str, tuple[Week, ...]], ...]) -> list[Mix]:
    by_asks: dict[tuple[Ask, ...], Mix] = {}
    seen: list[np.ndarray] = []
    for season, groups in by_season:
        bits = np.concatenate([week.on for week in groups])
        if any(np.array_equal(bits, other) for other in seen):
            continue
        seen.append(bits)
        fading = any(not week.closed and not week.on.all() for week in groups)
        for quarters in _pieces(bits) if fading else _alike(bits):
            asks = tuple(week.ask(quarters) for week in groups)
            by_asks.setdefault(asks, Mix(asks, season, quarters))
    return list(by_asks.values())


def _alike(bits: np.ndarray) -> list[tuple[int, ...]]:
    """The quarters of an hour in which the same sites are on duty, grouped."""
    if bits.all():
        return [tuple(range(working_hours.QUARTERS_PER_WEEK))]
    where = np.unique(bits, axis=1, return_inverse=True)[1].ravel()
    return [tuple(np.flatnonzero(where == number).tolist()) for number in range(int(where.max()) + 1)]


def _pieces(bits: np.ndarray) -> list[tuple[int, ...]]:
    """Short spans of the week in which the same sites are on duty."""
    changes = np.flatnonzero((bits != np.roll(bits, 1, axis=1)).any(axis=0)).tolist()
    edges = sorted({0, working_hours.QUARTERS_PER_WEEK, *changes})
    return [
        tuple(range(at, min(at + PIECE, end)))
        for begin, end in itertools.pairwise(edges)
        for at in range(begin, end, PIECE)
    ]
