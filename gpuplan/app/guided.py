"""A guided start: a first design from the workloads, the users of each, and the location."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

from gpuplan.analysis.candidates import default_space, imprecise
from gpuplan.app.groups import added
from gpuplan.app.typed import as_typed
from gpuplan.catalog import Catalog
from gpuplan.locales import locale_of
from gpuplan.plan import make_plan
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.llm import TUNING
from gpuplan.scenario import Origin, Problem, Scenario, ScenarioError, field_of, from_dict, parse_value

WHERE = ("hardware.gpu", "hardware.server", "availability.host_failures")
"""Inputs for the location; one that is left open is suggested."""
PER_HOST = "hardware.gpus_per_host"
SUGGESTED = Origin("assumed", "gpuplan-method", note="suggested, not yet confirmed")


class Answers(NamedTuple):
    """Answers as typed; an empty one leaves the choice to the planning values."""

    counts: Mapping[str, str]
    """Workload kind -> its number of users, or of jobs a day."""
    where: Mapping[str, str]


def count_of(catalog: Catalog, use_case: str) -> tuple[str, object]:
    """Return the input for the size of a workload kind, and its planning value."""
    scenario = added(from_dict({}), catalog, use_case)
    path = f"groups.{scenario.groups[0].id}.{'jobs_per_day' if use_case == TUNING else 'people'}"
    return path, scenario.get(path)


def first_design(catalog: Catalog, answers: Answers) -> Scenario:
    """Return a design from the answers; ScenarioError names each one that cannot be read."""
    scenario, problems = from_dict({}), list[Problem]()
    for use_case in answers.counts:
        scenario = added(scenario, catalog, use_case)
    counts = {count_of(catalog, use_case)[0]: text for use_case, text in answers.counts.items()}
    for path, text in (*counts.items(), *((path, answers.where.get(path, "")) for path in WHERE)):
        if not text.strip():
            continue
        try:
            typed = as_typed(path, text, locale_of(scenario), scenario.cost.currency)
            scenario = scenario.with_value(path, parse_value(field_of(path), typed, path))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return _suggested(scenario, catalog, [path for path in WHERE if not answers.where.get(path)])


def _suggested(scenario: Scenario, catalog: Catalog, left_open: list[str]) -> Scenario:
    """Return the first board and server that can run all of it, the planning values first; chosen values stay."""
    space, hardware = default_space(scenario, catalog), scenario.hardware
    precise = tuple(gpu for gpu in space.gpus if not imprecise(gpu, scenario, catalog))
    gpus = (precise or space.gpus) if "hardware.gpu" in left_open else (hardware.gpu,)
    servers = space.servers if "hardware.server" in left_open else (hardware.server or "",)
    for gpu, server in product(gpus, servers):
        fit = fit_of(catalog, server, gpu)
        if fit is None:
            continue
        per_host = fit.gpus if fit.whole else min(fit.gpus, hardware.gpus_per_host)
        made = scenario
        for path, value in (("hardware.gpu", gpu), ("hardware.server", server), (PER_HOST, per_host)):
            if path in (*left_open, PER_HOST) and made.get(path) != value:
                made = made.with_value(path, value).with_origin(path, SUGGESTED)
        if _runs(made, catalog):
            return made
    return scenario


def _runs(scenario: Scenario, catalog: Catalog) -> bool:
    """True if a design can be planned and every VM has its GPU."""
    try:
        return make_plan(scenario, catalog).totals.unplaced_vms == 0
    except ValueError:
        return False
