"""A solution as plain data, text, CSV and a frame."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from solved import solution

from gpuplan.analysis.solve import Progress, Solution
from gpuplan.catalog import Catalog
from gpuplan.report import solve_report as report
from gpuplan.report.shown import html
from gpuplan.scenario import from_dict
from gpuplan.wording import money


@pytest.fixture(scope="module")
def found(catalog: Catalog) -> Solution:
    return solution(catalog, budget="1.5M")


@pytest.fixture(scope="module")
def cheapest(catalog: Catalog) -> Solution:
    return solution(catalog, "", budget="3M")


@pytest.fixture(scope="module")
def impossible(catalog: Catalog) -> Solution:
    return solution(catalog, "", budget="100k", racks=1)


def test_the_data_are_plain_and_each_design_has_its_scenario(found: Solution) -> None:
    data = report.solution_dict(found)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["best"]["value"] == data["bound"] and data["proven"] and data["gap"] == 0
    assert found.best
    for design in (data["best"], *data["designs"]):
        assert from_dict(design["scenario"]) == found.scenario_of(found.best)
        assert design["valid"] and design["net_present"] <= 1.5e6
    assert [each["key"] for each in data["best"]["within"]] == ["budget", "vendors", "boards"]
    assert data["missed"][-1] == {
        "gpu": "p4-8gb",
        "name": "Tesla P4",
        "limits": [],
        "reason": "no longer sold",
    }


def test_what_binds_names_the_price_of_the_next(found: Solution) -> None:
    (limit,) = report.solution_dict(found)["binding"]
    assert limit["key"] == "budget" and limit["unit"] == "USD"
    assert limit["more"] == limit["needed"] - 1.5e6 > 0
    (sentence,) = report.binds(report.solution_dict(found))
    assert money(limit["more"], "USD") in sentence


def test_the_text_begins_with_the_answer(found: Solution) -> None:
    lines = report.solution_text(found).splitlines()
    assert lines[0] == "Small" and lines[3].startswith("40 users of Assistant")


def test_the_runner_up_has_its_figures(found: Solution) -> None:
    data = report.solution_dict(replace(found, runner_up=found.best))
    assert money(data["best"]["net_present"], "USD") in report.runner_up(data)
    assert report.runner_up(report.solution_dict(found)) == ""


def test_the_least_is_a_figure_and_the_amount_is_left_out(cheapest: Solution) -> None:
    data = report.solution_dict(cheapest)
    assert data["best"]["value"] == data["best"]["net_present"] and data["quantity"]["asked"] is None
    assert report.worth(data, data["best"]["value"]).startswith("USD ")
    assert "link_gbit_s" not in {row["path"] for row in data["gave"]}  # one link was to choose from


def test_a_clash_names_the_limits_and_the_exit_is_in_words(impossible: Solution) -> None:
    data = report.solution_dict(impossible)
    assert data["best"] is None and data["clash"]["limits"] == ["Rack limit"]
    assert {key for row in data["missed"] for key in row["limits"]} == {"Budget", "Rack limit"}
    assert "Rack limit" in report.solution_text(impossible)


def test_csv_and_frame_have_validity_gap_and_binding_limit(found: Solution, impossible: Solution) -> None:
    rows = list(csv.DictReader(io.StringIO(report.solution_csv(found))))
    assert (rows[0]["status"], rows[0]["valid"], rows[0]["gap"], rows[0]["binding"]) == (
        "best",
        "yes",
        "0.0",
        "Budget",
    )
    assert {row["status"] for row in rows} == {"best", "out"}
    assert {row["status"] for row in csv.DictReader(io.StringIO(report.solution_csv(impossible)))} == {
        "over",
        "out",
    }


def test_what_was_found_so_far_has_its_gap_and_is_not_proven(found: Solution) -> None:
    progress = Progress(found.best, 50.0, None, 3, 8)
    now = report.partial_solution(found.scenario, found.catalog, found.quantity, progress)
    data = report.solution_dict(now)
    assert (data["proven"], data["gap"], data["done"], data["of"]) == (False, 0.25, 3, 8)
    assert (report.gap_words(0.25), report.gap_words(1.54)) == ("25 %", "154 %")
    assert "25" in report.proof(data) and "3 of 8" in report.in_progress(data)
    nothing = report.partial_solution(
        found.scenario, found.catalog, found.quantity, Progress(None, None, None, 0, 8)
    )
    assert report.verdict(report.solution_dict(nothing)) != report.verdict(report.solution_dict(now))


def test_a_bound_that_is_met_is_none_while_mixes_are_left(found: Solution) -> None:
    assert found.best
    met, left = (
        report.solution_dict(
            report.partial_solution(
                found.scenario,
                found.catalog,
                found.quantity,
                Progress(found.best, found.best.value, 0.0, 8, 8, mixes),
            )
        )
        for mixes in (0, 3)
    )
    assert left["gap"] == 0 and not left["proven"]
    assert "3" in report.proof(left) and report.proof(left) != report.proof(met)


def test_a_cell_of_a_notebook_shows_it(found: Solution, impossible: Solution) -> None:
    assert "40 users of Assistant" in html(found) and found._repr_html_() == html(found)
    assert "Rack limit" in html(impossible)
