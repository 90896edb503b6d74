"""The best design within limits in the customer's files: its certificate, what binds, and what each budget buys."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from pptx import Presentation
from solved import small_scenario, solution
from workbooks import converted

from gpuplan import Plan, load_catalog, make_plan
from gpuplan.analysis.same_work import same_work
from gpuplan.analysis.solve import Frontier
from gpuplan.cli import main
from gpuplan.deliver import design_files
from gpuplan.deliver.document import design_document
from gpuplan.deliver.document.blocks import Bullets, Figure, Grid, Section
from gpuplan.deliver.executive import Executive, executive
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.deliver.xlsx import xlsx_bytes
from gpuplan.report.explore_report import boards_dict
from gpuplan.report.solve_report import answer, solution_dict
from gpuplan.wording import said

CATALOG = load_catalog()


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """The most users for a budget, and one design for each board as what the budgets buy."""
    best = solution(CATALOG, budget=1.2e6)
    return solution_dict(best, Frontier(best.scenario, best.quantity, best.found, complete=True))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(small_scenario().with_value("limits.budget", 1.2e6), CATALOG)


@pytest.fixture(scope="module")
def summary(plan: Plan, found: dict[str, Any]) -> Executive:
    return replace(executive(plan), solution=found)


def sections(plan: Plan, summary: Executive) -> dict[str, Section]:
    made = design_document(plan, summary=summary)
    chapter = next(each for each in made.chapters if each.title == said("limits.title"))
    return {section.title: section for section in chapter.sections}


def test_the_document_has_the_certificate_and_every_point(
    plan: Plan, found: dict[str, Any], summary: Executive
) -> None:
    parts = sections(plan, summary)
    lead, bullets, *_ = parts[said("limits.most")].blocks
    assert [lead.text, *bullets.items] == answer(found)  # type: ignore[union-attr]
    assert isinstance(bullets, Bullets)
    figure, grid = parts[said("limits.curve")].blocks[:2]
    assert isinstance(figure, Figure) and isinstance(grid, Grid)
    assert len(grid.rows) == len(found["frontier"]["points"])
    boards = parts[said("limits.boards")].blocks[0]
    assert isinstance(boards, Grid) and len(boards.rows) == len(found["designs"])


def test_without_a_solution_there_are_the_limits_only(plan: Plan) -> None:
    assert not sections(plan, executive(plan)).keys() - {said("limits.mend")}
    assert (
        "Best within limits"
        not in openpyxl.load_workbook(io.BytesIO(xlsx_bytes(plan, executive(plan)))).sheetnames
    )


def test_the_slide_says_what_the_budget_buys(plan: Plan, found: dict[str, Any], summary: Executive) -> None:
    show = Presentation(io.BytesIO(pptx_bytes(plan, summary)))
    amount = f"{found['best']['value']:g} users"
    (slide,) = [each for each in show.slides if amount in each.shapes.title.text]
    (chart,) = [shape.chart for shape in slide.shapes if shape.has_chart]
    (series,) = chart.plots[0].series
    assert list(series.values) == [design["net_present"] for design in found["frontier"]["points"]]
    assert all(text in slide.notes_slide.notes_text_frame.text for text in answer(found)[1:])


@pytest.mark.filterwarnings("ignore:.* extension is not supported")  # of bars in cells
def test_the_sheet_has_the_points_and_their_chart(
    plan: Plan, found: dict[str, Any], summary: Executive, tmp_path: Path
) -> None:
    made = xlsx_bytes(plan, summary)
    (path,) = converted(tmp_path, {"book.xlsx": made}, "xlsx").values()
    for file in (io.BytesIO(made), path):
        sheet = openpyxl.load_workbook(file, data_only=True)["Best within limits"]
        rows = list(
            sheet.iter_rows(min_row=6, max_row=5 + len(found["frontier"]["points"]), values_only=True)
        )
        for row, design in zip(rows, found["frontier"]["points"], strict=True):
            assert row[0] == design["label"]
            assert row[1:5] == pytest.approx(
                [design[key] for key in ("value", "hosts", "gpus", "net_present")]
            )
        assert len(sheet._charts) == 1


def test_no_design_within_the_limits_is_explained(plan: Plan) -> None:
    none = solution(CATALOG, budget=1_000)
    data = solution_dict(none)
    parts = sections(plan, replace(executive(plan), solution=data))
    assert data["best"] is None and data["clash"]["limits"] == ["Budget"]
    text = json.dumps([str(block) for block in parts[said("limits.most")].blocks])
    assert all(sentence in text for sentence in answer(data))
    files = design_files(plan, ("pptx", "xlsx"), solution=data)
    assert files == design_files(plan, ("pptx", "xlsx"), solution=data)


def test_the_command_takes_an_answer_that_was_found_before(
    found: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design, answered = tmp_path / "small.yaml", tmp_path / "answer.json"
    design.write_text(small_scenario("").to_yaml(), encoding="utf-8")
    answered.write_text(json.dumps(found), encoding="utf-8")
    report = ["report", str(design), "--to", str(tmp_path), "--only", "pptx", "--solution"]
    assert main([*report, str(answered)]) == 0
    show = Presentation(str(tmp_path / "small.pptx"))
    assert any(f"{found['best']['value']:g} users" in each.shapes.title.text for each in show.slides)
    for bad, text in ((answered, "[]"), (tmp_path / "none.json", None)):
        if text is not None:
            bad.write_text(text, encoding="utf-8")
        assert main([*report, str(bad)]) == 2
        assert "--solution" in capsys.readouterr().err


def test_boards_for_the_same_work_are_told_where_they_were_compared(plan: Plan) -> None:
    cards = same_work(plan.scenario, CATALOG, ("l40s-48gb", "h100-nvl-94gb"))
    found = boards_dict(cards, plan.scenario)
    with_boards = replace(executive(plan), boards=found)
    chapters = design_document(plan, summary=with_boards).chapters
    section = next(
        each for chapter in chapters for each in chapter.sections if each.title == said("cost.boards")
    )
    designs, works = (block for block in section.blocks if isinstance(block, Grid))
    assert [row[0] for row in designs.rows] == [card.name for card in cards]
    assert len(works.rows) == sum(len(card.works) for card in cards)
    assert "Boards" in openpyxl.load_workbook(io.BytesIO(xlsx_bytes(plan, with_boards))).sheetnames
