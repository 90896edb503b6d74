"""What other programs get of a table."""

from __future__ import annotations

import csv
import io

import pytest
from costs_table import COSTS

from gpuplan import ScenarioError, load_scenario, make_plan, sweep
from gpuplan.catalog import Catalog
from gpuplan.report.exported import csv_text, frame
from gpuplan.report.table import Column, Table, records


def test_programs_get_what_was_not_rounded() -> None:
    assert records(COSTS)[0] == {"part": "GPUs", "total": 1_234_567.4, "share": 0.25, "sources": ("a", "b")}
    assert next(csv.DictReader(io.StringIO(csv_text(COSTS))))["total"] == "1234567.4"
    assert frame(COSTS)["total"][0] == 1_234_567.4


def test_no_cell_is_a_formula_to_a_spreadsheet() -> None:
    table = Table(
        "cells", (Column("a", "A"), Column("b", "B", "yes")), (("=1+1", True), (("x", "y"), False)), title=""
    )
    assert csv_text(table).splitlines() == ["a,b", "'=1+1,yes", "x; y,no"]


PEOPLE = "groups.researchers.people"


def test_a_sweep_is_what_a_plan_says_at_each_value(catalog: Catalog) -> None:
    asked = load_scenario("enterprise")
    found = sweep(asked, PEOPLE, [3, 6], catalog)
    for value, row in found.set_index("value").iterrows():
        plan = make_plan(asked.with_value(PEOPLE, value), catalog)
        assert plan.costs is not None
        assert (row.hosts, row.gpus, row.net_present) == (
            plan.totals.hosts,
            plan.totals.gpus,
            plan.costs.net_present,
        )
        assert row.power_w == plan.lines["power.typical"].value
    assert found.attrs["units"]["net_present"] == "USD" and list(found.refused) == ["", ""]


def test_what_is_refused_says_why_and_a_path_that_is_not_there_is_refused(catalog: Catalog) -> None:
    found = sweep(make_plan(load_scenario("enterprise"), catalog), PEOPLE, [3, -1])
    assert list(found.hosts.isna()) == [False, True] and "people" in found.refused[1]
    with pytest.raises(ScenarioError, match="people"):
        sweep("enterprise", "groups.researchers.peopel", [3], catalog)
