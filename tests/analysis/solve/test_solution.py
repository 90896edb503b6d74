"""Solutions: what they say of themselves, with the design that they stand for."""

from __future__ import annotations

import math
from dataclasses import replace

from gpuplan import load_scenario, solve
from gpuplan.analysis.solve.designs import space_of
from gpuplan.catalog import Catalog


def test_a_solution_stands_for_its_plan(catalog: Catalog) -> None:
    scenario = load_scenario("starter")
    whole = space_of(scenario, catalog, boards=["l40s-48gb"])
    space = replace(whole, hosts=whole.hosts[:2], links=(10,), terms=(3,))
    found = solve(scenario, catalog, space=space, workers=1, seconds=math.inf, budget=5e6)
    assert found.best and found.plan and found.design and found.plan.costs
    assert found.gap == 0 and found.best.value == found.bound == found.plan.costs.net_present
    assert (found.best.hosts, found.best.gpus) == (found.plan.totals.hosts, found.plan.totals.gpus)
    assert set(found.gave) >= {"hardware.gpu"} or found.best.design.hosts.gpu == scenario.hardware.gpu
    assert "proven" in repr(found)
    empty = replace(found, best=None, bound=None)
    assert empty.design is None and empty.plan is None and empty.gap is None
