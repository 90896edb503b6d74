"""The tables of purchases: each way and each order once, with the words that name what they rest on."""

from __future__ import annotations

from approved import is_approved

from gpuplan import Plan
from gpuplan.analysis.purchases import PLANNED, purchase_ways
from gpuplan.deliver.executive import decisions
from gpuplan.report import plan_frames
from gpuplan.report.table import records, texts
from gpuplan.report.tables import purchases as tables


def test_the_ways_stand_side_by_side_and_the_best_one_is_strong(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    found, table = purchase_ways(plan), tables.purchases(plan)
    rows = records(table)
    assert [row["planned"] for row in rows] == [way.costs[PLANNED] for way in (*found.ways, found.least)]
    assert [row["regret"] for row in rows] == [*(way.regret for way in found.ways), None]
    for row, way in zip(rows, found.ways, strict=False):
        assert (
            row["best"]
            == min(way.costs.values())
            <= row["planned"]
            <= row["worst"]
            == max(way.costs.values())
        )
        assert row["short"] == way.short
    strong = [cells[0].value for cells in table.cells() if cells[0].tone == "strong"]
    assert strong == [tables.WAY_NAMES[found.chosen.key]]
    assert texts(table)[1][1] == "10 \u2192 19"
    short = [cells[-1].tone for cells in table.cells()]
    assert short == ["bad" if way.short else "" for way in (*found.ways, found.least)]  # never hidden
    assert is_approved(" ".join(table.notes), "85", "2026-11-09")


def test_each_order_has_its_day_board_and_price(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    rows = records(tables.purchase_steps(plan))
    assert len(rows) == sum(len(way.steps) for way in purchase_ways(plan).ways)
    order = next(each for each in decisions(plan) if each.code.endswith("order"))
    assert rows[0]["order_by"] == order.due
    assert {row["board"] for row in rows} == {"H100 NVL 94GB"} and {row["lead_weeks"] for row in rows} == {52}


def test_without_growth_the_tables_are_empty_and_say_why(plans: dict[str, Plan]) -> None:
    plan = plans["starter"]
    assert tables.growth_tables(plan) == {} and tables.purchases(plan).notes == (purchase_ways(plan).why,)
    frames = plan_frames(plan)
    assert len(frames["purchases"]) == len(frames["purchase_steps"]) == 0
    assert len(plan_frames(plans["current"])["purchases"]) == 5
