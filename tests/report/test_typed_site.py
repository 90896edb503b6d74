"""Names and addresses through a workbook: report, type, read back, report again."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import openpyxl
import pytest
from site_values import WRONG, all_typed

from gpuplan import Plan, Scenario, make_plan
from gpuplan.audit.trace import TraceError
from gpuplan.deliver import design_files
from gpuplan.report.site import site_fields
from gpuplan.report.typed_site import SHEET, typed_cells, with_typed
from gpuplan.scenario import ScenarioError, field_of


def workbook(plan: Plan) -> bytes:
    """The workbook of a design."""
    (content,) = design_files(plan, ["xlsx"]).values()
    return content


def typed_into(content: bytes, values: Mapping[str, Any]) -> io.BytesIO:
    """A workbook in which a person has typed some values, by the paths of their inputs."""
    book, out = openpyxl.load_workbook(io.BytesIO(content)), io.BytesIO()
    for row in book[SHEET].iter_rows(min_row=5):
        if row[8].value in values:
            row[4].value = values[row[8].value]
    book.save(out)
    return out


def read(content: bytes, plan: Plan, values: Mapping[str, Any]) -> Scenario:
    return with_typed(typed_into(content, values), plan, plan.scenario)


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_what_is_typed_is_in_the_next_workbook(plans: dict[str, Plan], name: str) -> None:
    plan = plans[name]
    full = all_typed(plan)
    values = {each.path: full.get(each.path) for each in site_fields(plan) if full.get(each.path)}
    taken = read(workbook(plan), plan, values)
    assert taken.site == full.site and taken.document == full.document
    again = workbook(make_plan(taken, plan.catalog))
    shown = {cell.path: cell.text for cell in typed_cells(io.BytesIO(again))}
    assert shown == {each.path: str(full.get(each.path) or "") for each in site_fields(plan)}
    assert with_typed(io.BytesIO(again), plan, taken) == taken


def test_other_sheets_refer_to_a_typed_name(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"].with_scenario(
        plans["enterprise"].scenario.with_value("site.host.vgpu-03.name", "esx-33")
    )
    book = openpyxl.load_workbook(io.BytesIO(workbook(plan)))
    formulas = [cell.value for row in book["Hosts"].iter_rows(min_row=5) for cell in row]
    named = [text for text in formulas if re.match(r"=IF\('[^']+'!", str(text))]
    assert len(named) == plan.totals.hosts
    values = openpyxl.load_workbook(io.BytesIO(workbook(plan)), data_only=True)["Hosts"]
    assert "esx-33" in {cell.value for row in values.iter_rows() for cell in row}


def test_an_empty_workbook_changes_nothing(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    stated = plan.scenario.with_value("site.dns.domain", "example.com")
    assert with_typed(io.BytesIO(workbook(plan)), plan, stated) == stated


def test_every_wrong_cell_is_refused_with_its_address(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    values = {
        each.path: wrong
        for each in site_fields(plan)
        if (
            wrong := next(
                (w for w in WRONG.get(field_of(each.path).kind, ()) if isinstance(w, str) and w), ""
            )
        )
    }
    with pytest.raises(ScenarioError) as refused:
        read(workbook(plan), plan, values)
    rows = {f"{SHEET}!E{at}": each.path for at, each in enumerate(site_fields(plan), 5)}
    assert {rows[problem.path] for problem in refused.value.problems} == set(values)
    assert all(problem.message for problem in refused.value.problems)


def test_another_file_is_refused(plans: dict[str, Plan]) -> None:
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active["A1"], book.active["I1"] = "C1", "nothing"
    book.save(out)
    for content, error in ((out.getvalue(), ScenarioError), (b"PK\3\4", TraceError), (b"", TraceError)):
        with pytest.raises(error):
            with_typed(io.BytesIO(content), plans["current"], plans["current"].scenario)


def test_a_part_that_the_design_has_no_more_is_left_alone(plans: dict[str, Plan]) -> None:
    larger, plan = plans["current"], plans["enterprise"]
    assert read(
        workbook(larger), plan, {"site.host.vgpu-10.serial": "S1", "site.dns.domain": "a.de"}
    ).site == (("dns.domain", "a.de"),)
