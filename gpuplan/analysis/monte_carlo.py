"""Monte Carlo: a design planned for draws of what may turn out otherwise: its inputs, prices and factors of cost.

An input follows a triangular distribution from its low to its high end, most likely as planned: three values is all that is
known of a range, so the distribution is assumed. What shares a cause moves together: prices of one cause, and inputs of all
groups where ``data/ranges.csv`` says so. Causes are independent of each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from gpuplan.analysis.grid import catalog_of, figures_of, plan_with, planned_each
from gpuplan.analysis.sensitivity import Range, ranges_of
from gpuplan.analysis.variants import Outcome, Progress, Standing, outcome_of
from gpuplan.catalog import Catalog
from gpuplan.facts import Fact
from gpuplan.plan import Asked, Plan, planned
from gpuplan.plan.cash_flow import RANGED
from gpuplan.plan.cost_ranges import Figures, cause_of, figures_at
from gpuplan.scenario import Scenario, ScenarioError, field_of, problem
from gpuplan.showing import WAYS, Study

if TYPE_CHECKING:
    import pandas as pd

FEWEST, MOST = 2, 100_000
MONEY = {"net_present": "cost.net_present", "first": "cost.years.0"}
"""Figure that follows drawn prices -> the key of its line."""
PAID_APART = ("prices.", *(f"cost.{name}" for name in RANGED))
"""Beginnings of inputs that change what a design costs, and nothing else of it."""
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


@dataclass(frozen=True, slots=True)
class Draw:
    """The design for one draw. Figures are None where it cannot be planned."""

    values: tuple[float, ...]
    """Values of the inputs, in the order of the study."""
    standing: Standing
    """With the range of the cost of its hosts, by prices and factors alone."""
    refused: str = ""
    gpus_demanded: float | None = None
    hosts: int | None = None
    gpus: int | None = None
    gpus_after_failure: int | None = None
    power_w: float | None = None
    net_present: float | None = None
    first: float | None = None
    """Payment at the start."""
    limits: tuple[bool | None, ...] = ()
    """Whether each limit of the scenario holds; None where that is not known."""


@dataclass(frozen=True, slots=True)
class MonteCarlo(Study):
    """A design for many draws of its inputs, prices and factors."""

    scenario: Scenario
    seed: int
    inputs: tuple[Drawn, ...]
    limits: tuple[str, ...]
    """Names of the limits that are set, such as ``budget``."""
    draws: tuple[Draw, ...]

    def __repr__(self) -> str:
        low, middle, high = (self.quantile("net_present", share).value for share in (0.1, 0.5, 0.9))
        ends = f"{low:,.0f} to {high:,.0f}, median {middle:,.0f} {self.scenario.cost.currency}"
        return f"MonteCarlo({self.scenario.name!r}: {len(self.draws)} draws of {len(self.inputs)} inputs, 80 % of costs {ends})"

    @property
    def quantiles(self) -> "pd.DataFrame":
        """Quantiles of hosts, GPUs and cost with their standard errors, one share of the draws a row."""
        frame: pd.DataFrame = WAYS["quantiles"](self)
        return frame

    def values(self, figure: str) -> Numbers:
        """Return a figure of all draws that can be planned and have it."""
        values = (getattr(draw, figure) for draw in self.draws)
        return np.array([value for value in values if value is not None], float)

    def quantile(self, figure: str, share: float) -> Estimate:
        """Return the value that a share of the draws does not exceed; NaN without one.

        Its error is half the distance of the draws one standard error of their rank away, for which no distribution is assumed.
        """
        values = np.sort(self.values(figure))
        if not len(values):
            return Estimate(np.nan, np.nan)
        error = sqrt(share * (1 - share) / len(values))
        ends = (max(0.0, share - error), min(1.0, share + error))
        value, low, high = np.quantile(values, (share, *ends), method="inverted_cdf")
        return Estimate(float(value), float(high - low) / 2)

    def chance(self, *limits: str, **most: float) -> Estimate:
        """Return the share of draws whose design is valid and keeps limits, all that are set if none is named.

        ``most`` are further limits of figures, such as ``net_present=2e6``. A limit that is not known to hold counts as missed.
        """
        wanted = [self.limits.index(limit) for limit in (limits or self.limits)]
        held = [
            draw.standing.valid
            and all(draw.limits[at] for at in wanted)
            and all(
                (value := getattr(draw, figure)) is not None and value <= end for figure, end in most.items()
            )
            for draw in self.draws
        ]
        share = sum(held) / len(held)
        return Estimate(share, sqrt(share * (1 - share) / len(held)))


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
    for name, value, low, high in (("n", n, FEWEST, MOST), ("seed", seed, 0, 2**32)):
        if type(value) is not int or not low <= value <= high:
            raise ScenarioError([problem(name, value, "monte.whole", low=low, high=high)])
    catalog = catalog_of(design, catalog)
    plan = planned(design, catalog)
    inputs = tuple(_drawn(plan))
    values = drawn_values(plan.scenario, inputs, n, seed)
    of_design = [at for at, one in enumerate(inputs) if not one.path.startswith(PAID_APART)]
    paths = [inputs[at].path for at in of_design]
    alike: dict[tuple[float, ...], list[int]] = {}
    for number, row in enumerate(values):
        alike.setdefault(tuple(row[at] for at in of_design), []).append(number)
    tasks = [
        (plan.scenario, dict(zip(paths, of, strict=True)), seed, n, tuple(at)) for of, at in alike.items()
    ]
    parts = planned_each(catalog, _figures, tasks, workers=workers, progress=progress)
    found = {number: draw for part in parts for number, draw in part}
    draws = tuple(replace(found[number], values=tuple(row)) for number, row in enumerate(values))
    return MonteCarlo(plan.scenario, seed, inputs, _limits(plan.scenario), draws)


def _drawn(plan: Plan) -> Iterator[Drawn]:
    """Yield the inputs with a range, each with its cause."""
    prices = {f"prices.{price.key}": price.cause for price in plan.costs.prices} if plan.costs else {}
    together = {row["field"] for row in plan.catalog.rows("ranges") if row["together"]}
    for span in ranges_of(plan):
        head, _, name = span.path.partition(".")
        name = name.rpartition(".")[2]
        cause = cause_of(name) if head == "cost" else name if name in together else span.path
        about = {field: getattr(span, field) for field in Range.__slots__}
        yield Drawn(**about, cause=prices.get(span.path, cause))


def drawn_values(scenario: Scenario, inputs: Sequence[Drawn], n: int, seed: int) -> list[list[float]]:
    """Return the values of the inputs for each draw: whole numbers where the input takes no others."""
    columns: dict[str, Numbers] = {}
    for one in inputs:
        column = triangular(uniforms(seed, one.cause, n), one.low, one.now, one.high)
        columns[one.path] = np.rint(column) if field_of(one.path).kind == "int" else column
    for path in columns:
        head, _, name = path.rpartition(".")
        if name in LIKE:
            other = f"{head}.{LIKE[name]}"
            columns[path] = np.minimum(columns[path], columns.get(other, scenario.get(other)))
    whole = [field_of(path).kind == "int" for path in columns]
    rows = zip(*(column.tolist() for column in columns.values()), strict=True) if columns else [()] * n
    return [[int(v) if is_whole else v for v, is_whole in zip(row, whole, strict=True)] for row in rows]


@lru_cache(maxsize=256)
def uniforms(seed: int, cause: str, n: int) -> Numbers:
    """Return the points of a cause's distributions, a share from 0 to 1 for each draw."""
    return np.random.default_rng([seed, crc32(cause.encode())]).random(n)


def triangular(shares: Numbers, low: float, mode: float, high: float) -> Numbers:
    """Return quantiles of a triangular distribution, the inverse of its distribution function."""
    mode, wide = min(max(low, mode), high), high - low
    rising = low + np.sqrt(shares * wide * (mode - low))
    falling = high - np.sqrt((1 - shares) * wide * (high - mode))
    return np.where(shares * wide < mode - low, rising, falling)


Task = tuple[Scenario, Mapping[str, float], int, int, tuple[int, ...]]


def _figures(catalog: Catalog, task: Task) -> list[tuple[int, Draw]]:
    """Plan a design once, and price it for all draws that need that design."""
    scenario, values, seed, n, numbers = task
    outcome = outcome_of(partial(plan_with, catalog, scenario, values))
    plan, known = outcome.plan, {"refused": outcome.refused, **figures_of(outcome)}
    if plan is None or plan.costs is None or plan.power is None or plan.counts is None:
        limits = tuple(limit.met for limit in plan.within) if plan else ()
        draw = Draw((), outcome.standing, **known, limits=limits or (None,) * len(_limits(scenario)))
        return [(number, draw) for number in numbers]

    def of_draw(number: int) -> Callable[[Fact, str], float]:
        return lambda fact, cause: _at(fact, uniforms(seed, cause, n)[number])

    about = (plan.counts, plan.power, plan.growth, plan.costs, [of_draw(number) for number in numbers])
    return [
        (number, _priced(outcome, plan, known, costs))
        for number, costs in zip(numbers, figures_at(*about), strict=True)
    ]


def _at(fact: Fact, share: float) -> float:
    ends = (float(end) for end in (fact.low or 0.0, fact.value, fact.high or 0.0))
    return float(triangular(np.array(share), *ends))


def _priced(outcome: Outcome, plan: Plan, known: Mapping[str, Any], costs: Figures) -> Draw:
    paid = {"net_present": costs["net_present"], "first": costs["year 0"]}
    limits: tuple[bool | None, ...] = ()
    if _limits(plan.scenario):
        limits = tuple(limit.met for limit in plan.within_at({MONEY[name]: paid[name] for name in MONEY}))
    return Draw((), outcome.standing, **{**known, **paid}, limits=limits)


def _limits(scenario: Scenario) -> tuple[str, ...]:
    limits = scenario.limits
    return tuple(name for name in type(limits).__slots__ if getattr(limits, name) is not None)
