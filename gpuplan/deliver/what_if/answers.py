"""Answers: what `make_plan` says at every position of a few inputs, made beforehand for a page that works out nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from gpuplan.analysis.variants import Progress
from gpuplan.deliver.what_if.axes import Axis, axes_of, most_plans
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.placed import Placed
from gpuplan.plan.totals import Totals
from gpuplan.report.figures import CostFigures, cost_figures
from gpuplan.scenario import Problem, Scenario, ScenarioError

Position = tuple[int, ...]
"""Position of each input in its list, in the order of the axes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Results of the plan at one position."""

    totals: Totals
    placed: Placed
    typical_w: float
    peak_w: float
    cost: CostFigures | None
    """None without hosts."""


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

    found = WhatIf(plan, axes_of(plan, told), {})
    answers = {}
    for position, answer in _answers(found):
        answers[position] = answer
        told()
    return WhatIf(plan, found.axes, dict(sorted(answers.items())))


def _answers(found: WhatIf) -> Iterator[tuple[Position, Answer | Refused]]:
    """The answer of each position; of those that differ in a price alone, that with the design's price first."""
    priced = found.axes[-1].kind == "price"
    others = found.axes[:-1] if priced else found.axes
    prices = [(at,) for at in _own_first(found.axes[-1])] if priced else [()]
    for outer in product(*(range(len(axis.values)) for axis in others)):
        base = None
        for price in prices:
            position = (*outer, *price)
            try:
                plan = _planned(found, position, base)
                answer: Answer | Refused = answer_of(plan)
                base = base or plan
            except ScenarioError as error:
                answer = Refused(error.problems)
            yield position, answer


def _own_first(axis: Axis) -> list[int]:
    return sorted(range(len(axis.values)), key=lambda at: (at != axis.own, at))


def _planned(found: WhatIf, position: Position, base: Plan | None) -> Plan:
    """The plan of a position, which has all that comes before the network from one that differs in a price alone."""
    scenario = found.at(position)
    return base.relinked(scenario) if base else make_plan(scenario, found.design.catalog)


def answer_of(plan: Plan) -> Answer:
    """The answer of a plan."""
    typical_w, peak_w = (plan.power.typical_w, plan.power.peak_w) if plan.power else (0.0, 0.0)
    return Answer(plan.totals, plan.placed, typical_w, peak_w, cost_figures(plan))
