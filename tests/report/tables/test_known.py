"""What is to be confirmed, in words that a reader knows."""

from __future__ import annotations

import pytest

from gpuplan.plan import Plan, make_plan
from gpuplan.plan.known import unconfirmed
from gpuplan.report.table import records
from gpuplan.report.tables.known import confirmed_values, planning_values, stated_at
from gpuplan.scenario import FIELD_BY_PATH, field_of


@pytest.mark.parametrize("example", ["starter", "enterprise", "current"])
def test_every_planning_value_is_named_once_with_its_value(plans: dict[str, Plan], example: str) -> None:
    plan = plans[example]
    rows = records(planning_values(plan))
    assert [row["key"] for row in rows] == [key for key, _ in unconfirmed(plan)]
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names)
    assert not any("_" in name for name in names)
    assert all(row["shown"] for row in rows)
    worth = [row for row in rows if row["key"] == "assumptions/network-planning/worth_share"]
    assert [(row["shown"], row["range"]) for row in worth] in ([], [("80 %", "70 % to 90 %")])
    assert worth or example != "enterprise"


def test_an_input_stands_for_a_planning_value_once_it_is_stated(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert stated_at(plan, "assumptions/host-reliability/repair_h") == "availability.repair_h"
    assert stated_at(plan, "groups.hpc.people") == "groups.hpc.people"
    assert stated_at(plan, "network_workloads/resnet-50-train-32/waits") == ""
    assert plan.costs is not None
    price = next(each for each in plan.costs.prices if each.fact.basis == "assumed")
    assert stated_at(plan, price.fact.key) == f"prices.{price.key}"
    for key, _ in unconfirmed(plan):
        path = stated_at(plan, key)
        assert path in ("", *FIELD_BY_PATH) or field_of(path)


def test_what_is_confirmed_goes_from_one_table_to_the_other(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert not confirmed_values(plan).rows
    path = "groups.hpc.people"
    sure = make_plan(plan.scenario.confirmed(path, "Ms Ito"), plan.catalog)
    assert [row["key"] for row in records(confirmed_values(sure))] == [path]
    assert path not in {row["key"] for row in records(planning_values(sure))}
