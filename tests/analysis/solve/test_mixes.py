"""Mixes: two kinds of hosts are the answer where trying every pair says so."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from gpuplan import make_plan, solve
from gpuplan.analysis.option import unmet
from gpuplan.analysis.solve.designs import Design, space_of
from gpuplan.analysis.solve.search import Progress
from gpuplan.catalog import Catalog
from gpuplan.scenario import Group, Hardware, Scenario, ScenarioError


def test_a_mix_wins_where_it_is_the_cheapest(catalog: Catalog) -> None:
    whole_gpus: dict[str, Any] = {
        "use_case": "high-end-training",
        "people": 6,
        "gpus_each": 4,
        "access": "passthrough",
    }
    parts: dict[str, Any] = {"use_case": "dev-test", "people": 200, "gpus_each": 0.25}
    groups = (
        Group("whole", name="Whole", active_share=1.0, **whole_gpus),
        Group("parts", name="Parts", active_share=1.0, **parts),
    )
    hardware = Hardware(gpu="h100-nvl-94gb", server="dell-xe7745", gpus_per_host=8)
    scenario = Scenario(name="Two kinds of work", groups=groups, hardware=hardware)
    whole = space_of(scenario, catalog, boards=["h100-nvl-94gb", "h200-nvl-141gb"])
    hosts = [each for each in whole.hosts if each.sharing == "as asked" and each.gpus_per_host in (4, 8)]
    servers = {each.gpu: each.server for each in reversed(hosts)}
    hosts = [each for each in hosts if servers[each.gpu] == each.server]
    space = replace(whole, hosts=tuple(hosts), links=(25,), terms=(3,), mixes=(("parts",),))
    seen: list[Progress] = []
    result = solve(scenario, catalog, space=space, workers=1, seconds=math.inf, told=seen.append)
    costs = []
    for one, two in product(hosts, [None, *hosts]):
        design = Design(one, 3, two, ("parts",) if two else ())
        try:
            plan = make_plan(design.apply(scenario, catalog), catalog)
        except ScenarioError:
            continue
        if plan.costs and not [*unmet(plan, {})] and plan.standing.valid:
            costs.append((plan.costs.net_present, two))
    assert result.best and result.proven
    assert result.best.net_present == pytest.approx(min(cost for cost, _ in costs))
    assert result.best.design.apart is not None
    alone = [each.bound for each in seen if each.mixes_left and each.bound is not None]
    assert alone and max(alone) > result.best.net_present  # of one kind of hosts, and said so
    final = [each.bound for each in seen if not each.mixes_left and each.bound is not None]
    assert all(bound <= result.best.net_present for bound in final)
    assert result.mixes_left == 0 and result.done == result.of
