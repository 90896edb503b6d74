"""Grid: a design planned with every combination of some values of its inputs, in other processes where that pays."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import prod
from typing import Any, TypeVar

from gpuplan.analysis.engines import Engine
from gpuplan.analysis.variants import Outcome, Progress, Standing, outcome_of
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.facts import Brief
from gpuplan.plan import Asked, Plan, make_plan
from gpuplan.plan.plan import scenario_of
from gpuplan.scenario import Scenario, ScenarioError, problem
from gpuplan.showing import WAYS, Study

MOST = 100_000
"""Most designs of a grid."""
PAYS_S = 4.0
"""Work from which other processes are started: each takes about a second to begin."""
CHUNK = 16
Task = TypeVar("Task")
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Point:
    """The figures of one design of a study; None where its inputs are refused."""

    values: tuple[Any, ...]
    """Values of the inputs, in the order of the study."""
    standing: Standing
    refused: str
    """Why it cannot be planned; empty where it can."""
    limits: Mapping[str, bool | None] = field(default_factory=dict)
    """Limit that is set -> whether it holds; None where that is not known."""
    gpus_demanded: float | None = None
    hosts: int | None = None
    gpus: int | None = None
    gpus_after_failure: int | None = None
    power_w: float | None = None
    net_present: float | None = None
    first: float | None = None
    """Payment at the start."""


@dataclass(frozen=True, slots=True, repr=False)
class Grid(Brief, Study):
    """Every combination of some values of a design's inputs, with its figures."""

    scenario: Scenario
    catalog: Catalog
    inputs: Mapping[str, tuple[Any, ...]]
    """Path of each input -> its values; the last input changes fastest."""
    points: tuple[Point, ...]

    def plan(self, at: int) -> Plan:
        """Make the plan of a point again, as its figures are kept, not its plan. Raises a ScenarioError if it is refused."""
        values = dict(zip(self.inputs, self.points[at].values, strict=True))
        return plan_with(self.catalog, self.scenario, values)


def grid(
    design: Asked,
    inputs: Mapping[str, Iterable[Any]],
    catalog: Catalog | None = None,
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> Grid:
    """Plan a design with every combination of some values of its inputs.

    Parameters:
        design (Plan, Scenario, Design or str): A plan, a scenario, a design of a notebook, or an example or a file by its name.
            [-]
        inputs (dict): Paths such as ``groups.research.people``, and the values of each. [-]
        catalog: The plan's catalog, or the shipped one if none is given. [-]
        workers: Processes that plan; 0 for as many as there are cores if the grid takes more than some seconds. [-]
        progress (function): Gets the number of designs planned, and of all; in a notebook a line shows it by default. [-]

    Returns:
        grid: ``frame`` has a row for each combination, with a column by path for each input, and ``refused`` says why a value
            cannot be planned; ``plot()`` draws a figure. [-]

    Raises:
        ScenarioError: If a path is none of this scenario, has no value, or there are too many combinations.

    >>> found = grid("starter", {"groups.developers.people": [32, 64], "availability.host_failures": [0, 1]})
    >>> [(point.values, point.hosts) for point in found.points][:2]
    [((32, 0), 7), ((32, 1), 8)]
    """
    scenario, catalog = scenario_of(design), catalog_of(design, catalog)
    axes = {path: _values(scenario, path, values) for path, values in inputs.items()}
    if (count := prod(map(len, axes.values()))) > MOST:
        raise ScenarioError([problem("grid", count, "grid.most", most=MOST)])
    tasks = [(scenario, dict(zip(axes, values, strict=True))) for values in product(*axes.values())]
    points = planned_each(catalog, _point, tasks, workers=workers, progress=progress)
    return Grid(scenario, catalog, axes, tuple(points))


def catalog_of(design: Asked, catalog: Catalog | None) -> Catalog:
    """Return the catalog that designs like one are planned with: as given, that of its plan, or the shipped one."""
    plan = getattr(design, "plan", design)
    if catalog is None and isinstance(plan, Plan):
        catalog = plan.catalog.beneath or plan.catalog
    return load_catalog() if catalog is None else catalog


def _values(scenario: Scenario, path: str, values: Iterable[Any]) -> tuple[Any, ...]:
    scenario.get(path)
    listed = (values,) if isinstance(values, str) else tuple(values)
    if not listed:
        raise ScenarioError([problem(path, "[]", "grid.no values")])
    return listed


def planned_each(
    catalog: Catalog,
    work: Callable[[Catalog, Task], Done],
    tasks: Sequence[Task],
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> list[Done]:
    """Do tasks in their order, in other processes where they take long by the time of the second: the first fills caches."""
    told, numbered = progress or WAYS["progress"](), list(enumerate(tasks))
    done: dict[int, Done] = {}
    started = [time.monotonic()]

    def collect(parts: Iterable[list[tuple[int, Done]]]) -> None:
        for part in parts:
            done.update(part)
            started.append(time.monotonic())
            if told:
                told(len(done), len(tasks))

    collect([_numbered(work, catalog, task)] for task in numbered[:2])
    long = (started[-1] - started[-2]) * len(tasks) > PAYS_S
    with Engine(catalog, workers=workers if long else 1) as engine:
        collect(engine.each(partial(_numbered, work), numbered[2:], CHUNK if engine.workers > 1 else 1))
    return [done[at] for at in range(len(tasks))]


def _numbered(
    work: Callable[[Catalog, Task], Done], catalog: Catalog, task: tuple[int, Task]
) -> tuple[int, Done]:
    return task[0], work(catalog, task[1])


def plan_with(catalog: Catalog, scenario: Scenario, values: Mapping[str, Any]) -> Plan:
    """Return the plan of a scenario with other values of some inputs."""
    for path, value in values.items():
        scenario = scenario.with_value(path, value)
    return make_plan(scenario, catalog)


def _point(catalog: Catalog, task: tuple[Scenario, Mapping[str, Any]]) -> Point:
    outcome = outcome_of(partial(plan_with, catalog, *task))
    return point_of(outcome, tuple(task[1].values()))


def point_of(outcome: Outcome, values: tuple[Any, ...]) -> Point:
    """Return the figures of a plan for some inputs, none where they are refused."""
    about = (values, outcome.standing, outcome.refused)
    if (plan := outcome.plan) is None:
        return Point(*about)
    totals = ("gpus_demanded", "hosts", "gpus", "gpus_after_failure")
    known: dict[str, Any] = {name: getattr(plan.totals, name) for name in totals}
    if plan.power and plan.costs:
        known |= {"power_w": plan.power.typical_w, "net_present": plan.costs.net_present}
        known["first"] = plan.costs.cash[0]
    return Point(*about, {limit.key: limit.met for limit in plan.within}, **known)
