"""The sizing rule: the GPUs that a mix of groups needs, by the assumption about arrivals of requests."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gpuplan.catalog import SEASONS, Catalog
from gpuplan.facts import Fact
from gpuplan.models import demand
from gpuplan.models.demand import closed_groups, queueing
from gpuplan.plan.working_week import Ask, Mix, weeks
from gpuplan.scenario import MAX_VMS, Scenario
from gpuplan.units import exact
from gpuplan.wording import NAMES, told

FUNCTIONS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("closed", "wait"): closed_groups.closed_wait_chance,
    ("closed", "wait-time"): closed_groups.closed_wait_longer_chance,
    ("closed", "denied"): closed_groups.closed_blocking,
    ("poisson", "wait"): queueing.hayward_c,
    ("poisson", "denied"): queueing.kaufman_roberts,
    ("poisson", "wait-time"): queueing.hayward_wait_longer_chance,
    ("bursty", "wait"): queueing.hayward_c,
    ("bursty", "denied"): queueing.hayward_b,
    ("bursty", "wait-time"): queueing.hayward_wait_longer_chance,
}
"""(method, rule) -> the model function that gives the chance."""

MOST_PARTS = 128
"""Most parts into which a GPU is divided; shares that need finer ones are rounded up."""
MOST_UNITS = 5_000_000
"""Parts of all GPUs together: of tens of thousands of GPUs each is counted in fewer parts."""


def burst_fact(catalog: Catalog) -> Fact:
    """Return the ratio of the peakedness of real demand to the peakedness of independent arrivals."""
    return catalog.assumptions["bursts"].fact("burst_factor")


def target_fact(scenario: Scenario) -> Fact:
    """Return the chance that a rule by risk allows, in per cent."""
    chance = scenario.fact("demand.chance")
    return replace(chance, value=float(100 * exact(scenario.demand.chance)), unit="%")


def target_words(rule: str, chance: float, wait_min: float, each: bool) -> str:
    """Word the promise of a target: ``at most 5 % of the requests of each group have to wait``."""
    promises = NAMES["target of each group" if each else "target of all requests"]
    return told(promises[rule], {"chance": chance, "wait": wait_min})


@dataclass(frozen=True)
class Target:
    """Limit on waiting or denial: ``rule`` says which, ``chance`` how often, ``wait_h`` after what wait."""

    rule: str
    chance: float
    wait_h: float
    each: bool

    @classmethod
    def of(cls, scenario: Scenario) -> "Target":
        """The target of a scenario."""
        settings = scenario.demand
        return cls(settings.rule, settings.chance, settings.wait_min / 60, settings.for_whom == "each")

    @property
    def words(self) -> str:
        """Promise of the target: ``at most 5 % of the requests of each group have to wait``."""
        return target_words(self.rule, self.chance, self.wait_h * 60, self.each)


class Odds:
    """Probability that a number of GPUs is too few for a mix, by each method."""

    def __init__(self, mix: Mix, target: "Target") -> None:
        self.target = target
        self.asks = [ask for ask in mix.asks if ask.load > 0]
        shares = [exact(ask.gpus) for ask in self.asks]
        loads = [ask.load for ask in self.asks]
        self.people_gpus = sum(sum(ask.people) * ask.gpus for ask in self.asks)
        wanted = 2 * max(self.people_gpus, mix.gpus, 1)
        self.parts = _parts(shares, loads, int(max(1, min(MOST_PARTS, MOST_UNITS // wanted))))
        self.most_gpus = MOST_UNITS // self.parts
        self.sizes = [math.ceil(share * self.parts) for share in shares]
        self.load_gpus = mix.gpus
        self._curves: dict[str, np.ndarray] = {}

    @cached_property
    def poisson_peakedness(self) -> float:
        """Peakedness of the GPUs needed if all requests arrive independently of each other."""
        return queueing.peakedness_of_mix(
            [ask.load for ask in self.asks], sizes=[ask.gpus for ask in self.asks]
        )

    @cached_property
    def work_h(self) -> float:
        """Mean time for which a GPU is allocated."""
        weights = [ask.load * ask.gpus for ask in self.asks]
        return sum(w * ask.work_h for w, ask in zip(weights, self.asks, strict=True)) / sum(weights)

    @property
    def _wait(self) -> dict[str, float]:
        """Additional inputs of the chance of a long wait, compared with the chance of any wait."""
        timed = self.target.rule == "wait-time"
        return {"duration_h": self.work_h, "wait_h": self.target.wait_h} if timed else {}

    @cached_property
    def least_gpus(self) -> int:
        """GPUs of the largest request: with fewer it never starts."""
        return max((math.ceil(exact(ask.gpus)) for ask in self.asks), default=0)

    def known(self, method: str) -> bool:
        """True if a method can answer: the closed method needs the number of people, and not millions of them."""
        counted = self.people_gpus + len(self.asks) <= self.most_gpus
        return method != "closed" or (counted and all(ask.people for ask in self.asks))

    def chance(self, gpus: int, method: str, peakedness: float = 1.0) -> float:
        """Return the chance that a request waits or is denied with this many GPUs.

        ``peakedness`` counts for the method ``bursty`` alone.
        """
        if not self.asks:
            return 0.0
        if gpus < self.least_gpus:
            return 1.0
        if self._counted(method):
            within = min(gpus, self.most_gpus)
            return float(self._curve(method, within)[within])
        z = self.poisson_peakedness if method == "poisson" else peakedness
        model = FUNCTIONS["bursty", self.target.rule]
        return float(model(gpus, load=self.load_gpus, peakedness=z, **self._wait))

    def least(self, method: str, peakedness: float = 1.0) -> int:
        """The fewest GPUs that keep the target, such that every larger number keeps it too."""
        if not self.asks:
            return 0
        if self._counted(method):
            return self._least_counted(method)
        fewest = queueing.least_servers(
            lambda gpus: self.chance(gpus, method, peakedness),
            target=self.target.chance,
            start=max(self.least_gpus, math.ceil(self.load_gpus)),
        )
        return max(fewest, self.least_gpus)

    def _counted(self, method: str) -> bool:
        """True if a method counts states: then the chance may rise a little with one GPU more, where sizes differ."""
        return method == "closed" or (method == "poisson" and self.target.rule == "denied")

    def _least_counted(self, method: str) -> int:
        reach = max(self.least_gpus, math.ceil(self.load_gpus), 8)
        while True:
            above = np.flatnonzero(self._curve(method, reach)[: reach + 1] > self.target.chance)
            last = int(above[-1]) if len(above) else -1
            if last + max(self.sizes) // self.parts + 2 < reach or reach == self.most_gpus:
                return max(last + 1, self.least_gpus)
            reach = min(2 * reach, self.most_gpus)

    def _curve(self, method: str, gpus: int) -> np.ndarray:
        """The chance for every number of GPUs up to ``gpus``, and beyond."""
        curve = self._curves.get(method)
        if curve is None or len(curve) <= gpus:
            reach = min(max(2 * gpus, 16), self.most_gpus) * self.parts
            by_group = self._closed(reach) if method == "closed" else self._lost(reach)
            curve = self._curves[method] = self._over_groups(by_group)
        return curve

    def _over_groups(self, by_group: np.ndarray) -> np.ndarray:
        """The chance of the unluckiest group, or of all requests together."""
        if self.target.each:
            return np.asarray(by_group.max(axis=1))
        rates = np.array([ask.load / ask.work_h for ask in self.asks])
        return np.asarray(by_group @ (rates / rates.sum()))

    def _lost(self, reach: int) -> np.ndarray:
        by_group = queueing.kaufman_roberts(reach, loads=[ask.load for ask in self.asks], sizes=self.sizes)
        return by_group[:: self.parts]

    def _closed(self, reach: int) -> np.ndarray:
        """For each number of GPUs and group, the chance that one of its users has to wait."""
        # People with the same request and activity see the same others, so they are one class, whatever their group.
        alike = Counter[tuple[float, int]]()
        for ask, size in zip(self.asks, self.sizes, strict=True):
            for n, p in zip(ask.people, ask.chances, strict=True):
                alike[p, size] += n
        shares, sizes = [p for p, _ in alike], [size for _, size in alike]
        people = list(alike.values())
        model = FUNCTIONS["closed", self.target.rule]
        chances = model(reach, people=people, shares=shares, sizes=sizes, **self._wait)
        chances = chances[:: self.parts]
        column = {kind: at for at, kind in enumerate(alike)}
        columns = []
        for ask, size in zip(self.asks, self.sizes, strict=True):
            weights = np.array([n * p for n, p in zip(ask.people, ask.chances, strict=True)])
            columns.append(chances[:, [column[p, size] for p in ask.chances]] @ (weights / weights.sum()))
        return np.array(columns).T


@lru_cache(maxsize=512)  # without it an edit of money takes up to two fifths longer
def odds_of(mix: Mix, target: Target) -> Odds:
    """Return the odds for a mix; the same object for the same inputs, to compute curves once."""
    return Odds(mix, target)


def _parts(shares: Sequence[Fraction], loads: Sequence[float], most: int) -> int:
    """Number of parts of a GPU: one that makes all shares whole parts, or else makes rounding them up cost least."""
    exactly = math.lcm(*(share.denominator for share in shares)) if shares else 1
    if exactly <= most:
        return exactly

    def lost(parts: int) -> float:
        return sum(
            float(math.ceil(share * parts) / parts - share) * load
            for share, load in zip(shares, loads, strict=True)
        )

    return min(range(1, most + 1), key=lost)


def poisson_peakedness(scenario: Scenario, catalog: Catalog) -> float:
    """Peakedness of the GPUs that all groups together want, if all requests arrive independently of each other."""
    season = weeks(scenario, catalog)[SEASONS[0][0]]
    loads = {group: float(week.loads.max()) for group, week in season.items()}
    busy = [(load, season[group].gpus) for group, load in loads.items() if load > 0]
    if not busy:
        return 1.0
    return queueing.peakedness_of_mix([load for load, _ in busy], sizes=[gpus for _, gpus in busy])


def peakedness_range(scenario: Scenario, catalog: Catalog, odds: Odds) -> tuple[float, float, float]:
    """(low, value, high) of the peakedness of a mix: as if arrivals were independent, times the burst factor of demand.

    The burst factor follows from the peakedness stated for the whole demand, or is the planning value.
    """
    settings, bursts = scenario.demand, burst_fact(catalog)
    stated = (settings.peakedness_low, settings.peakedness, settings.peakedness_high)
    whole = 1.0 if stated == (None, None, None) else poisson_peakedness(scenario, catalog)
    low, value, high = (None if z is None else z / whole for z in stated)
    if value is None:
        value = float(bursts.value)
        least, most = float(bursts.low or bursts.value), float(bursts.high or bursts.value)
    else:
        least, most = min(value, float(bursts.low or value)), value
    low, high = (least if low is None else low), (most if high is None else high)
    alone = odds.poisson_peakedness
    return alone * min(low, value), alone * value, alone * max(high, value)


def method_of(scenario: Scenario) -> str:
    """The assumption that the plan rests on: as chosen, else a closed group of people where there are no jobs."""
    settings = scenario.demand
    if settings.method != "auto":
        return settings.method
    if any(group.jobs_per_day is not None for group in scenario.groups):
        return "bursty"
    return "closed"


@dataclass(frozen=True)
class Needed:
    """Needs of a mix: GPUs, and the requests of each group at a crowded moment."""

    mix: Mix
    gpus: int | float
    requests: Mapping[str, int]
    method: str
    peakedness: float | None


def needed(scenario: Scenario, catalog: Catalog, mix: Mix, rule: str = "") -> Needed:
    """The GPU demand of a mix, by the rule and the method of the scenario."""
    target = Target.of(scenario)
    if rule:
        target = replace(target, rule=rule)
    if target.rule in ("sum", "hours"):
        requests = {ask.group: active_requests(ask) for ask in mix.asks}
        total = sum((requests[ask.group] * exact(ask.gpus) for ask in mix.asks), Fraction(0))
        return Needed(mix, float(total), requests, "", None)
    odds = odds_of(mix, target)
    method = method_of(scenario)
    z: float | None = None
    if method == "bursty" and odds.asks:
        z = peakedness_range(scenario, catalog, odds)[1]
    gpus = odds.least(method, z or 1.0)
    counts = demand.planned_requests(
        gpus,
        loads=[ask.load for ask in mix.asks],
        spreads=[ask.spread for ask in mix.asks],
        sizes_gpus=[ask.gpus for ask in mix.asks],
        most=[ask.most if method == "closed" else MAX_VMS for ask in mix.asks],
    )
    return Needed(mix, gpus, dict(zip((ask.group for ask in mix.asks), counts, strict=True)), method, z)


def active_requests(ask: Ask) -> int:
    """Requests of a group with as many active as are stated for the time."""
    if not ask.people:
        return math.ceil(ask.load - 1e-9)
    return math.ceil(sum((n * exact(p) for n, p in zip(ask.people, ask.chances, strict=True)), Fraction(0)))
