"""The tables of money agree with the plan, and add up."""

from __future__ import annotations

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report import cost_text
from gpuplan.report.table import Table, records, screen
from gpuplan.report.tables import cost, plan_tables, platform
from gpuplan.scenario import from_dict


def test_tables_of_cost_agree_with_the_plan(example: Plan, catalog: Catalog) -> None:
    costs = example.costs
    assert costs is not None
    years = records(plan_tables(example)["cost_by_year"])
    columns = list(years[0])
    assert columns[:2] == ["part", "at_start"]
    assert columns[-2:] == ["total", "basis"]
    for at in range(costs.years + 1):
        assert sum(row[columns[1 + at]] for row in years) == pytest.approx(costs.cash[at])
    assert sum(row["total"] for row in years) == pytest.approx(costs.total)
    for line in records(plan_tables(example)["materials"]):
        if line["cost"] is not None:
            each = line["unit_price"] * (1 - line["discount"])
            assert line["cost"] == pytest.approx(line["quantity"] * each)
    rows = records(plan_tables(example)["prices"])
    assert len(rows) == len(costs.prices) + len(costs.unknown)
    assert [row["key"] for row in rows if row["basis"] == "unknown"] == [item.key for item in costs.unknown]
    blank = plan_tables(make_plan(from_dict({}), catalog))
    assert [records(blank[name]) for name in ("materials", "cost_by_year", "prices")] == [[], [], []]


def test_the_totals_below_the_rows_are_those_of_the_plan(example: Plan) -> None:
    costs, use = example.costs, example.power
    assert costs is not None
    assert use is not None
    for table in (cost.cost_by_part(example), platform.power(use)):
        assert table.totals == 1
    by_part = cost.cost_by_part(example)
    assert sum(row["total"] for row in records(by_part)) == pytest.approx(by_part.rows[-1][1].value)
    assert sum(row["share"] or 0 for row in records(by_part)) == pytest.approx(1, abs=0.05)
    assert sum(row["total"] for row in records(cost.cost_by_group(example))) == pytest.approx(costs.total)
    low, high = (records(by_part)[0][end] for end in ("low", "high"))
    assert example.cost_ranges is not None and (low, high) == example.cost_ranges.parts[costs.parts[0].name]
    assert tuple(cell.value for cell in by_part.rows[-1][2:4]) == example.cost_ranges.total
    last = [cell.value for cell in list(cost.cost_by_year(example).cells())[-4]]
    assert last[1:-2] == list(costs.cash)


def test_a_margin_is_internal(catalog: Catalog) -> None:
    scenario = load_scenario("starter")
    assert cost.margin(make_plan(scenario, catalog)) is None
    table = cost.margin(make_plan(scenario.with_value("internal.margin", 0.2), catalog))
    assert table is not None
    for row in records(table):
        assert row["earned"] == pytest.approx(row["price"] - row["paid"])


def test_a_column_added_to_a_builder_is_in_terminal_and_screen(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from gpuplan.report.table import Column

    before = cost.cost_by_part

    def with_users(plan: Plan) -> Table:
        table = before(plan)
        return replace(
            table,
            columns=(*table.columns, Column("user", "Cost per user", "money")),
            rows=tuple((*row, 42.5) for row in table.rows),
        )

    monkeypatch.setattr(cost, "cost_by_part", with_users)
    assert "Cost per user" in cost_text(plans["starter"])
    assert "42.50" in cost_text(plans["starter"])
    assert screen(cost.cost_by_part(plans["starter"]))["heads"][-1]["text"] == "Cost per user"
