"""Axes: the inputs that a what-if page moves; answers: what the plan says at every position of them, made beforehand."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter

from gpuplan.analysis.variants import Progress, stepwise
from gpuplan.locales import locale_of, speaking
from gpuplan.plan import Plan
from gpuplan.plan.totals import Totals
from gpuplan.report.figures import CostFigures, cost_figures
from gpuplan.report.workloads import WHO
from gpuplan.scenario import Problem, Scenario, ScenarioError, field_of
from gpuplan.wording import PART

SHARES = (0.5, 0.625, 0.75, 0.875, 1, 1.25, 1.5, 1.75, 2.0)
"""Positions of a size as shares of the design's size."""
MOST_IN_A_ROW = 10
"""Most positions over which a small size moves in steps of one."""
MOST_FAILURES = 3
GROWTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
BUDGETS = (0.5, 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.5)
"""Positions of a budget as shares of the design's cost."""
AT_ONCE = 5
"""Positions that are planned before those that are there are shown."""
PRICES = 5
ASIDE = 0.3
"""Range of a price without a specific one, to either side, as a share of the price."""
Position = tuple[int, ...]
"""Position of each input in its list, in the order of the axes."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An input that is moved, and its positions."""

    kind: str
    """``people``, ``jobs``, ``total``, ``failures``, ``price``, ``growth`` or ``budget``."""
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


def sizes_of(plan: Plan) -> list[Axis]:
    """The sizes of the design, that of the workload with the largest GPU demand first, which has most of the cost."""
    demand = {f"groups.{group.id}": group.demand_gpus for group in plan.groups}
    return sorted(sizes(plan.scenario), key=lambda axis: -demand.get(axis.path.rpartition(".")[0], 0))


def _others(plan: Plan) -> Iterator[Axis]:
    path, current = "availability.host_failures", plan.scenario.availability.host_failures
    spec = field_of(path)
    yield _axis(
        "failures", path, "", "", range(int(spec.low), min(int(spec.high), MOST_FAILURES) + 1), current
    )
    if price := _price(plan):
        yield price


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
    return _axis(kind, path, name, unit, size_positions(now, field_of(path).high), now)


def size_positions(now: float, most: float) -> tuple[float, ...]:
    """Whole sizes around today's, itself among them: every one where it is small, else from half to double."""
    low, high = max(min(1, math.ceil(now)), math.floor(now / 2)), max(2 * math.ceil(now), math.ceil(now) + 3)
    if high - low < MOST_IN_A_ROW:
        wanted = [*range(low, high + 1)]
    else:
        wanted = [_rounded(now * share) for share in SHARES if share != 1]
    return tuple(sorted({now, *(size for size in wanted if size <= most)}))


def _rounded(size: float) -> int:
    """The whole number next to a size, at least one; of more than 99 in two digits."""
    whole = max(1, math.floor(size + 0.5))
    return int(round(whole, 2 - len(str(whole)))) if whole > 99 else whole


def _price(plan: Plan) -> Axis | None:
    """Return the price of the board that costs most, between its low and high; None where nothing is bought at a price."""
    bought = [each for each in plan.costs.materials if each.part == PART["GPUs"]] if plan.costs else []
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


def sliders_of(plan: Plan, size: Axis) -> Iterator[Axis]:
    """The inputs that are moved beside a size: host failures, growth of its workload, board price, and the budget."""
    scenario = plan.scenario
    failures, *price = _others(plan)
    yield from (size, failures)
    if size.kind != "total":
        path = f"{size.path.rpartition('.')[0]}.growth"
        yield _axis("growth", path, size.name, "", GROWTHS, scenario.get(path) or 0.0)
    yield from price
    if plan.costs:
        around = [float(f"{share * plan.costs.net_present:.2g}") for share in BUDGETS]
        stated = math.inf if scenario.limits.budget is None else scenario.limits.budget
        yield _axis("budget", "limits.budget", "", scenario.cost.currency, around, stated)


def _axis(kind: str, path: str, name: str, unit: str, around: Iterable[float], now: float) -> Axis:
    values = tuple(sorted({*around, now}))
    return Axis(kind, path, name, unit, values, values.index(now))


@dataclass(frozen=True, slots=True)
class Answer:
    """Results of the plan at one position; its verdict is in the words of its locale."""

    totals: Totals
    cost: CostFigures | None
    typical_w: float
    peak_w: float
    fits: str
    missing: int
    """VMs without a GPU while all hosts are up."""
    tone: str
    short: str
    note: str
    proof: str


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
        own = self.answers.get(self.own)
        return own if isinstance(own, Answer) else answer_of(self.design)

    def at(self, position: Position) -> Scenario:
        """The scenario of a position."""
        scenario = self.scenario
        for axis, at in zip(self.axes, position, strict=True):
            scenario = axis.set(scenario, at)
        return scenario


def what_if(plan: Plan, tell: Progress | None = None) -> WhatIf:
    """Plan each combination of the largest size, tolerated host failures and board price; ``tell`` hears how many there are."""
    found = WhatIf(plan, (*sizes_of(plan)[:1], *_others(plan)), {})
    every = sorted(product(*(range(len(axis.values)) for axis in found.axes)))
    by_base = sorted(every, key=lambda at: (at[:-1], at[-1] != found.own[-1]))
    answers = dict(answers_at(found, stepwise(by_base, tell)))
    return WhatIf(plan, found.axes, {at: answers[at] for at in every})


def answers_at(found: WhatIf, positions: Iterable[Position]) -> Iterator[tuple[Position, Answer | Refused]]:
    """The answer of each position; those that follow each other with other prices share what comes before the network."""
    others = len(found.axes) - (found.axes[-1].kind == "price")
    base, shared = None, Position()
    for position in positions:
        if position[:others] != shared:
            base, shared = None, position[:others]
        try:
            scenario = found.at(position)
            plan = base.relinked(scenario) if base else found.design.with_scenario(scenario)
            answer: Answer | Refused = answer_of(plan)
            base = base or plan
        except ScenarioError as error:
            answer = Refused(error.problems)
        except ValueError as error:  # a model that cannot answer; which input is to blame is not known
            answer = Refused((Problem("", "", str(error)),))
        yield position, answer


def some_answers(
    plan: Plan, axes: tuple[Axis, ...], positions: Sequence[Position]
) -> dict[Position, Answer | Refused]:
    """Return the answers of the first positions."""
    return dict(answers_at(WhatIf(plan, axes, {}), positions[:AT_ONCE]))


VERDICT = attrgetter("fits", "placed.missing", "tone", "short", "note", "proof")


def answer_of(plan: Plan) -> Answer:
    """The answer of a plan."""
    power = (plan.power.typical_w, plan.power.peak_w) if plan.power else (0.0, 0.0)
    with speaking(locale_of(plan.scenario)):
        return Answer(plan.totals, cost_figures(plan), *power, *VERDICT(plan.verdict))
