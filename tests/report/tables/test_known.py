"""What is to be confirmed, in words that a reader knows."""

from __future__ import annotations

import pytest

from gpuplan.plan import Plan, make_plan
from gpuplan.plan.known import unconfirmed
from gpuplan.report.table import records
from gpuplan.report.tables.known import assumption_log, planning_values, stated_at
from gpuplan.scenario import FIELD_BY_PATH, field_of, from_dict


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
    assert not assumption_log(plan).rows
    path = "groups.hpc.people"
    sure = make_plan(plan.scenario.confirmed(path, "Ms Ito, 2026-11-23"), plan.catalog)
    (row,) = records(assumption_log(sure))
    assert (row["key"], row["by"], row["day"], row["withdrawn"]) == (path, "Ms Ito", "2026-11-23", "")
    assert path not in {row["key"] for row in records(planning_values(sure))}


@pytest.mark.parametrize(
    ("note", "by", "day"),
    [
        ("", "", ""),
        ("Ms Ito", "Ms Ito", ""),
        ("2026-11-23", "", "2026-11-23"),
        ("Rao, J., by phone, 2026-11-23", "Rao, J., by phone", "2026-11-23"),
    ],
)
def test_the_log_says_who_when_and_what_was_withdrawn(
    plans: dict[str, Plan], note: str, by: str, day: str
) -> None:
    scenario, path = plans["enterprise"].scenario, "groups.hpc.people"
    sure = scenario.confirmed(path, note)
    assert sure.confirmations == ((path, by, day, ""),)
    doubted = sure.doubted(path, "2026-12-01")
    assert doubted.confirmations == ((path, by, day, "2026-12-01"),) and not doubted.is_confirmed(path)
    assert doubted.origin(path).note.startswith(scenario.origin(path).note)  # why it is assumed still stands
    assert from_dict(doubted.to_dict()) == doubted
    again = doubted.confirmed(path, "Ms Ono, 2026-12-02")
    assert again.is_confirmed(path) and from_dict(again.to_dict()) == again
    latest, first = again.doubted(path, "2026-12-03").confirmations
    assert latest == (path, "Ms Ono", "2026-12-02", "2026-12-03") and first == (path, by, day, "2026-12-01")
    assert sure.doubted(path) == scenario
    assert len(unconfirmed(make_plan(doubted, plans["enterprise"].catalog))) == len(
        unconfirmed(plans["enterprise"])
    )
