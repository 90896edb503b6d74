"""Solve in the app: the answer with its proof, the design that is used or kept, and the budget that walks along the frontier."""

from __future__ import annotations

import json
from typing import Any

import pytest
from explored_screen import acts, done
from solved import small_frontier, small_scenario, solution

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt

from gpuplan.app.events import EVENTS
from gpuplan.app.state import Workbook
from gpuplan.app.steps import deliver
from gpuplan.app.steps import solve as step
from gpuplan.catalog import Catalog
from gpuplan.report.charts.look import DARK, LIGHT
from gpuplan.report.charts.solve import KINDS, curve_chart
from gpuplan.report.solve_report import solution_dict
from gpuplan.scenario import from_dict
from gpuplan.wording import money

FOLDS = ("solve-boards", "solve-missed", "solve-frontier")
PARTS = (
    *(step.limits_form, step.more_limits_data, step.solve_data, step.answer_data, step.acts_data),
    *(step.boards_data, step.missed_data, step.walk_data, step.curve_rows, step.frontier_data),
)
Data = dict[str, Any]


@pytest.fixture(scope="module")
def found(catalog: Catalog) -> Data:
    solved = solution(catalog, budget="1.5M")
    return solution_dict(solved, small_frontier(catalog, solved.scenario))


@pytest.fixture(scope="module")
def impossible(catalog: Catalog) -> Data:
    return solution_dict(solution(catalog, "", budget="1M"))


def opened(catalog: Catalog) -> Workbook:
    return Workbook(catalog, small_scenario().with_value("limits.budget", 1_500_000))


@pytest.fixture
def book(catalog: Catalog, found: Data) -> Workbook:
    book = opened(catalog)
    done(book.solving, "solution", found, book)
    return book


def look(book: Workbook, budget: float) -> Data:
    EVENTS["look"](book, {"what": "budget", "value": str(budget)})
    return dict(step.walk_data(book))


def chosen(book: Workbook) -> Data:
    (point,) = [each for each in step.curve_rows(book)["points"] if each["kind"] == KINDS["chosen"]]
    return dict(point)


def test_every_part_is_plain_data_before_and_after(
    catalog: Catalog, book: Workbook, impossible: Data
) -> None:
    none = opened(catalog)
    done(none.solving, "solution", impossible, none)
    for each in (Workbook(catalog, from_dict({})), opened(catalog), book, none):
        for key in FOLDS:
            each.fold(key, True)
        for part in PARTS:
            data = part(each)
            assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_what_can_be_solved_for_is_chosen_and_the_least_cost_is_first_without_a_limit(
    catalog: Catalog,
) -> None:
    bare, limited = Workbook(catalog, small_scenario()), opened(catalog)
    (menu,) = step.solve_data(bare)["inputs"]
    assert menu["value"] == "cost" and {"users:a", "gpus"} < {each["value"] for each in menu["options"]}
    assert step.solve_data(limited)["inputs"][0]["value"] == "users:a"
    limited.look("solve-for", "power")
    assert step.solve_data(limited)["inputs"][0]["value"] == "power"


def test_it_starts_with_what_is_chosen_and_is_stopped(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, found: Data
) -> None:
    book, started = opened(catalog), list[tuple[Any, ...]]()
    monkeypatch.setattr(book.solving.runner, "start_on", lambda *given: started.append(given))
    EVENTS["solve"](book, {})
    assert started[0][1:] == ("solve", "-", "--progress", "--for", "users:a", "--frontier")
    runner = book.solving.runner
    runner.state, runner.started, runner.done = "running", True, 0.4
    assert [b["event"] for b in step.solve_data(book)["buttons"]] == ["cancel-solve"]
    runner.found = [{"solution": {**found, "proven": False, "gap": 0.2, "bound": 48.0}}, {"solution": found}]
    assert book.solving.found == found
    runner.found.pop()
    EVENTS["cancel-solve"](book, {})
    assert step.answer_data(book)["figures"][-1]["value"] == "20 %", "what was found stays, with its gap"


def test_the_answer_has_the_figures_and_the_price_of_the_next(book: Workbook, found: Data) -> None:
    data = step.answer_data(book)
    assert [each["value"] for each in data["figures"]][:2] == ["40", "6"]
    assert data["figures"][-1]["value"] == "proven" and not data["stale"]
    assert money(found["binding"][0]["more"], "USD") in data["list"][1]
    assert all(row["label"] in data["list"][-1] for row in found["gave"])


def test_a_design_is_used_and_undo_brings_the_other_back(book: Workbook, found: Data) -> None:
    before = book.scenario
    (use, keep) = step.acts_data(book)["buttons"]
    assert not use["off"] and not keep["off"]
    EVENTS[use["event"]](book, use["rest"])
    assert book.plan.costs and book.plan.costs.net_present == pytest.approx(found["best"]["net_present"])
    assert step.acts_data(book)["buttons"][0]["off"], "it is on the screen"
    assert not step.answer_data(book)["stale"]
    book.undo()
    assert book.scenario == before and not step.acts_data(book)["buttons"][0]["off"]


def test_a_design_is_kept_beside_the_one_on_the_screen(book: Workbook, found: Data) -> None:
    before, (_, keep) = book.scenario, step.acts_data(book)["buttons"]
    EVENTS[keep["event"]](book, keep["rest"])
    (kept,) = book.kept
    assert book.scenario == before and kept.plan.costs
    assert kept.plan.costs.net_present == pytest.approx(found["best"]["net_present"])


def test_what_is_kept_in_the_customer_view_has_the_margin_of_its_design(
    catalog: Catalog, found: Data
) -> None:
    book = Workbook(catalog, opened(catalog).scenario.with_value("internal.margin", 0.1), customer=True)
    assert book.plan.scenario.internal.margin != 0.1
    done(book.solving, "solution", found, book)
    book.keep_beside(from_dict(found["best"]["scenario"]))
    assert book.aside[0].scenario.internal.margin == 0.1


def test_an_answer_of_another_design_says_so_and_cannot_be_used(book: Workbook) -> None:
    old = book.scenario
    book.edit("groups.a.people", "50")
    assert step.solve_data(book)["old"] and step.answer_data(book)["stale"]
    assert all(button["off"] for button in step.acts_data(book)["buttons"])
    (use, _) = step.acts_data(book)["buttons"]
    now = book.scenario
    EVENTS[use["event"]](book, use["rest"])
    assert book.scenario == now != old


def test_the_run_ends_with_its_design(book: Workbook) -> None:
    book.start(from_dict({}))
    assert book.solving.found is None and not step.answer_data(book)["shown"]


def test_the_budget_walks_along_the_designs(book: Workbook, found: Data) -> None:
    points = found["frontier"]["points"]
    assert step.walk_data(book)["inputs"][0]["at"] == 1_500_000
    for point in points:
        (use,) = look(book, point["net_present"] + 1)["buttons"]
        assert chosen(book)["cost"] == point["net_present"] and use["rest"]["key"] == step._key(point)
    last = points[-1]
    look(book, last["net_present"] * 9)
    assert chosen(book)["cost"] == last["net_present"]
    assert look(book, float("nan")) and look(book, 0)["buttons"][0]["rest"]["key"] == step._key(points[0])
    EVENTS["look"](book, {"what": "budget", "value": "lots"})
    assert step.walk_data(book)["inputs"][0]["at"] == 1_500_000
    look(book, points[1]["net_present"])
    (use,) = step.walk_data(book)["buttons"]
    EVENTS[use["event"]](book, use["rest"])
    assert book.plan.scenario.groups[0].people == points[1]["value"]


def test_a_click_on_a_point_is_a_look_at_its_budget(book: Workbook, found: Data) -> None:
    first = step.curve_rows(book)["points"][0]
    assert first["click"]["type"] == "look"
    EVENTS["look"](book, first["click"])
    assert chosen(book)["cost"] == found["frontier"]["points"][0]["net_present"]


def test_each_board_and_each_point_can_be_used(book: Workbook) -> None:
    for key, part in (("solve-boards", step.boards_data), ("solve-frontier", step.frontier_data)):
        book.fold(key, True)
        (table,) = part(book)["tables"]
        assert all(acts(row) == ["Use"] for row in table["rows"])


def test_nothing_within_the_limits_is_explained(catalog: Catalog, impossible: Data) -> None:
    book = opened(catalog)
    done(book.solving, "solution", impossible, book)
    data = step.answer_data(book)
    assert "Budget" in data["text"][0][0]["text"] and data["tables"][0]["rows"]
    assert not step.acts_data(book)["shown"] and not step.walk_data(book)["shown"]


@pytest.mark.parametrize("look_of", [LIGHT, DARK])
def test_the_chart_is_one_that_altair_takes(book: Workbook, look_of: Any) -> None:
    spec = curve_chart(step.curve_rows(book), look_of)
    alt.Chart.from_dict({key: part for key, part in spec.items() if key != "$schema"})
    assert len(spec["layer"]) == 4


def test_files_tell_the_answer_while_it_is_of_the_design_on_the_screen(book: Workbook, found: Data) -> None:
    assert deliver.order(book, "html").solution == found
    book.use(from_dict(found["best"]["scenario"]), "")
    assert deliver.order(book, "html").solution == found
    book.use(book.scenario.with_value("cost.years", 3), "")
    assert deliver.order(book, "html").solution is None
    assert deliver.order(book, "yaml").solution is None
