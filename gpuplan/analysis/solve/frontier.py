"""Frontier: the least cost of each amount of what is solved for, as real designs from few to many."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.engines import Engine
from gpuplan.analysis.solve.bounds import Unit
from gpuplan.analysis.solve.designs import Design, Space, as_asked, designs_of, space_of
from gpuplan.analysis.solve.quantities import TOTAL, Quantity, offered, quantity_of
from gpuplan.analysis.solve.search import Search
from gpuplan.analysis.solve.trial import Climb, Found, Question, climbed
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.plan import make_plan
from gpuplan.plan.plan import Asked, scenario_of
from gpuplan.scenario import Scenario, ScenarioError, problem
from gpuplan.showing import Study

POINTS = 12
BEYOND = 1.5
"""Amount up to which designs are looked for, in parts of the most within the limits, or of the amount asked for."""
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Frontier(Study):
    """Designs of which none serves more for less; each is the cheapest for its amount that could be found."""

    scenario: Scenario
    """With its limits but that of money."""
    quantity: Quantity
    points: tuple[Found, ...]
    """The smallest first; each serves as much as its cost allows."""
    complete: bool
    """False if the time was up before the last amount."""

    def at(self, budget: float) -> Found | None:
        """Return the design that serves most for a budget over the period; None if none costs as little."""
        return max(
            (each for each in self.points if each.net_present <= budget), key=lambda f: f.steps, default=None
        )


def frontier(
    asked: Asked,
    catalog: Catalog | None = None,
    *,
    maximise: str = "",
    most: int = 0,
    points: int = POINTS,
    space: Space | None = None,
    seconds: float = SECONDS,
    told: Callable[[Sequence[Found]], object] | None = None,
    folders: Sequence[str | Path] = (),
    **on: Any,
) -> Frontier:
    """Return the least cost of each amount up to half more than ``most`` steps, by all limits but those of money.

    ``maximise`` is a quantity as `solve` takes it, else the users of the first workload; ``told`` gets the points so far.
    """
    catalog = load_catalog() if catalog is None else catalog
    scenario = scenario_of(asked)
    growing = (each for each in offered(scenario) if quantity_of(scenario, each).most)
    quantity = quantity_of(scenario, maximise or next(growing, "users"))
    if not quantity.most:
        raise ScenarioError([problem("maximise", maximise, "solve.sense")])
    quantity = quantity.counted(make_plan(scenario, catalog, check=False).demand.planned.value)
    free = replace(scenario, limits=replace(scenario.limits, budget=None, budget_start=None))
    question = Question(free, quantity, space or space_of(free, catalog))
    top = max(quantity.low, min(quantity.high, round(BEYOND * (most or quantity.asked))))
    found: list[Found] = []
    until = time.monotonic() + seconds
    with Engine(catalog, folders, **on) as engine:
        for point in _points(question, catalog, engine, top, points, until):
            found.append(point)
            if told:
                told(found)
    complete = time.monotonic() < until
    return Frontier(free, quantity, tuple(unbeaten(found))[::-1], complete)


def _points(
    question: Question, catalog: Catalog, engine: Engine, top: int, points: int, until: float
) -> Iterator[Found]:
    quantity, first = question.quantity, [as_asked(question.scenario)]
    designs = designs_of(question.scenario, catalog, question.space)
    amounts = sorted({max(quantity.low, round(top * at / points)) for at in range(1, points + 1)})
    reached, units = 0, dict[Candidate, Unit | None]()
    for amount in amounts:
        if amount <= reached or time.monotonic() > until:
            continue
        least = Quantity("cost", "", "net_present", quantity.name, quantity.unit, asked=amount)
        wanted = replace(question, scenario=quantity.at(question.scenario, amount), quantity=least)
        search = Search(wanted, engine, None, until, units)
        search.run(first, designs)
        if search.best is None and not reached and quantity.path == TOTAL:
            continue  # too few for the workloads
        if search.best is None:
            return  # the other limits are reached
        best = _as_much(question, catalog, search.best.design, amount, top, search.best.net_present)
        if best is None:
            continue
        first, reached = [best.design], best.steps
        yield best


def _as_much(
    question: Question, catalog: Catalog, design: Design, amount: int, top: int, cost: float
) -> Found | None:
    """Return the most that a design serves for what it costs anyway."""
    limits = replace(question.scenario.limits, budget=cost * (1 + 1e-9))
    capped = replace(question, scenario=replace(question.scenario, limits=limits))
    return climbed(catalog, Climb(capped, design, amount, max(amount, top))).found


def unbeaten(found: Sequence[Found]) -> Iterator[Found]:
    """Yield the designs that no other beats in amount and cost, from many to few; of equal ones the first."""
    last: Found | None = None
    for each in sorted(found, key=lambda f: (-f.steps, f.net_present)):
        if last is None or each.net_present < last.net_present:
            last = each
            yield each
