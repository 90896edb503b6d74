"""Monte Carlo: a design planned for draws of what may turn out otherwise: its inputs, prices and factors of cost.

An input follows a triangular distribution from its low to its high end, most likely as planned: three values is all that is
known of a range, so the distribution is assumed. What shares a cause moves together: prices of one cause, and inputs of all
groups where ``data/ranges.csv`` says so. Causes are independent of each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache, partial
from math import sqrt
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from gpuplan.analysis.grid import Point, catalog_of, plan_with, planned_each, point_of
from gpuplan.analysis.sensitivity import Range, ranges_of
from gpuplan.analysis.variants import Progress, outcome_of
from gpuplan.catalog import Catalog
from gpuplan.facts import Brief, Fact, Named
from gpuplan.plan import Asked, Plan, planned
from gpuplan.plan.cash_flow import RANGED
from gpuplan.plan.cost_ranges import Figures, cause_of, figures_at
from gpuplan.scenario import Scenario, ScenarioError, field_of, pick, problem
from gpuplan.showing import Study

MOST = 100_000
"""Most draws."""
PAID_APART = ("prices.", *(f"cost.{name}" for name in RANGED))
"""Beginnings of inputs that change what a design costs, and nothing else of it."""
FIGURES = {one.name: one for one in fields(Point) if one.default is None}
"""Figures of a draw."""
LIKE = {"off_hours_share": "active_share"}
"""Input of a group -> the one that it does not exceed."""
Numbers = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """A figure of the draws with the standard error that their number leaves."""

    value: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Drawn(Range):
    """An input that is drawn, its range, and what it shares with others."""

    cause: str
    """Inputs of one cause are at the same point of their distributions in each draw."""


@dataclass(frozen=True, slots=True, repr=False)
class MonteCarlo(Brief, Study):
    """A design for many draws of its inputs, prices and factors."""

    scenario: Scenario
    seed: int
    inputs: Mapping[str, Drawn]
    """Path -> the input that is drawn."""
    points: tuple[Point, ...]
    """The design of each draw; low and high are the range of its cost by prices and factors alone."""

    def quantile(self, figure: str, share: float) -> Estimate:
        """Return the value of a figure that a share of the draws does not exceed; NaN where none has it.

        Its error is half the distance of the draws one standard error of their rank away, for which no distribution is assumed.
        """
        values = np.array([value for value in self._each(figure) if value is not None], float)
        if not len(values):
            return Estimate(np.nan, np.nan)
        error = sqrt(share * (1 - share) / len(values))
        shares = (share, max(0.0, share - error), min(1.0, share + error))
        value, low, high = np.quantile(values, shares, method="inverted_cdf").tolist()
        return Estimate(value, (high - low) / 2)

    def chance(self, *limits: str, **most: float) -> Estimate:
        """Return the share of draws whose design is valid and keeps limits, all that are set if none is named.

        ``most`` are further limits of figures, such as ``net_present=2e6``. A limit that is not known to hold counts as missed.
        """
        held = np.array(
            [
                point.standing.valid
                and all(pick(point.limits, name, "limit") for name in limits or point.limits)
                for point in self.points
            ]
        )
        for figure, end in most.items():
            held &= [value is not None and value <= end for value in self._each(figure)]
        share = float(held.mean())
        return Estimate(share, sqrt(share * (1 - share) / len(held)))

    def _each(self, figure: str) -> list[float | None]:
        pick(FIGURES, figure, "figure")
        return [getattr(point, figure) for point in self.points]


def monte_carlo(
    design: Asked,
    n: int = 1000,
    seed: int = 0,
    catalog: Catalog | None = None,
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> MonteCarlo:
    """Plan a design for draws of its inputs, prices and factors of cost, within the ranges that `tornado` varies one by one.

    Parameters:
        design (Plan, Scenario, Design or str): A plan, a scenario, a design of a notebook, or an example or a file by its name.
            [-]
        n: Number of draws. [-]
        seed: The same seed gives the same draws, the first of which are also those of more draws; a cause is drawn alike in all
            designs, so that their costs can be compared draw by draw. [-]
        catalog: The plan's catalog, or the shipped one if none is given. [-]
        workers: Processes that plan; 0 for as many as there are cores if it takes more than some seconds. [-]
        progress (function): Gets the number of plans made, and of all; in a notebook a line shows it by default. [-]

    Returns:
        monte_carlo: ``frame`` has a row for each draw; ``quantile`` and ``chance`` have their standard errors; ``inputs`` are what
            is drawn, each with its range and cause. Hosts follow the drawn demand, at drawn prices: access modes are those
            that the planned prices suggest. [-]

    Raises:
        ScenarioError: If the number of draws or the seed is not valid.

    >>> study = monte_carlo("starter", n=20, seed=1)
    >>> len(study.frame), study.quantile("hosts", 0.5).value, study.chance(net_present=5e6).value
    (20, 9.0, 1.0)
    """
    for name, value, low, high in (("n", n, 2, MOST), ("seed", seed, 0, 2**32)):
        if type(value) is not int or not low <= value <= high:
            raise ScenarioError([problem(name, value, "monte.whole", low=low, high=high)])
    catalog = catalog_of(design, catalog)
    plan = planned(design, catalog)
    inputs = Named({one.path: one for one in _drawn(plan)})
    rows = drawn_values(plan.scenario, inputs, n, seed)
    of_design = [path for path in inputs if not path.startswith(PAID_APART)]
    alike: dict[tuple[float, ...], list[int]] = {}
    for number, row in enumerate(rows):
        alike.setdefault(tuple(row[path] for path in of_design), []).append(number)
    tasks = [
        (plan.scenario, dict(zip(of_design, values, strict=True)), seed, n, numbers)
        for values, numbers in alike.items()
    ]
    parts = planned_each(catalog, _points, tasks, workers=workers, progress=progress)
    found = {number: point for part in parts for number, point in part}
    points = tuple(replace(found[number], values=tuple(row.values())) for number, row in enumerate(rows))
    return MonteCarlo(plan.scenario, seed, inputs, points)


def _drawn(plan: Plan) -> Iterator[Drawn]:
    """Yield the inputs with a range, each with its cause."""
    prices = {f"prices.{price.key}": price.cause for price in plan.costs.prices} if plan.costs else {}
    together = {row["field"] for row in plan.catalog.rows("ranges") if row["together"]}
    for span in ranges_of(plan):
        head, _, name = span.path.partition(".")
        name = name.rpartition(".")[2]
        cause = cause_of(name) if head == "cost" else name if name in together else span.path
        yield Drawn(**asdict(span), cause=prices.get(span.path, cause))


def drawn_values(
    scenario: Scenario, inputs: Mapping[str, Drawn], n: int, seed: int
) -> list[dict[str, float]]:
    """Return the values of the inputs for each draw: whole numbers where the input takes no others."""
    columns: dict[str, Numbers] = {}
    for path, one in inputs.items():
        column = triangular(uniforms(seed, one.cause, n), one.low, one.now, one.high)
        head, _, name = path.rpartition(".")
        if name in LIKE:
            other = f"{head}.{LIKE[name]}"
            column = np.minimum(column, columns.get(other, scenario.get(other)))
        columns[path] = np.rint(column).astype(int) if field_of(path).kind == "int" else column
    return [{path: column[number].item() for path, column in columns.items()} for number in range(n)]


@lru_cache(maxsize=64)  # at most 50 MB
def uniforms(seed: int, cause: str, n: int) -> Numbers:
    """Return the points of a cause's distributions, a share from 0 to 1 for each draw."""
    return np.random.default_rng([seed, crc32(cause.encode())]).random(n)


def triangular(shares: Numbers | np.float64, low: float, mode: float, high: float) -> Numbers:
    """Return quantiles of a triangular distribution, the inverse of its distribution function."""
    mode, wide = min(max(low, mode), high), high - low
    rising = low + np.sqrt(shares * wide * (mode - low))
    falling = high - np.sqrt((1 - shares) * wide * (high - mode))
    return np.where(shares * wide < mode - low, rising, falling)


Task = tuple[Scenario, Mapping[str, float], int, int, Sequence[int]]


def _points(catalog: Catalog, task: Task) -> list[tuple[int, Point]]:
    """Plan a design once, and price it for all draws that need that design."""
    scenario, values, seed, n, numbers = task
    outcome = outcome_of(partial(plan_with, catalog, scenario, values))
    point, plan = point_of(outcome, ()), outcome.plan
    if plan is None or plan.costs is None or plan.power is None or plan.counts is None:
        return [(number, point) for number in numbers]

    def of_draw(number: int) -> Callable[[Fact, str], float]:
        return lambda fact, cause: triangular(
            uniforms(seed, cause, n)[number], *(float(end or 0) for end in (fact.low, fact.value, fact.high))
        ).item()

    draws = [of_draw(number) for number in numbers]
    costs = figures_at(plan.counts, plan.power, plan.growth, plan.costs, draws)
    return [(number, _paid(plan, point, of_draw)) for number, of_draw in zip(numbers, costs, strict=True)]


def _paid(plan: Plan, point: Point, costs: Figures) -> Point:
    """Return a design at drawn prices, by which limits of money hold or not."""
    net_present, first = costs["net_present"], costs["year 0"]
    limits = point.limits
    if limits:
        at = plan.within_at({"cost.net_present": net_present, "cost.years.0": first})
        limits = {limit.key: limit.met for limit in at}
    return replace(point, net_present=net_present, first=first, limits=limits)
