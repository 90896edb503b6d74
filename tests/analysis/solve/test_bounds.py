"""Bounds: hosts without workloads take no more than a plan, and no amount beyond a bound is within the limits."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpuplan import load_scenario
from gpuplan.analysis.solve.bounds import (
    Demands,
    ToBound,
    bare,
    bounds,
    hosts_for,
    least_with,
    measured_alone,
)
from gpuplan.analysis.solve.designs import Design, space_of
from gpuplan.analysis.solve.quantities import quantity_of
from gpuplan.analysis.solve.trial import Found, Question, least_planned, planned, tried, with_terms
from gpuplan.catalog import Catalog


@pytest.fixture(scope="module", params=["starter", "current"])
def question(request: pytest.FixtureRequest, catalog: Catalog) -> Question:
    scenario = load_scenario(request.param).with_value("limits.budget", 2e6).with_value("limits.power_kw", 40)
    boards = ["h100-nvl-94gb", "l40s-48gb", "h200-nvl-141gb"]
    whole = space_of(scenario, catalog, boards=boards)
    quantity = quantity_of(scenario, f"users:{scenario.groups[1].id}")
    return Question(scenario, quantity, replace(whole, links=(10, 25), terms=(1, 3, 5)))


def test_no_plan_takes_less_than_its_hosts_alone(question: Question, catalog: Catalog) -> None:
    looked = 0
    for hosts in [each for each in question.space.hosts if each.sharing == "as asked"][::4]:
        design = Design(hosts, 3)
        plan = planned(question, catalog, design, question.quantity.asked)
        if plan.totals.unplaced_vms:
            continue
        demands = Demands(question.scenario, catalog, [design])
        counted = hosts_for(demands.of(question.scenario), hosts)
        assert counted[0] <= plan.totals.hosts
        _, unit = measured_alone(catalog, (question, bare(hosts)))
        assert unit
        least, whole = least_with(unit, counted), least_planned(with_terms(plan, question.space))
        assert least and all(value <= whole[key] * (1 + 1e-9) for key, value in least.items())
        looked += 1
    assert looked >= 3


def test_nothing_beyond_a_bound_is_within_the_limits(question: Question, catalog: Catalog) -> None:
    designs = tuple(Design(hosts, 3) for hosts in question.space.hosts if hosts.gpu == "h100-nvl-94gb")[:3]
    units = dict(measured_alone(catalog, (question, bare(design.hosts))) for design in designs)
    for bound in bounds(catalog, ToBound(question, designs, units)):
        if bound.steps < question.quantity.high:
            assert not isinstance(tried(question, catalog, bound.design, bound.steps + 1), Found)


@pytest.mark.parametrize(
    ("gpus", "hosts"),
    [((7.5,), (3,)), ((8, 9, 9), (3, 4, 4)), ((9, 5), (4, 4)), ((0,), (0,)), ((3, math.inf), (2, math.inf))],
)
def test_hosts_hold_the_demand_and_the_spare_ones_and_stay(
    gpus: tuple[float, ...], hosts: tuple[int, ...], question: Question
) -> None:
    four = replace(question.space.hosts[0], gpus_per_host=4, host_failures=1)
    assert hosts_for(gpus, four) == hosts
