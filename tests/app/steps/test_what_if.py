"""What if in the app: at each position it says what `make_plan` says there, and the design changes when it is applied, in one step."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from random_cases import cases, of_the_day
from waiting import LIMIT_S

pytest.importorskip("altair")
pytest.importorskip("traitlets")

import altair as alt

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.variants import changed_inputs
from gpuplan.app.events import EVENTS
from gpuplan.app.forms import field_data
from gpuplan.app.state import Workbook
from gpuplan.app.steps import what_if as step
from gpuplan.catalog import Catalog
from gpuplan.deliver.what_if.answers import Refused
from gpuplan.report.charts.look import DARK, LIGHT
from gpuplan.report.charts.solve import what_if_chart
from gpuplan.report.figures import cost_figures
from gpuplan.scenario import Problem, Scenario
from gpuplan.wording import headline_money, number, watts

Data = dict[str, Any]


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("starter"))


def sliders(book: Workbook) -> dict[str, Data]:
    """Kind of a slider, by the end of its path -> its data."""
    return {each["what"].rpartition(".")[2]: each for each in step.sliders_data(book)["sliders"]}


def move(book: Workbook, path: str, at: int) -> None:
    EVENTS["what-if"](book, {"path": path, "at": at})


def told(book: Workbook) -> list[str]:
    return [figure["value"] for figure in step.answer_data(book)["figures"]]


def press(book: Workbook, key: str) -> None:
    """Click a button, whether it can be pressed or not."""
    (act,) = (act for act in step.headline_data(book)["acts"] if act["key"] == key)
    EVENTS[act["event"]](book, act["rest"])


def acts(book: Workbook) -> dict[str, bool]:
    """Button -> whether it can be pressed."""
    return {act["key"]: not act["off"] for act in step.headline_data(book)["acts"]}


def moved(book: Workbook) -> Scenario:
    """The design with each moved input stated at its path."""
    scenario, trial = book.scenario, step._trial(book)
    for axis in trial.sliders:
        at = trial.at[axis.path]
        scenario = scenario if at == axis.own else scenario.with_value(axis.path, axis.values[at])
    return scenario


@pytest.mark.parametrize("name", of_the_day(["starter", "enterprise"], few=1))
def test_each_position_says_what_its_plan_says_and_apply_is_one_step(name: str, catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario(name))
    design, seen = book.scenario, book.plan
    for rng in cases(4201, 60, few=4):
        menu = step.sliders_data(book)["selects"][0]
        EVENTS["look"](book, {"what": menu["what"], "value": rng.choice(menu["options"])["value"]})
        for slider in sliders(book).values():
            move(book, slider["what"], rng.randrange(len(slider["ticks"])))
        assert book.plan is seen and book.scenario == design, "nothing changes the design"
        there = moved(book)
        plan = make_plan(there, catalog)
        cost = cost_figures(plan)
        assert cost and plan.power
        wanted = [number(plan.totals.hosts), cost.price, plan.verdict.short, watts(plan.power.typical_w)]
        assert told(book) == wanted
        notes = [figure["note"] for figure in step.answer_data(book)["figures"]]
        assert cost.span in notes[1] and plan.verdict.note in notes[2]
        if there == design:
            assert not acts(book)["what-if-apply"]
            continue
        press(book, "what-if-apply")
        assert book.scenario == there and book.plan.totals == plan.totals
        assert not acts(book)["what-if-back"]
        EVENTS["undo"](book, {})
        assert book.scenario == design and not book.past
        seen = book.plan


def test_the_difference_is_said_beside_each_figure(book: Workbook) -> None:
    people = sliders(book)["people"]
    at_first = [figure["note"] for figure in step.answer_data(book)["figures"]]
    hosts = book.plan.totals.hosts
    move(book, people["what"], len(people["ticks"]) - 1)
    now, notes = told(book), [figure["note"] for figure in step.answer_data(book)["figures"]]
    assert f"+{int(now[0]) - hosts}" in notes[0] and str(hosts) in notes[0]
    assert notes[0] != at_first[0]
    press(book, "what-if-back")
    assert told(book)[0] == str(hosts) and not any(acts(book).values())


def test_what_is_pinned_is_compared_and_the_design_stays(book: Workbook) -> None:
    design = book.scenario
    move(book, "availability.host_failures", 2)
    assert acts(book)["what-if-pin"]
    press(book, "what-if-pin")
    (kept,) = book.kept
    assert [*changed_inputs((design, kept.scenario))] == ["availability.host_failures"]
    assert book.scenario == design and acts(book)["what-if-apply"]


def test_a_budget_is_a_line_and_says_what_is_over_it(book: Workbook) -> None:
    assert book.plan.costs and book.plan.cost_ranges
    assert not step.rows(book)["lines"] and "what-if-solve" not in acts(book)
    move(book, "limits.budget", 0)
    (line,) = step.rows(book)["lines"]
    over = headline_money(book.plan.costs.net_present - line["cost"], "USD")
    said = "".join(piece["text"] for piece in step.headline_data(book)["text"][0])
    assert over in said and acts(book)["what-if-solve"]
    press(book, "what-if-apply")
    assert book.scenario.limits.budget == line["cost"]


def test_solving_for_a_budget_states_it_and_begins(book: Workbook) -> None:
    asked: list[tuple[float | None, str]] = []
    book.solving.start = lambda plan, *options: asked.append((plan.scenario.limits.budget, options[1]))
    menu = step.sliders_data(book)["selects"][0]
    EVENTS["look"](book, {"what": menu["what"], "value": "groups.developers.people"})
    move(book, "limits.budget", 0)
    (line,) = step.rows(book)["lines"]
    press(book, "what-if-solve")
    assert (book.step, book.tabs["compare"]) == ("compare", "solve")
    assert asked == [(line["cost"], "users:developers")]
    assert field_data(book, "limits.budget")["value"] == number(line["cost"]), "without a decimal"
    EVENTS["undo"](book, {})
    assert book.scenario == load_scenario("starter")


def test_another_design_drops_what_was_moved(book: Workbook) -> None:
    move(book, "availability.host_failures", 2)
    EVENTS["example"](book, {"name": "enterprise"})
    assert all(each["at"] == each["own"] for each in sliders(book).values())
    EVENTS["undo"](book, {})
    assert book.scenario.name == load_scenario("starter").name
    assert all(each["at"] == each["own"] for each in sliders(book).values())


def test_a_position_that_is_refused_or_leaves_vms_out_is_shown_with_the_reason(book: Workbook) -> None:
    trial = step._trial(book)
    problem = Problem("availability.host_failures", "2", "at most 1")
    for size in (0, 1):
        trial.answers[(size, *trial.position[1:])] = Refused((problem,))
    points = step.rows(book)["points"]
    bad = [point for point in points if point["bad"]]
    assert len(bad) == 2 and all(point["net_present"] is None for point in bad)
    move(book, trial.found.axes[0].path, bad[0]["click"]["at"])
    said = "".join(piece["text"] for piece in step.headline_data(book)["text"][0])
    assert "at most 1" in said and told(book)[0] != str(book.plan.totals.hosts)
    assert not acts(book)["what-if-apply"] and acts(book)["what-if-back"]
    press(book, "what-if-apply")
    assert book.scenario == load_scenario("starter")


def test_a_position_without_a_plan_shows_the_nearest_until_it_has_one(book: Workbook) -> None:
    trial = step._trial(book)

    async def waited() -> None:
        move(book, "availability.host_failures", 3)
        assert trial.shown == trial.found.own != trial.position
        (waiting,) = step.headline_data(book)["text"][0]
        assert waiting["waiting"] and not acts(book)["what-if-apply"]
        press(book, "what-if-apply")
        assert book.scenario == load_scenario("starter")
        while trial.shown != trial.position:
            await asyncio.sleep(0.05)
            step.headline_data(book)
        assert told(book)[0] == str(make_plan(moved(book), book.catalog).totals.hosts)

    asyncio.run(asyncio.wait_for(waited(), LIMIT_S))


def test_a_price_that_the_customer_may_not_change_is_not_moved(catalog: Catalog) -> None:
    sold = load_scenario("starter").with_value("internal.margin", 0.2)
    for customer in (False, True):
        paths = [each["what"] for each in sliders(Workbook(catalog, sold, customer=customer)).values()]
        assert any(path.startswith("prices.") for path in paths) is not customer


def test_without_hosts_there_is_nothing_to_move(catalog: Catalog) -> None:
    empty = Workbook(catalog, Scenario())
    parts = (step.headline_data, step.sliders_data, step.answer_data)
    assert not any(part(empty)["shown"] for part in parts) and not step.rows(empty)


def test_a_stated_total_is_moved_alone(catalog: Catalog) -> None:
    scenario = replace(load_scenario("starter"), groups=()).with_value("demand.stated_gpus", 2)
    book = Workbook(catalog, scenario)
    assert "growth" not in sliders(book) and "stated_gpus" in sliders(book)
    assert step.sliders_data(book)["selects"] == []


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_the_chart_is_drawn(book: Workbook, look: Any) -> None:
    move(book, "limits.budget", 0)
    move(book, "groups.data-scientists.people", 0)
    rows = step.rows(book)
    chart = alt.Chart.from_dict(what_if_chart(rows, look)).to_dict()
    marks = [layer["mark"]["type"] for layer in chart["layer"]]
    assert {"area", "line", "rule", "point", "text"} <= set(marks)
    assert [mark["now"] for mark in rows["marks"]] == [True, False]
