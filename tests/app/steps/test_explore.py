"""Explore in the app: the ranking with its winner, what is ruled out, the frontier, and what would make another one win."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved, is_approved
from explored_screen import acts, done, ranking

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt

from gpuplan import load_scenario
from gpuplan.analysis.ranking import WINNER_LEAVES_OUT
from gpuplan.app.state import Workbook
from gpuplan.app.steps import compare
from gpuplan.app.steps import explore as step
from gpuplan.catalog import Catalog
from gpuplan.report.charts.explore import KINDS, LOOKS, frontier_chart
from gpuplan.report.charts.look import DARK, LIGHT
from gpuplan.scenario import from_dict

FOLDS = ("explore-ranked", "explore-unpriced", "explore-rejected", "explore-frontier")
PARTS = (
    step.explore_data,
    step.ranked_data,
    step.unpriced_data,
    step.rejected_data,
    step.frontier_head,
    step.frontier_rows,
    step.frontier_table,
    compare.to_win_data,
)


@pytest.fixture
def book(catalog: Catalog, found: dict[str, Any]) -> Workbook:
    book = Workbook(catalog, load_scenario("enterprise"))
    done(book.exploring, "exploration", found, book)
    return book


def test_every_part_is_plain_data_before_and_after(catalog: Catalog, book: Workbook) -> None:
    for each in (Workbook(catalog, from_dict({})), Workbook(catalog, load_scenario("starter")), book):
        for key in FOLDS:
            each.fold(key, True)
        for part in PARTS:
            data = part(each)
            assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_before_it_is_explored_only_the_button_is_shown(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    data = step.explore_data(book)
    assert [b["text"] for b in data["buttons"]] == ["Explore designs"]
    assert not data["buttons"][0]["off"]
    assert not step.frontier_head(book)["shown"]
    assert not compare.to_win_data(book)["shown"]
    (button,) = step.explore_data(Workbook(catalog, from_dict({})))["buttons"]
    assert (button["text"], button["event"], button["rest"]) == (
        "Add a workload",
        "visit",
        {"path": "groups"},
    )
    book.edit("cost.years", "soon")
    assert step.explore_data(book)["buttons"][0]["off"]


def test_while_it_runs_it_can_be_stopped(book: Workbook) -> None:
    runner = book.exploring.runner
    runner.state, runner.started, runner.done = "running", True, 0.4
    data = step.explore_data(book)
    assert [b["event"] for b in data["buttons"]] == ["cancel-explore"]
    assert data["progress"]["done"] == 0.4


def test_the_winner_is_marked_and_every_other_says_why_it_loses(
    book: Workbook, found: dict[str, Any]
) -> None:
    shown = ranking(book)
    winner = found["winner"]["label"]
    assert next(iter(shown)) == winner
    assert [label for label, row in shown.items() if row[0].get("tag") == "winner"] == [winner]
    for label, row in shown.items():
        assert (row[8]["text"] != "\u2013") == (label != winner)
    said = " ".join(step.explore_data(book)["text"])
    assert has_approved(said, winner)
    assert f"{len(found['rejected'])} are ruled out" in said


def test_the_design_on_the_screen_is_found_again_after_it_is_used_and_undone(
    book: Workbook, found: dict[str, Any]
) -> None:
    asked, winner = found["asked"]["label"], found["winner"]["label"]
    assert asked != winner
    assert step.on_screen(book) == asked
    before = book.scenario
    step.use_option(book, winner)
    assert step.on_screen(book) == winner
    assert not step.explore_data(book)["old"]
    assert "Use" not in acts(ranking(book)[winner])
    assert book.plan.totals.hosts == found["winner"]["hosts"]
    assert book.plan.costs is not None
    assert book.plan.costs.net_present == pytest.approx(found["winner"]["net_present"])
    book.undo()
    assert book.scenario == before
    step.use_option(book, "no such design")
    assert book.scenario == before


def test_a_changed_demand_makes_it_old(book: Workbook) -> None:
    book.edit("groups.data-scientists.people", "80")
    data = step.explore_data(book)
    assert data["old"]
    assert has_approved(data["text"][0])
    book.edit("name", "Another name")
    book.undo()
    book.undo()
    assert not step.explore_data(book)["old"]


def test_ruled_out_designs_stand_with_their_reason(book: Workbook, found: dict[str, Any]) -> None:
    book.fold("explore-rejected", True)
    rows = step.rejected_data(book)["tables"][0]["rows"]
    assert sum(int(row[1]["text"]) for row in rows) == len(found["rejected"])
    assert all(row[0]["text"] for row in rows)


def test_designs_without_a_price_name_what_has_none(catalog: Catalog, found: dict[str, Any]) -> None:
    last = found["ranked"][-1] | {"unpriced": ["Board X"], "excludes": ["Board X"]}
    book = Workbook(catalog, load_scenario("enterprise"))
    done(book.exploring, "exploration", found | {"unpriced": [last]}, book)
    book.fold("explore-unpriced", True)
    (row,) = step.unpriced_data(book)["tables"][0]["rows"]
    assert row[3]["text"] == "Board X" and acts(row) == ["Use"]


def test_what_the_winner_leaves_out_is_said_once_not_in_every_row() -> None:
    said = ("costs 2 % more", f"{WINNER_LEAVES_OUT} (a; b)", "leaves out c")
    shown = step._why_not({"why_not": said}, wins=False)
    assert is_approved(shown["text"], "2 %", WINNER_LEAVES_OUT)
    assert shown["title"] == "; ".join(said)


def test_the_frontier_is_a_chart_and_a_table(book: Workbook, found: dict[str, Any]) -> None:
    data = step.frontier_rows(book)
    kinds = {row["label"]: row["kind"] for row in data["rows"]}
    assert kinds[found["winner"]["label"]] == "recommended"
    assert kinds[found["asked"]["label"]] == "as entered"
    assert set(kinds) == {o["label"] for o in (*found["ranked"], found["asked"])}
    assert set(KINDS.values()) == set(LOOKS)
    assert len({shape for shape, _ in LOOKS.values()}) == len(LOOKS)  # never the colour alone
    for look in (LIGHT, DARK):
        alt.LayerChart.from_dict(json.loads(json.dumps(frontier_chart(data, look), allow_nan=False)))
    assert step.frontier_table(book)["tables"] == []
    book.fold("explore-frontier", True)
    rows = step.frontier_table(book)["tables"][0]["rows"]
    assert [row[0]["text"] for row in rows] == [o["label"] for o in found["frontier"]]


def test_what_would_make_another_design_win_is_asked_in_its_row(
    book: Workbook, found: dict[str, Any]
) -> None:
    assert "tables" not in compare.to_win_data(book)
    other = found["asked"]["label"]
    act = next(a for a in ranking(book)[other][-1]["acts"] if a["event"] == "look")
    book.look(act["rest"]["what"], act["rest"]["value"])
    data = compare.to_win_data(book)
    assert data["selects"][0]["value"] == other
    rows = data["tables"][0]["rows"]
    possible = [row[3]["mark"]["text"] for row in rows]
    assert possible == sorted(possible, key=["yes", "unlikely", "no"].index)
    assert all(row[4]["text"] and "(now" not in row[4]["text"] for row in rows)  # no choice by its code
    assert next(row for row in rows if row[0]["text"] == "Analysis period")[1]["text"] == "5 years"
    book.look("other", "no such design")
    assert compare.to_win_data(book)["selects"][0]["value"] == ""
