"""Solve: the best design within limits, with a bound that no design passes."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.engines import Engine
from gpuplan.analysis.solve.bounds import Bound
from gpuplan.analysis.solve.clash import clash_of
from gpuplan.analysis.solve.designs import Space, as_asked, designs_of, space_of
from gpuplan.analysis.solve.frontier import Frontier, frontier
from gpuplan.analysis.solve.mixes import cheapest_servers, try_mixes
from gpuplan.analysis.solve.quantities import TOTAL, Quantity, offered, quantity_of
from gpuplan.analysis.solve.search import Progress, Search, Told
from gpuplan.analysis.solve.solution import Binding, Clash, Solution
from gpuplan.analysis.solve.trial import BOUNDED, Found, Miss, Question
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.plan import make_plan
from gpuplan.plan.limits import Within
from gpuplan.plan.plan import Asked, scenario_of
from gpuplan.scenario import Problem, Scenario, ScenarioError, field_of, parse_value, problem, views
from gpuplan.wording import amount, number, said

__all__ = ["Binding", "Clash", "Found", "Frontier", "Miss", "Progress", "Quantity", "Solution", "Space"]
__all__ += ["frontier", "offered", "quantity_of", "solve"]

SECONDS = 60.0
ALSO_S = 30.0
"""Time for the certificate, where the search took all of its own: half for what binds, and half for a better design found thereby."""


def solve(
    asked: Asked,
    catalog: Catalog | None = None,
    *,
    maximise: str = "",
    minimise: str = "",
    space: Space | None = None,
    seconds: float = SECONDS,
    told: Told | None = None,
    workers: int = 0,
    engine: str = "processes",
    scheduler: str = "",
    folders: Sequence[str | Path] = (),
    **limits: Any,
) -> Solution:
    """Return the best design within the limits of a scenario, and how far any other could be better.

    Parameters:
        asked: A scenario, a plan, or the name of one. [-]
        maximise: What is to be much: ``users:GROUP``, ``concurrency:GROUP``, ``requests:GROUP``, ``jobs:GROUP``,
            ``replicas:GROUP`` or ``gpus``. [-]
        minimise: What is to be little for the demand as it is: ``cost``, ``first``, ``power`` or ``hosts``. [-]
        space: Designs that are tried; all that may be bought where it is not given. [-]
        seconds: Time after which the best so far is returned, with its gap. [s]
        told: Is called with the progress. [-]
        limits: Limits that replace those of the scenario, such as ``budget=1.5e6`` or ``racks=2``. [-]

    Returns:
        solve: The best design, the bound, what binds, and the best of each board. [-]

    Raises:
        ScenarioError: Naming the quantity or limit that is not one, and what would do.
    """
    catalog = load_catalog() if catalog is None else catalog
    scenario = _limited(scenario_of(asked), limits)
    question = _question(scenario, catalog, maximise, minimise, space)
    with Engine(catalog, folders, workers=workers, engine=engine, scheduler=scheduler) as open_engine:
        search = Search(question, open_engine, told, time.monotonic() + seconds)
        search.mixes_left = len(question.space.mixes)
        designs = designs_of(scenario, catalog, question.space)
        search.run([as_asked(scenario)], designs)
        try_mixes(search, cheapest_servers(search, designs))
        search.until = max(search.until, time.monotonic() + ALSO_S)
        return _certified(search, catalog)


def _question(
    scenario: Scenario, catalog: Catalog, maximise: str, minimise: str, space: Space | None
) -> Question:
    """Return what is solved, over which designs. Raises a ScenarioError where that cannot be answered."""
    plan = make_plan(scenario, catalog, check=False)  # errors of the design itself come first
    quantity = _wanted(scenario, maximise, minimise)
    if quantity.most and all(getattr(scenario.limits, key) is None for key in BOUNDED):
        raise ScenarioError([problem("limits", None, "solve.no limit")])
    if not quantity.most and not plan.demand.planned.value:
        raise ScenarioError([problem("groups", None, "solve.no workloads")])
    space = space or space_of(scenario, catalog)
    if quantity.path == TOTAL:  # does not say how many GPUs are of each kind of hosts
        space = replace(space, mixes=())
    return Question(scenario, quantity.counted(plan.demand.planned.value), space)


def _wanted(scenario: Scenario, maximise: str, minimise: str) -> Quantity:
    if maximise and minimise:
        raise ScenarioError([problem("minimise", minimise, "solve.both")])
    quantity = quantity_of(scenario, maximise or minimise or "cost")
    if (maximise and not quantity.most) or (minimise and quantity.most):
        raise ScenarioError([problem("minimise" if minimise else "maximise", quantity.key, "solve.sense")])
    return quantity


def _limited(scenario: Scenario, limits: dict[str, Any]) -> Scenario:
    problems: list[Problem] = []
    for name, value in limits.items():
        path = f"limits.{name}"
        try:
            text = ", ".join(value) if isinstance(value, list | tuple) else value
            read = None if value is None else parse_value(field_of(path), str(text), path)
            scenario = scenario.with_value(path, read)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return scenario


def _certified(search: Search, catalog: Catalog) -> Solution:
    binding = _bound_by(search)
    question, best = search.question, search.best
    scenario, space = question.scenario, question.space
    ranked = sorted(search.found.values(), key=search.rank)
    boards = {found.design.hosts.gpu: found for found in reversed(ranked)}
    missed: dict[str, Miss] = {}
    for design, miss in search.missed.items():
        if design.hosts.gpu not in boards and (miss.limits or design.hosts.gpu not in missed):
            missed[design.hosts.gpu] = miss
    for board, words in _bounded(search).items():
        missed.setdefault(board, Miss(reason=words))
    missed = {board: miss for board, miss in missed.items() if board not in boards}
    bound = search.bound
    solution = Solution(
        scenario,
        catalog,
        question.quantity,
        best,
        bound,
        best is not None and not (search.open or search.left or search.mixes_left),
        search.done,
        search.of,
        search.trials,
        search.mixes_left,
        found=tuple(sorted(boards.values(), key=search.rank)),
        missed=missed,
        left_out=space.left_out,
        scope=tuple(_scope(search)),
    )
    if best is None:
        return replace(solution, clash=clash_of(search))
    kind = _kind(best.design.hosts)
    runner_up = next((found for found in ranked if _kind(found.design.hosts) != kind), None)
    return replace(solution, runner_up=runner_up, binding=binding)


def _bounded(search: Search) -> dict[str, str]:
    """Return of each board that was not tried with every kind of hosts how far it can come at most."""
    quantity, most = search.question.quantity, dict[str, Bound]()
    for bound in search.beyond:
        board = bound.design.hosts.gpu
        most.setdefault(board, bound)
        if (bound.steps, -bound.least) > (most[board].steps, -most[board].least):
            most[board] = bound
    if quantity.most:
        return {
            b: said("solve.at most", value=number(quantity.value(each.steps))) for b, each in most.items()
        }
    currency = search.question.scenario.cost.currency
    return {
        b: said("solve.at least", value=amount(each.least, quantity.unit or currency))
        for b, each in most.items()
    }


def _kind(hosts: Candidate) -> tuple[str, int]:
    return hosts.gpu, hosts.gpus_per_host


def _bound_by(search: Search) -> tuple[Binding, ...]:
    """Return what binds the best design, after those found better thereby; nothing if the time is up."""
    while (best := search.best) and not search.late:
        binding = tuple(_binding(search, best))
        if search.best is best:
            return binding
    return ()


def _binding(search: Search, best: Found) -> Iterator[Binding]:
    """Yield the limits of which each alone keeps any design from one step more, with the least that it takes.

    A design that serves it within the limits, which the search had no time for, becomes the best.
    """
    quantity, met = search.question.quantity, {each.key: each for each in best.within}
    over = Counter(key for miss in search.last.values() for key in miss.limits if key in met)
    for key, _ in over.most_common():
        each = met[key]
        about = (key, each.name, each.limit, each.value)
        if not quantity.most:
            yield Binding(*about, None, each.unit)
            continue
        if best.steps == quantity.high or key not in BOUNDED:
            continue
        other = _one_more(search, best, each)
        if other.best and other.best.value <= float(each.limit):
            search.climb(other.best.design, best.steps + 1)
        elif other.best and not other.open:
            yield Binding(*about, other.best.value, each.unit)


def _one_more(search: Search, best: Found, limit: Within) -> Search:
    """Return the search for the design that serves one step more with the least of a limit, within the others."""
    question, steps, path = search.question, best.steps + 1, f"limits.{limit.key}"
    least = Quantity(limit.key, "", limit.key, limit.name, limit.unit, asked=steps)
    budget = question.scenario.limits.budget if limit.key == "budget_start" else None
    free = field_of(path).high if budget is None else budget  # more at the start than in all is refused
    scenario = question.quantity.at(question.scenario, steps).with_value(path, free)
    until = (time.monotonic() + search.until) / 2
    other = Search(
        replace(question, scenario=scenario, quantity=least), search.engine, None, until, search.units
    )
    left = [bound.design for bound in (*search.beyond, *search.open)]  # they may take less once it is raised
    other.run([best.design], [*search.last, *left])
    return other


def _scope(search: Search) -> Iterator[str]:
    """Yield what the certificate covers."""
    question, space = search.question, search.question.space
    boards, servers = len({hosts.gpu for hosts in space.hosts}), len({hosts.server for hosts in space.hosts})
    yield said(
        "solve.scope", hosts=len({(*_kind(h), h.server) for h in space.hosts}), boards=boards, servers=servers
    )
    if len(space.mixes) > search.mixes_left:
        yield said("solve.scope of mixes", mixes=len(space.mixes) - search.mixes_left)
    if len(views(question.scenario)) > 1:
        yield said("solve.scope of kinds")
