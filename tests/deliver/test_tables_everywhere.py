"""A column that is added to a topic's table in one place is in the terminal, on the screen and in every file that shows the table."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import openpyxl
import pytest
from random_cases import of_the_day
from summaries import brief_document, summary_of
from workbooks import content

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.document.docx_file import docx_bytes
from gpuplan.deliver.document.html_file import html_text
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.report import cost_text, plan_frames, plan_tables, plan_text
from gpuplan.report.exported import csv_text
from gpuplan.report.table import Cell, Column, Table, records, screen
from gpuplan.report.tables import availability, cost
from gpuplan.report.tables import plan as topics

LABEL, VALUE, SHOWN = "Cost per user", 7_319_731.0, "7\u202f319\u202f731"


def add_a_column(build: Callable[..., Table], monkeypatch: pytest.MonkeyPatch) -> None:
    """The table has a column more, before its last one, wherever a renderer looks it up."""

    def wide(*given: Any) -> Table:
        table = build(*given)
        last = len(table.columns) - 1
        columns = list(table.columns)
        columns.insert(last, Column("per_user", LABEL, "number"))
        rows = [[*row[:last], Cell(VALUE), *row[last:]] for row in table.rows]
        return replace(table, columns=tuple(columns), rows=tuple(map(tuple, rows)))

    modules = [
        module
        for name, module in sys.modules.items()
        if name.startswith(("gpuplan.report", "gpuplan.deliver"))
    ]
    for module in modules:
        for name, held in list(vars(module).items()):
            if held is build:
                monkeypatch.setattr(module, name, wide)
            elif name == "TABLES":
                for key in [key for key, each in held.items() if each is build]:
                    monkeypatch.setitem(held, key, wide)


def packed(content: bytes) -> str:
    """The text of the members of a file that is packed."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return "".join(file.read(name).decode() for name in file.namelist() if name.endswith(".xml"))


@pytest.mark.parametrize(
    "name",
    of_the_day(["groups", "postures", "prices", "materials", "cost_by_group", "cost_by_year"], few=3),
)
def test_a_column_more_is_found_everywhere(
    name: str, plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    builds = {
        "groups": topics.groups,
        "postures": availability.postures,
        "prices": cost.prices,
        "materials": cost.bill_of_materials,
        "cost_by_group": cost.cost_by_group,
        "cost_by_year": cost.cost_by_year,
    }
    plan = plans["enterprise"]
    add_a_column(builds[name], monkeypatch)
    table = plan_tables(plan)[name]
    assert {row["per_user"] for row in records(table)} == {VALUE}
    assert {float(row["per_user"]) for row in csv.DictReader(io.StringIO(csv_text(table)))} == {VALUE}
    assert set(plan_frames(plan)[name]["per_user"]) == {VALUE}
    assert LABEL in {head["text"] for head in screen(table)["heads"]}
    terminal = plan_text(plan) if name in ("groups", "postures") else cost_text(plan)
    assert SHOWN in terminal
    document = brief_document(plan)
    texts = [html_text(document), packed(docx_bytes(document))]
    if name == "postures":
        texts.append(packed(pptx_bytes(plan, summary_of(plan))))
    for text in texts:
        assert LABEL in text
        assert SHOWN in text
    sheets = openpyxl.load_workbook(io.BytesIO(content(plan)), data_only=True)
    found = {cell for sheet in sheets for row in sheet.iter_rows(values_only=True) for cell in row}
    assert {LABEL, VALUE} <= found


def test_a_column_more_stands_beside_its_own_part(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table has two rows called GPUs: what they cost, and below how many there are."""

    def wide(plan: Plan) -> Table:
        table = build(plan)
        columns = (*table.columns[:-1], Column("at", "At", "number"), table.columns[-1])
        rows = tuple((*row[:-1], at, row[-1]) for at, row in enumerate(table.rows))
        return replace(table, columns=columns, rows=rows)

    build, plan = cost.cost_by_year, plans["enterprise"]
    monkeypatch.setattr("gpuplan.deliver.xlsx.years.cost_by_year", wide)
    sheet = openpyxl.load_workbook(io.BytesIO(content(plan)), data_only=True)["Cost by year"]
    rows = [row for row in sheet.iter_rows(min_row=5, values_only=True) if row[-1] is not None]
    assert plan.costs is not None
    names = [part.name for part in plan.costs.parts]
    beside = {(row[0], row[-1]) for row in rows}
    assert beside == {
        *((name, at) for at, name in enumerate([*names, "All parts"])),
        ("GPU-hours used", len(names) + 3),
    }


def test_formulas_follow_their_columns(plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    """The formulas of the bill refer to the column of the price and of the quantity, wherever these stand."""
    before = formulas(plans["enterprise"])["GPUs"]
    assert "IF('Own prices'!$H$6" in before
    assert "$C$6*$G$6*(1-$H$6)" in before
    for build in (cost.prices, cost.bill_of_materials):

        def turned(plan: Plan, build: Callable[[Plan], Table] = build) -> Table:
            table = build(plan)
            columns = (Column("first", "First"), *table.columns)
            return replace(table, columns=columns, rows=tuple(("", *row) for row in table.rows))

        monkeypatch.setattr(f"gpuplan.deliver.xlsx.money.{build.__name__}", turned)
    after = formulas(plans["enterprise"])["GPUs"]
    assert "IF('Own prices'!$H$6" in after  # that sheet has columns of its own
    assert "$D$6*$H$6*(1-$I$6)" in after


def formulas(plan: Plan) -> dict[str, str]:
    """The formulas of each line of the bill by its part."""
    sheet = openpyxl.load_workbook(io.BytesIO(content(plan)))["Bill of materials"]
    found: dict[str, str] = {}
    for row in sheet.iter_rows(min_row=5, values_only=True):
        part = next(str(value) for value in row if value)
        found[part] = " ".join(str(value) for value in row if str(value).startswith("="))
    return found


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "assistant"])
def test_frames_join_by_their_keys(catalog: Catalog, name: str) -> None:
    plan = make_plan(load_scenario(name), catalog)
    frames = plan_frames(plan)
    groups, pools, placement = (frames[each] for each in ("groups", "pools", "placement"))
    assert groups["group_id"].is_unique and pools["cluster_id"].is_unique
    assert set(groups.merge(pools, on="pool_id")["group_id"]) == {g.id for g in plan.groups if g.vms_placed}
    assert len(placement.merge(pools[["cluster_id", "gpu"]], on="cluster_id")) == len(placement)
    placed = placement.merge(groups, on="group_id").groupby("group_id").vm.nunique()
    assert placed.to_dict() == {g.id: g.vms_placed for g in plan.groups if g.vms_placed}
    costs = groups.merge(frames["cost_by_group"], on="group_id")
    assert costs["total"].sum() == pytest.approx(frames["cost_by_group"]["total"].sum())
    paid = frames["cash_flow"].groupby("part").cost.sum()
    assert paid.to_dict() == pytest.approx({part.name: part.total for part in plan.costs.parts})


def test_groups_of_several_clusters_join_all_of_them(catalog: Catalog) -> None:
    several = load_scenario("enterprise").with_value("availability.hosts_per_cluster", 4)
    frames = plan_frames(make_plan(several, catalog))
    joined = frames["groups"].merge(frames["pools"], on="pool_id")
    assert frames["pools"]["cluster_id"].nunique() > 1
    assert joined.groupby("group_id").cluster_id.nunique().min() == len(frames["pools"])


def test_a_frame_has_its_units(catalog: Catalog) -> None:
    frames = plan_frames(make_plan(load_scenario("enterprise"), catalog))
    assert frames["cash_flow"].attrs["units"] == {"year": "1", "cost": "USD"}
    assert frames["postures"].attrs["units"]["hours_short"] == "h"
    assert frames["groups"].attrs["units"]["people"] == frames["pools"].attrs["units"]["hosts"] == "1"
    assert "value" not in frames["totals"].attrs["units"]  # each row names its own
    assert frames["token_costs"].columns[0] == frames["cost_by_group"].columns[0] == "group_id"
    assert "group" in frames["token_costs"] and "group" in frames["cost_by_group"]
    assert frames["pools"].attrs["labels"]["gpus_per_host"] == "GPUs per host"
