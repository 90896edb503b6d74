"""What would have to be true for another design to win."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.candidates import Space, default_space
from gpuplan.analysis.explore import explore
from gpuplan.app.background import Exploring
from gpuplan.app.state import Workbook
from gpuplan.app.steps import explore as step
from gpuplan.app.steps import what_wins
from gpuplan.catalog import Catalog
from gpuplan.report.explore_report import exploration_dict


@pytest.fixture(scope="module")
def found(catalog: Catalog) -> dict[str, Any]:
    """A small exploration of the enterprise example, as the command prints it."""
    scenario = load_scenario("enterprise")
    wide = default_space(scenario, catalog)
    space = Space(
        ("v100-pcie-32gb", "rtx-a6000-48gb", "a100-sxm4-80gb"),  # nobody lists the server of the last
        wide.servers,
        (2, 4, 8),
        ("as asked", "vgpu"),
        (10, 100),
        (1, 2),
    )
    data = exploration_dict(explore(scenario, catalog, space, workers=1), scenario)
    kept: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    return kept


def done(exploring: Exploring, key: str, data: dict[str, Any], book: Workbook) -> None:
    exploring.plan = book.plan
    exploring.runner.state = "done"
    exploring.runner.found = [{key: data}]


@pytest.fixture
def book(catalog: Catalog, found: dict[str, Any]) -> Workbook:
    book = Workbook(catalog, load_scenario("enterprise"))
    done(book.exploring, "exploration", found, book)
    return book


def acts(row: list[dict[str, Any]]) -> list[str]:
    return [act["text"] for act in row[-1].get("acts", ())]


def ranking(book: Workbook) -> dict[str, list[dict[str, Any]]]:
    return {row[0]["text"]: row for row in step.explore_data(book)["tables"][0]["rows"]}


def test_what_would_make_another_design_win_is_asked_in_its_row(
    book: Workbook, found: dict[str, Any]
) -> None:
    assert "tables" not in what_wins.to_win_data(book)
    other = found["asked"]["label"]
    act = next(a for a in ranking(book)[other][-1]["acts"] if a["event"] == "look")
    book.look(act["rest"]["what"], act["rest"]["value"])
    data = what_wins.to_win_data(book)
    assert data["selects"][0]["value"] == other
    rows = data["tables"][0]["rows"]
    possible = [row[3]["mark"]["text"] for row in rows]
    assert possible == sorted(possible, key=["yes", "unlikely", "no"].index)
    assert all(row[4]["text"] and "(now" not in row[4]["text"] for row in rows)  # no choice by its code
    assert next(row for row in rows if row[0]["text"] == "Years to look at")[1]["text"] == "5 years"
    book.look("other", "no such design")
    assert what_wins.to_win_data(book)["selects"][0]["value"] == ""
