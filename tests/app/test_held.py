"""A design in the hand: code, sliders and clicks move the same plan."""

from __future__ import annotations

import re
from typing import Any

import ipywidgets
import pytest
from traitlets import TraitError

from gpuplan import Design, ScenarioError, load_scenario, workbook
from gpuplan.app.screen import PAGES, sent_in
from gpuplan.app.state import STEPS
from gpuplan.catalog import Catalog

PEOPLE = "groups.researchers.people"


@pytest.fixture
def design(catalog: Catalog) -> Design:
    return Design("enterprise", catalog)


def test_a_design_is_opened_by_name_or_from_a_scenario(design: Design, catalog: Catalog) -> None:
    assert design.plan.totals.hosts == 8
    assert Design(load_scenario("starter"), catalog).plan.totals.gpus == 16
    with pytest.raises(ScenarioError, match="cannot read no-such"):
        Design("no-such", catalog)
    with pytest.raises(ScenarioError, match=r"hardware\.gpu"):
        Design(load_scenario("starter").with_value("hardware.gpu", "h900"), catalog)


def test_a_slider_moves_the_plan_and_who_watches_it(design: Design) -> None:
    seen: list[int] = []
    design.observe(lambda change: seen.append(change["new"].totals.hosts), "plan")
    slider = ipywidgets.IntSlider(3, 1, 9)
    slider.observe(lambda change: design.set(PEOPLE, change["new"]), "value")
    slider.value = 6
    assert design.scenario.get(PEOPLE) == 6 and seen == [design.plan.totals.hosts] and seen[0] > 8


def test_an_input_is_read_and_set_by_its_path_and_completed(design: Design) -> None:
    design[PEOPLE] = 6
    assert design[PEOPLE] == 6 and design.plan.totals.hosts > 8
    assert PEOPLE in design._ipython_key_completions_() and "hardware.gpu" in design.scenario.paths
    with pytest.raises(ScenarioError, match=r"did you mean .*people"):
        design["groups.researchers.peopel"] = 6


def test_widgets_of_a_design_move_together(design: Design) -> None:
    first, second = design.widget("usecases"), design.widget("hosts")
    design.set(PEOPLE, 6)
    for widget in (first, second):
        figures = {figure["key"]: figure["value"] for figure in widget._strip.data["figures"]}
        assert figures["totals.hosts"] == str(design.plan.totals.hosts)
    first._receive("set", {"path": PEOPLE, "value": "3", "live": False})
    assert design.scenario.get(PEOPLE) == 3 and design.plan.totals.hosts == 8
    assert {widget._own_step for widget in (first, second)} == {"usecases", "hosts"}


def test_a_click_in_a_widget_reaches_who_watches_and_the_other_way(design: Design) -> None:
    seen: list[Any] = []
    design.observe(lambda change: seen.append(change["new"]), "failed")
    widget = design.widget("hosts")
    widget._receive("fail", {"pool": "vgpu", "host": 3})
    assert design.failed == {"vgpu": (3,)} and seen == [{"vgpu": (3,)}]
    design.failed = {}
    assert not design.state.outcome("vgpu")
    design.failed = {"vgpu": [1, 2]}
    assert design.state.failed["vgpu"] == (1, 2)
    for wrong in ({"vgpu": [99]}, {"nothing": [1]}):
        with pytest.raises(ValueError):
            design.failed = wrong
    assert design.failed == {"vgpu": (1, 2)}


def test_what_cannot_be_planned_is_refused_and_nothing_is_lost(design: Design) -> None:
    plan = design.plan
    for path, wrong in ((PEOPLE, -1), ("hardware.gpu", "h900"), ("hardware.gpus", 2)):
        with pytest.raises(ScenarioError, match=path.split(".")[-1]):
            design.set(path, wrong)
    with pytest.raises(TraitError):
        design.scenario = "enterprise"
    with pytest.raises(AttributeError, match="follows from the scenario"):
        design.plan = Design("starter", design.catalog).plan
    assert design.plan is plan and design.scenario.get(PEOPLE) == 3
    design.widget("usecases")._receive("set", {"path": PEOPLE, "value": "many", "live": False})
    assert design.plan is plan and design.state.stale


def test_the_whole_workbook_of_a_design_goes_where_it_is_led(design: Design) -> None:
    app, hosts = design.workbook(), design.widget("hosts")
    app._receive("go", {"step": "cost"})
    assert design.state.step == "cost" and hosts._page.children == (hosts._tabs["hosts", "picture"],)
    with pytest.raises(ScenarioError, match="step"):
        design.widget("host")


def test_a_workbook_takes_a_scenario_and_a_catalog(catalog: Catalog) -> None:
    app = workbook("enterprise", catalog=catalog)
    assert app.scenario.name == "Enterprise example" and app.plan.catalog is catalog
    app.scenario = load_scenario("starter")
    assert app.plan.totals.gpus == 16 and app.workbook.can_undo
    with pytest.raises(ScenarioError):
        app.scenario = load_scenario("starter").with_value("hardware.gpu", "h900")
    assert app.scenario.name == "Starter example"


def test_a_locale_holds_from_the_moment_it_is_chosen(catalog: Catalog) -> None:
    app = workbook("enterprise", catalog=catalog)
    for locale, said in (("de-DE", "2,5 M USD"), ("", "USD 2.5 M")):
        app._receive("set", {"path": "format.locale", "value": locale, "live": False})
        figures = {each["key"]: each["value"] for each in app._strip.data["figures"]}
        assert figures["cost.net_present"] == said


def test_no_tab_has_per_cent_apart_where_the_locale_has_it_close(catalog: Catalog) -> None:
    app = workbook("enterprise", catalog=catalog)
    app._receive("set", {"path": "format.locale", "value": "en-US", "live": False})
    for step, _ in STEPS:
        for tab in PAGES[step].tabs:
            app._receive("tab", {"step": step, "tab": tab.name})
            app._receive("go", {"step": step})
            shown = [str(getattr(each, name)) for each in sent_in(app) for name in each.changing]
            assert not [found for text in shown for found in re.findall(r".{30}\d %.{30}", text)], (step, tab)


def test_a_slider_and_a_chart_of_a_design_follow_it(design: Design) -> None:
    slider, chart, widget = design.slider(PEOPLE, 1, 9), design.chart("capacity"), design.widget("hosts")
    slider.value = 6
    assert design[PEOPLE] == 6 and slider.description == design.scenario.label(PEOPLE)
    left = [row["left"] for rows in chart.spec["datasets"].values() for row in rows]
    assert left[0] == design.plan.totals.gpus > 32
    widget._receive("set", {"path": PEOPLE, "value": "3", "live": False})
    assert slider.value == 3
    refused = design.slider("hardware.gpus_per_host", 0, 4)
    refused.value = 0
    assert refused.value == design["hardware.gpus_per_host"] == 4
    with pytest.raises(ScenarioError, match="there is no chart"):
        design.chart("costs")


def test_a_page_without_widgets_has_the_answer_and_the_picture(design: Design) -> None:
    shown = design.widget("hosts")._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in shown and "Enterprise example" in shown["text/html"]
    drawn = design.chart("cost")._repr_mimebundle_()
    drawn = drawn[0] if isinstance(drawn, tuple) else drawn
    assert drawn["image/svg+xml"].startswith("<svg")
