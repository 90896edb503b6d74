"""Axes: the inputs that a what-if page moves; answers: what the plan says at every position of them, made beforehand."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from gpuplan.analysis.variants import Outcome, Progress, outcome
from gpuplan.plan import Plan
from gpuplan.plan.totals import Totals
from gpuplan.plan.verdict import Verdict
from gpuplan.report.figures import CostFigures, cost_figures
from gpuplan.report.workloads import WHO
from gpuplan.scenario import Problem, Scenario, ScenarioError, field_of

SHARES = (0.5, 0.625, 0.75, 0.875, 1, 1.25, 1.5, 1.75, 2.0)
"""Positions of a size as shares of the design's size."""
MOST_IN_A_ROW = 10
"""Most positions over which a small size moves in steps of one."""
MOST_FAILURES = 3
PRICES = 5
ASIDE = 0.3
"""Range of a price without a specific one, to either side, as a share of the price."""
Position = tuple[int, ...]
"""Position of each input in its list, in the order of the axes."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An input that is moved, and its positions."""

    kind: str
    """``people``, ``jobs``, ``total``, ``failures`` or ``price``."""
    path: str
    name: str
    """Workload or board of the input; empty where it is an input of the design."""
    unit: str
    values: tuple[float, ...]
    own: int
    ranged: bool = True
    """For a price, true if its ends come from its range."""
    bought: bool = False
    """For a price, true if the seller pays it."""

    def set(self, scenario: Scenario, at: int) -> Scenario:
        """Return the scenario with this input at a position; the design's position keeps the input's basis."""
        return scenario if at == self.own else scenario.with_value(self.path, self.values[at])


def axes_of(plan: Plan, tell: Callable[[], object]) -> tuple[Axis, ...]:
    """Return the main inputs: the size that moves cost most, host failures, board price; ``tell`` hears each plan."""
    axes = (_size(plan, tell), *_others(plan))
    return tuple(axis for axis in axes if axis is not None)


def most_plans(plan: Plan) -> int:
    """Return the most plans that `axes_of` and all positions of its axes take."""
    axes = list(sizes(plan.scenario))
    for_axes = 2 * len(axes) if len(axes) > 1 else 0
    longest = max((len(axis.values) for axis in axes), default=1)
    return for_axes + longest * prod(len(axis.values) for axis in _others(plan))


def _others(plan: Plan) -> Iterator[Axis]:
    path, current = "availability.host_failures", plan.scenario.availability.host_failures
    spec = field_of(path)
    values = tuple(range(int(spec.low), min(int(spec.high), max(MOST_FAILURES, current)) + 1))
    yield Axis("failures", path, "", "", values, values.index(current))
    if price := _price(plan):
        yield price


def _size(plan: Plan, tell: Callable[[], object]) -> Axis | None:
    """The size that moves the cost most between half and double; None where the design has none."""
    axes = list(sizes(plan.scenario))
    if len(axes) < 2:
        return next(iter(axes), None)

    def swing(axis: Axis) -> float:
        costs = [_net_present(plan, axis, share, tell) for share in (SHARES[0], SHARES[-1])]
        return max(costs) - min(costs)

    return max(axes, key=swing)


def _net_present(plan: Plan, axis: Axis, share: float, tell: Callable[[], object]) -> float:
    """Return the cost with a size at a share of the design's; the design's cost where this cannot be planned."""
    scenario = plan.scenario.with_value(axis.path, _nearest(axis.values[axis.own] * share))
    result = outcome(scenario, plan.catalog, check=plan.check)
    tell()
    return (result if result.plan else Outcome(plan)).net_present or 0.0


def sizes(scenario: Scenario) -> Iterator[Axis]:
    """The sizes of the design: the stated total where it decides, else people or jobs of each workload."""
    if scenario.deciding_total_gpus is not None:
        yield _sized("total", "demand.stated_gpus", "", "GPU", scenario.deciding_total_gpus)
        return
    for group in scenario.groups:
        if group.jobs_per_day is None:
            unit, path = WHO.get(group.use_case, WHO["others"]), f"groups.{group.id}.people"
            yield _sized("people", path, group.name, unit, group.people)
        else:
            yield _sized("jobs", f"groups.{group.id}.jobs_per_day", group.name, "job", group.jobs_per_day)


def _sized(kind: str, path: str, name: str, unit: str, now: float) -> Axis:
    values = size_positions(now, field_of(path).high)
    return Axis(kind, path, name, unit, values, values.index(now))


def size_positions(now: float, most: float) -> tuple[float, ...]:
    """Whole sizes around today's, itself among them: every one where it is small, else from half to double."""
    low, high = max(min(1, math.ceil(now)), math.floor(now / 2)), max(2 * math.ceil(now), math.ceil(now) + 3)
    if high - low < MOST_IN_A_ROW:
        wanted = [*range(low, high + 1)]
    else:
        wanted = [_rounded(_nearest(now * share)) for share in SHARES if share != 1]
    return tuple(sorted({now, *(size for size in wanted if size <= most)}))


def _nearest(size: float) -> int:
    """The whole number next to a size, at least one."""
    return max(1, math.floor(size + 0.5))


def _rounded(size: int) -> int:
    return int(round(size, 2 - len(str(size)))) if size > 99 else size


def _price(plan: Plan) -> Axis | None:
    """Return the price of the board that costs most, between its low and high; None where nothing is bought at a price."""
    bought = [each for each in plan.costs.materials if each.part == "GPUs"] if plan.costs else []
    dearest = max(bought, key=lambda each: each.cost or 0.0, default=None)
    match = dearest.price if dearest else None
    if match is None or not match.given.value:
        return None
    now, low, high = float(match.given.value), match.given.low, match.given.high
    ranged = low is not None and high is not None and low < high
    if low is None or high is None or not ranged:
        low, high = (round(share * now, 2) for share in (1 - ASIDE, 1 + ASIDE))
    values = _spread(low, now, high)
    name, currency = plan.catalog.gpus[match.key.removeprefix("gpus/")].name, plan.scenario.cost.currency
    about = (values, values.index(now), ranged, match.purchase is not None)
    return Axis("price", f"prices.{match.key}", name, currency, *about)


def _spread(low: float, now: float, high: float) -> tuple[float, ...]:
    """Return prices from low to high in about even steps, including the design's; those between are rounded."""
    steps = PRICES - 1
    below = round(steps * (now - low) / (high - low))
    below = min(max(below, int(low < now)), steps - int(now < high))
    return tuple(sorted({*_between(low, now, below), now, *_between(high, now, steps - below)}))


def _between(end: float, now: float, steps: int) -> Sequence[float]:
    """Return ``steps`` prices from an end to the design's, without the latter."""
    exactly = [end + (now - end) * step / steps for step in range(steps)]
    short = [end, *(float(f"{price:.2g}") for price in exactly[1:])]
    lowest, highest = min(end, now), max(end, now)
    fits = len({*short, now}) == steps + 1 and all(lowest < price < highest for price in short[1:])
    return short if fits else [round(price, 2) for price in exactly]


@dataclass(frozen=True, slots=True)
class Answer:
    """Results of the plan at one position."""

    totals: Totals
    verdict: Verdict
    typical_w: float
    peak_w: float
    cost: CostFigures | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A position that cannot be planned, and why."""

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The inputs that are moved, and the answer of every combination of their positions, the last one moved first."""

    design: Plan
    axes: tuple[Axis, ...]
    answers: Mapping[Position, Answer | Refused]

    @property
    def scenario(self) -> Scenario:
        """Scenario of the design."""
        return self.design.scenario

    @property
    def own(self) -> Position:
        """Position of the design."""
        return tuple(axis.own for axis in self.axes)

    @property
    def designed(self) -> Answer:
        """The answer of the design."""
        return answer_of(self.design)

    def at(self, position: Position) -> Scenario:
        """The scenario of a position."""
        scenario = self.scenario
        for axis, at in zip(self.axes, position, strict=True):
            scenario = axis.set(scenario, at)
        return scenario


def what_if(plan: Plan, tell: Progress | None = None) -> WhatIf:
    """Plan each combination of size, tolerated host failures and board price; ``tell`` hears how many there are."""
    done, most = 0, most_plans(plan)

    def told() -> None:
        nonlocal done
        done += 1
        if tell:
            tell(done, most)

    empty = WhatIf(plan, axes_of(plan, told), {})
    answers = {}
    for position, answer in _answers(empty):
        answers[position] = answer
        told()
    return WhatIf(plan, empty.axes, dict(sorted(answers.items())))


def _answers(found: WhatIf) -> Iterator[tuple[Position, Answer | Refused]]:
    """The answer of each position; those with other prices alone share what comes before the network."""
    *others, last = found.axes
    prices: list[tuple[int, ...]] = [()]
    if last.kind == "price":
        prices = [(at,) for at in sorted(range(len(last.values)), key=lambda at: (at != last.own, at))]
    else:
        others.append(last)
    for outer in product(*(range(len(axis.values)) for axis in others)):
        base = None
        for price in prices:
            position = (*outer, *price)
            try:
                scenario = found.at(position)
                plan = base.relinked(scenario) if base else found.design.with_scenario(scenario)
                answer: Answer | Refused = answer_of(plan)
                base = base or plan
            except ScenarioError as error:
                answer = Refused(error.problems)
            yield position, answer


def answer_of(plan: Plan) -> Answer:
    """The answer of a plan."""
    typical_w, peak_w = (plan.power.typical_w, plan.power.peak_w) if plan.power else (0.0, 0.0)
    return Answer(plan.totals, plan.verdict, typical_w, peak_w, cost_figures(plan))
