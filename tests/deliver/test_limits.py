"""Limits in the customer's files: the same values, shares and excess in document, deck and workbook, and nothing without limits."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from docx import Document as opened_docx
from pptx import Presentation
from workbooks import LIVE, book, converted, find, live_part

from gpuplan import Plan, load_catalog, load_scenario, make_plan
from gpuplan.deliver import design_files
from gpuplan.deliver.document import design_document
from gpuplan.deliver.document.blocks import Figure, Grid, Paragraph
from gpuplan.deliver.executive import Executive, executive
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.plan.limits import Within
from gpuplan.report.limits import limits_exceeded, limits_svg, within_words
from gpuplan.wording import NAMES, said

CATALOG = load_catalog()
AMOUNTS = ("budget", "budget_start", "power_kw", "cooling_kw", "racks", "ports", "co2_t")
KEPT = NAMES["limit kept"]
SHARES = {"met": 1.0, "below": 1.25, "over": 0.8}


def limited(**limits: Any) -> Plan:
    scenario = load_scenario("starter")
    for name, value in limits.items():
        scenario = scenario.with_value(f"limits.{name}", value)
    return make_plan(scenario, CATALOG)


@pytest.fixture(scope="module")
def values() -> dict[str, float]:
    """What the design takes of each limit."""
    plan = limited(**dict.fromkeys(AMOUNTS, 1))
    return {each.key: float(str(each.value)) for each in plan.within}


@pytest.fixture(scope="module")
def designs(values: dict[str, float]) -> dict[str, Plan]:
    """The design with limits that are just met, that leave room, and that it exceeds; and with some that are not known."""
    whole = ("racks", "ports")
    found = {}
    for name, share in SHARES.items():
        parts = {key: value * share if key not in whole else value for key, value in values.items()}
        if name == "over":
            parts |= {key: values[key] - 1 for key in whole}
        found[name] = limited(**parts)
    found["unknown"] = limited(delivery_weeks=16, rack_units=40, boards="l40s-48gb", vendors="Dell")
    return found


@pytest.fixture(scope="module")
def summary() -> Executive:
    return executive(limited())


def by_key(plan: Plan) -> dict[str, Within]:
    return {each.key: each for each in plan.within}


def test_limits_are_met_exactly_and_exceeded_exactly(designs: dict[str, Plan]) -> None:
    assert {each.met for each in designs["over"].within} == {False}
    assert False not in {each.met for name in ("met", "below") for each in designs[name].within}
    assert by_key(designs["unknown"])["boards"].met is False


@pytest.mark.parametrize("name", ["met", "over", "unknown"])
def test_the_document_has_a_chapter_of_them(designs: dict[str, Plan], summary: Executive, name: str) -> None:
    plan = designs[name]
    made = design_document(plan, summary=summary)
    chapter = next(each for each in made.chapters if each.title == said("limits.title"))
    lead, figure, grid = chapter.blocks[:3]
    assert isinstance(lead, Paragraph) and lead.text == within_words(plan)
    assert isinstance(figure, Figure) and figure.svg == limits_svg(plan)
    assert isinstance(grid, Grid) and [row[0] for row in grid.rows] == [each.name for each in plan.within]


def test_the_document_names_the_change_that_keeps_each_limit(
    designs: dict[str, Plan], summary: Executive
) -> None:
    found = {}
    for name in ("met", "over"):
        made = design_document(designs[name], summary=summary)
        chapter = next(each for each in made.chapters if each.title == said("limits.title"))
        found[name] = [str(block) for section in chapter.sections for block in section.blocks]
    assert found["met"] == []
    (block,) = found["over"]
    assert all(each.name in block for each in designs["over"].within)


def test_without_limits_no_file_speaks_of_them(summary: Executive) -> None:
    plan = limited()
    assert said("limits.title") not in {
        each.title for each in design_document(plan, summary=summary).chapters
    }
    assert "Limits" not in book(plan, summary).sheetnames
    assert plan.within == ()


def test_the_first_page_says_what_is_exceeded(designs: dict[str, Plan]) -> None:
    plan = designs["over"]
    files = design_files(plan, ("html", "docx", "xlsx"))
    assert files == design_files(plan, ("html", "docx", "xlsx"))
    line = limits_exceeded(plan)
    html, docx, xlsx = (files[f"starter-example.{kind}"] for kind in ("html", "docx", "xlsx"))
    text = html.decode()
    assert line in text and said("limits.title") in text
    paragraphs = [each.text for each in opened_docx(io.BytesIO(docx)).paragraphs]
    assert paragraphs.index(line) < paragraphs.index(said("limits.title"))
    first = openpyxl.load_workbook(io.BytesIO(xlsx))["Overview"]
    assert line in {cell.value for row in first.iter_rows() for cell in row}


def test_the_slide_has_the_shares_and_the_others_in_words(
    designs: dict[str, Plan], summary: Executive
) -> None:
    for name in ("over", "below"):
        plan = designs[name]
        show = Presentation(io.BytesIO(pptx_bytes(plan, summary)))
        slide = next(each for each in show.slides if "limits" in each.shapes.title.text)
        (chart,) = [shape.chart for shape in slide.shapes if shape.has_chart]
        (plot,) = chart.plots
        beyond, inside = plot.series
        shares = {each.name: each.share for each in plan.within}
        assert dict(zip(plot.categories, beyond.values, strict=True)) == pytest.approx(shares)
        assert all(
            value == min(1.0, share) for value, share in zip(inside.values, beyond.values, strict=True)
        )


@pytest.mark.parametrize("name", ["met", "below", "over", "unknown"])
def test_the_sheet_has_the_values_of_the_plan(
    designs: dict[str, Plan], summary: Executive, name: str
) -> None:
    plan = designs[name]
    sheet = book(plan, summary)["Limits"]
    for each in plan.within:
        row = [cell.value for cell in sheet[find(sheet, each.name)]]
        assert row[6] == KEPT[str(each.met)]
        if each.share is not None:
            assert row[1:3] == pytest.approx([each.value, each.limit])
            assert [row[4], row[5]] == pytest.approx([each.share, each.over or 0])


@pytest.mark.filterwarnings("ignore:.* extension is not supported")  # of bars in cells
def test_limits_that_are_changed_are_counted_again(
    designs: dict[str, Plan], values: dict[str, float], summary: Executive, tmp_path: Path
) -> None:
    """Each limit exactly at the value is kept, and a little below it is exceeded, also after the cost was calculated again."""
    at = {"below": 1 + 1e-10, "over": 0.5}
    files, rows = {}, dict[str, dict[str, int]]()
    for name, share in at.items():
        file = live_part(designs["over" if name == "below" else "met"], summary, (*LIVE, "Limits"))
        sheet = file["Limits"]
        rows[name] = {each.key: find(sheet, each.name) for each in designs["met"].within}
        for key, row in rows[name].items():
            assert not sheet.cell(row, 3).protection.locked
            sheet.cell(row, 3).value = values[key] * share
        buffer = io.BytesIO()
        file.save(buffer)
        files[f"{name}.xlsx"] = buffer.getvalue()
    known = {each.key: each.met for each in designs["below"].within}
    for name, path in zip(at, converted(tmp_path, files, "xlsx").values(), strict=True):
        sheet = openpyxl.load_workbook(path, data_only=True)["Limits"]
        for key, row in rows[name].items():
            assert sheet.cell(row, 2).value == pytest.approx(values[key])
            assert sheet.cell(row, 5).value == pytest.approx(1 / at[name])
            assert sheet.cell(row, 7).value == KEPT[str(known[key] if name == "below" else False)], key
