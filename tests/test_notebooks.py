"""Notebooks are thin, and what nbval compares exists."""

from __future__ import annotations

import ast
import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpuplan import load_catalog
from gpuplan.app.state import STEPS
from gpuplan.facts import own_rows
from gpuplan.report.plot import MIME

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS if path.stem != "workbook"]
TAUGHT = CHAPTERS[:10]
"""Chapters that are written around a question of a learner; the last one goes through a task."""
CHECKED = {"keep_output", "nbval-check-output"}


def cells(path: Path, kind: str = "code") -> list[dict]:
    return [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == kind]


def source(cell: dict) -> str:
    return "".join(cell["source"])


def test_there_are_a_workbook_and_a_chapter_for_each_topic() -> None:
    assert [p.name for p in NOTEBOOKS] == [
        "00_user_guide.ipynb",
        "01_two_worked_designs.ipynb",
        "02_sharing_and_placement.ipynb",
        "03_demand_and_waiting.ipynb",
        "04_network.ipynb",
        "05_cost_and_choice.ipynb",
        "06_availability.ipynb",
        "07_python_for_analysts.ipynb",
        "08_language_models.ipynb",
        "09_your_own_notebook.ipynb",
        "10_from_log_to_signed_design.ipynb",
        "workbook.ipynb",
    ]


def test_workbook_is_a_title_and_one_call() -> None:
    path = ROOT / "notebooks" / "workbook.ipynb"
    assert [source(c) for c in cells(path, "markdown")] == ["# gpuplan workbook"]
    assert [source(c) for c in cells(path)] == ["from gpuplan.app import workbook\n\nworkbook()"]
    assert path.stat().st_size < 3_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_code_is_short_and_defines_nothing(path: Path) -> None:
    for cell in cells(path):
        text = source(cell)
        assert len(text.splitlines()) <= 12
        assert not re.search(r"^\s*(def|class|import os|lambda)\b", text, re.M)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_no_formula_needs_mathjax_and_no_widget_state_is_stored(path: Path) -> None:
    assert "widgets" not in json.loads(path.read_text(encoding="utf-8"))["metadata"]
    assert not any("$" in source(c) for c in cells(path, "markdown"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_chapters_have_outputs_that_nbval_compares(path: Path) -> None:
    checked = [c for c in cells(path) if set(c["metadata"].get("tags", [])) >= CHECKED]
    assert len(checked) >= 5
    for cell in checked:
        assert cell["execution_count"] is not None, "nbval does not compare a cell that was never run"
        assert any("".join(o.get("text", "")).strip() or o.get("data") for o in cell["outputs"])
    for cell in cells(path):
        if cell not in checked:
            assert cell["outputs"] == [], "an output that nobody compares may be wrong"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_chapters_have_live_widgets(path: Path) -> None:
    assert any(re.search(r"^workbook\(|design\.(workbook|widget)\(", source(c), re.M) for c in cells(path))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_cells_show_things_and_print_only_what_is_refused(path: Path) -> None:
    assert all(source(c).startswith("try:") for c in cells(path) if "print(" in source(c))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_chapters_have_a_slider_with_a_chart_and_a_step_that_follow_and_a_picture_that_stays(
    path: Path,
) -> None:
    code = "\n".join(source(c) for c in cells(path))
    assert all(re.search(rf"design\.({what})\(", code) for what in ("slider", r"chart|plot\.\w+", "widget"))
    bundles = [o["data"] for c in cells(path) for o in c["outputs"] if "data" in o]
    assert any({MIME, "image/png"} <= set(bundle) for bundle in bundles)
    assert "http" not in "".join(json.dumps(bundle.get(MIME, "")) for bundle in bundles)


@pytest.mark.parametrize("path", TAUGHT, ids=lambda p: p.stem)
def test_a_chapter_answers_a_question_with_inputs_to_move_and_an_exercise(path: Path) -> None:
    texts = [source(c) for c in cells(path, "markdown")]
    code = [source(c) for c in cells(path)]
    assert re.match(r"# .+\?\n", texts[0])
    assert len(code) <= 25
    assert len(re.findall(r"design\.(?:slider|choice)\(", "\n".join(code))) >= 4
    assert any("## Exercise" in text and "<details>" in text for text in texts)
    assert not [text for text in code if '"""' in text or "parse_scenario" in text]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_charts_of_a_notebooks_own_ask_no_other_host(path: Path) -> None:
    code = "\n".join(source(c) for c in cells(path))
    assert "import altair" not in code or "offline()" in code


def test_the_guide_leads_to_every_step_and_to_buttons_that_exist() -> None:
    path = ROOT / "notebooks" / "00_user_guide.ipynb"
    guide = "\n".join(source(c) for c in cells(path, "markdown"))
    assert all(title.lower() in guide.lower() for _, title in STEPS)
    app = ROOT / "gpuplan" / "app"
    drawn = "".join(
        file.read_text(encoding="utf-8")
        for file in (*app.parent.glob("widgets/static/[!v]*.js"), *app.glob("steps/*.py"))
    )
    named = set(re.findall(r"\*\*([A-Z][\w ]+)\*\*", guide))
    buttons = named - {"The strip", "The steps", "The bar", "Print"}
    assert len(buttons) == 7
    for button in buttons - {row["text"] for row in own_rows("words/screen")}:
        assert f'"{button}"' in drawn, button


def test_the_network_chapter_shows_every_published_row() -> None:
    path = ROOT / "notebooks" / "04_network.ipynb"
    bundles = [o["data"] for c in cells(path) for o in c["outputs"] if "data" in o]
    drawn = {
        row["id"]
        for b in bundles
        for rows in b.get(MIME, {}).get("datasets", {}).values()
        for row in rows
        if "id" in row
    }
    catalog = load_catalog()
    published = {
        row.id for name in ("training_times", "stun_times", "remote_times") for row in catalog.rows(name)
    }
    assert published <= drawn
    assert "NOT MET" not in "".join("".join(b.get("text/html", "")) for b in bundles)


def named(node: ast.AST, where: type[ast.expr_context]) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, where)}


def defined(path: Path, wanted: set[str]) -> dict[str, Any]:
    """The names that a chapter defines, by its imports and by those of its assignments that these names take."""
    statements = [each for c in cells(path) for each in ast.parse(source(c)).body]
    assigned = [each for each in statements if isinstance(each, ast.Assign)]
    while (
        more := {n for each in assigned if named(each, ast.Store) & wanted for n in named(each, ast.Load)}
        - wanted
    ):
        wanted |= more
    taken = [
        e
        for e in statements
        if isinstance(e, ast.Import | ast.ImportFrom) or (named(e, ast.Store) & wanted and e in assigned)
    ]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(taken, []), path.name, "exec"), names)
    return names


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_the_answers_of_exercises_are_right(path: Path) -> None:
    folded = [source(c) for c in cells(path, "markdown") if "<details>" in source(c)]
    code = "\n".join(text for each in folded for text in re.findall(r"```python\n(.*?)```", each, re.S))
    if not code:
        return
    examples = doctest.DocTestParser().get_examples(code)
    wanted = {name for each in examples for name in named(ast.parse(each.source), ast.Load)}
    test = doctest.DocTest(examples, defined(path, wanted), path.stem, None, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0
