"""The page "How we know" says what the tests and the models say."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpuplan import Plan
from gpuplan.catalog import Catalog

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "tests" / "VALIDATION.md").read_text(encoding="utf-8")
LINKED = r'\[\w+\]\(([\w/]+\.py) "(\w+)"\)'
NAMED = re.findall(r"`tests/([\w/]+\.py)(?:::(\w+))?`", PAGE) + re.findall(LINKED, PAGE)


def table(head: str) -> list[list[str]]:
    """The rows of the table whose head begins so."""
    lines = PAGE[PAGE.index(f"| {head} |") :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@cache
def functions(file: str) -> dict[str, ast.FunctionDef]:
    body = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8")).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def numbers_in(file: str, name: str) -> set[float]:
    """Every number that a test mentions, in its parameters too."""
    nodes = ast.walk(functions(file)[name])
    return {
        float(node.value)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    }


def said(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?", text)]


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_what_is_named_exists(file: str, name: str) -> None:
    assert (ROOT / "tests" / file).is_file()
    assert not name or name in functions(file), f"{file} has no {name}"


def test_cases_and_tolerances_are_those_of_the_tests() -> None:
    rows = table("model")
    assert len(rows) > 20
    for what, _, cases, off, test in rows:
        known = numbers_in(*re.fullmatch(LINKED, test).groups())
        beside = {0.0, 99.0}  # nothing off, and how sure an interval is
        assert set(said(cases)) <= known, f"{what}: {cases} cases"
        assert set(said(off)) - beside <= known, f"{what}: {off}"
        assert said(off), what


def test_the_simulation_was_compared_with_the_exact_chain_that_the_page_has() -> None:
    file = "simulation/test_jobs.py"
    boundary = numbers_in(file, "test_the_host_boundary_and_the_policy_matter_as_the_exact_chain_says")
    refused = re.findall(r"([\d.]+) %(?: are denied| on three| if requests)", PAGE)
    assert [round(float(share) / 100, 4) for share in refused] == [0.295, 0.411, 0.72]
    assert {0.295, 0.411, 0.72} <= boundary
    assert {88, 100} <= numbers_in(file, "test_the_intervals_hold_the_exact_value_as_often_as_they_say")
    low = numbers_in(
        "models/demand/test_queueing.py", "test_hayward_is_low_for_whole_requests_of_mixed_sizes"
    )
    assert set(said(re.search(r"understated: ([\d.]+ to [\d.]+) times", PAGE)[1])) <= low


def test_the_examples(plans: dict[str, Plan]) -> None:
    for name, *figures in table("example"):
        totals = plans[name.strip("`")].totals
        assert [float(f) for f in figures] == [
            totals.gpus_demanded,
            totals.hosts,
            totals.gpus,
            totals.gpus_after_failure,
        ]


def test_the_errors_of_the_fit(calibration: dict[str, Any]) -> None:
    fitted, left_out = (
        {each["area"]: each for each in calibration[key] if not each["series"]}
        for key in ("errors", "left_out")
    )
    rows = table("what")
    assert {row[0] for row in rows} == set(fitted)
    for area, count, *shown in rows:
        assert int(count) == fitted[area]["rows"]
        for cell, errors, key in zip(
            shown,
            (fitted, fitted, left_out, left_out),
            ("mean", "worst", "mean", "worst"),
            strict=True,
        ):
            if area not in errors:
                assert cell == "–"
            elif cell.endswith("%"):
                assert float(cell.rstrip(" %")) == pytest.approx(100 * errors[area][key], abs=0.05)
            else:
                assert float(cell.rstrip(" s")) == pytest.approx(
                    errors[area][key], abs=0.05 if cell.endswith("s") else 0.0005
                )
    servers = [row for row in calibration["rows"] if row["area"] == "parameter server"]
    shown_only = [row for row in servers if not row["fitted"] and not row["held"]]
    assert len(shown_only) == 16
    assert max(abs(row["error"]) for row in shown_only) == pytest.approx(0.23, abs=0.005)


def test_the_traces(catalog: Catalog) -> None:
    columns = (
        "jobs",
        "offered_gpus",
        "denied_kaufman_roberts_gpus",
        "denied_hayward_gpus",
        "denied_replay_gpus",
    )
    for name, *figures in table("trace"):
        row = catalog.row("trace_results", name.strip("`"))
        assert [float(f) for f in figures] == [row[column] for column in columns]
