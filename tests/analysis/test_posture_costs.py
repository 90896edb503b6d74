"""What more or fewer hosts for failure cost and buy."""

from __future__ import annotations

import pytest

from gpuplan import Plan, make_plan
from gpuplan.analysis.posture_costs import posture_costs
from gpuplan.catalog import Catalog


def test_spare_hosts_are_priced_by_the_hours_that_they_remove(example: Plan, catalog: Catalog) -> None:
    found = posture_costs(example)
    assert [p.host_failures for p in found] == [0, 1, 2]
    assert [p.chosen for p in found].count(True) == 1
    for before, posture in zip((None, *found), found, strict=False):
        plan = make_plan(
            example.scenario.with_value("availability.host_failures", posture.host_failures), catalog
        )
        risk = next(p for p in plan.postures if p.chosen)
        assert plan.costs is not None
        assert (posture.hosts, posture.gpus) == (plan.totals.hosts, plan.totals.gpus)
        assert posture.net_present == plan.costs.net_present
        assert (posture.short_h, posture.exposed_h) == (risk.short_h, risk.exposed_h)
        if before is None:
            assert (posture.extra_cost, posture.hours_removed, posture.hour_price) == (0, 0, None)
        else:
            assert posture.extra_cost == pytest.approx(posture.net_present - before.net_present)
            assert posture.hours_removed >= plan.costs.years * (before.short_h - posture.short_h) - 1e-9
            assert posture.hour_price == pytest.approx(posture.extra_cost / posture.hours_removed)


def test_a_posture_beyond_two_is_shown_too(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = make_plan(plans["starter"].scenario.with_value("availability.host_failures", 4), catalog)
    assert [p.host_failures for p in posture_costs(plan)] == [0, 1, 2, 4]


def test_what_the_cost_of_each_posture_leaves_out(plans: dict[str, Plan]) -> None:
    found = posture_costs(plans["enterprise"])
    assert any("S5448F" in name for name in found[2].excludes)  # one host more takes larger switches
    assert not any("S5448F" in name for name in found[1].excludes)
