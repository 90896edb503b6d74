"""A design in the hand: code, sliders and clicks move the same plan."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import ipywidgets
import pytest

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


def test_a_chart_of_a_design_follows_it(design: Design) -> None:
    chart = design.chart("capacity")
    design.set(PEOPLE, 6)
    assert next(row["left"] for row in chart.rows["rows-0"]) == design.plan.totals.gpus > 32
    with pytest.raises(ScenarioError, match="there is no chart"):
        design.chart("costs")
    for slow in ("tornado", "frontier"):
        with pytest.raises(ScenarioError, match="plans many designs"):
            design.chart(slow)


def test_charts_of_a_design_need_no_altair() -> None:
    code = """if True:
        import sys, gpuplan
        design = gpuplan.Design("enterprise")
        charts = [design.chart(name) for name in ("cost", "demand", "waiting", "capacity", "network")]
        design.set("groups.researchers.people", 4)
        print({"altair", "pandas"} & set(sys.modules))
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_each_step_leaves_a_card_of_its_own(design: Design) -> None:
    cards = {step: design.widget(step).kept()[0].data["text/html"] for step, _ in STEPS}
    assert len(set(cards.values())) == len(STEPS)
    for step, said in (
        ("cost", "Year 3"),
        ("hosts", "Host failed"),
        ("network", "Slowdown"),
        ("design", "Implication"),
    ):
        assert said in cards[step]
    assert design.widget("hosts")._head.data["sentence"] in cards["hosts"]


def test_a_design_in_a_cell_is_its_answer_and_tab_offers_what_a_person_needs(design: Design) -> None:
    assert repr(design) == f"Design({design.plan!r})" and design.plan.verdict.sentence in design._repr_html_()
    assert "slider" in dir(design) and "trait_names" not in dir(design) and len(dir(design)) < 20
    assert all(hasattr(design, name) for name in dir(design))


def test_steps_go_by_their_names_on_the_screen(design: Design) -> None:
    for name, step in (
        ("workloads", "usecases"),
        ("Workloads", "usecases"),
        ("Hosts", "hosts"),
    ):
        assert design.widget(name)._own_step == step
        assert workbook("starter", step=name)._own_step == step
    with pytest.raises(ScenarioError, match="did you mean workloads"):
        design.widget("workload")


def test_a_design_is_made_of_whatever_means_one(design: Design, catalog: Catalog) -> None:
    for meant in (design, design.plan, design.scenario, design.widget("hosts"), "enterprise"):
        assert (
            Design(meant, catalog).plan.totals.hosts
            == workbook(meant, catalog=catalog).plan.totals.hosts
            == 8
        )


# Sliders and choices: they set their input, follow it, and never overwrite what was set elsewhere


def test_a_slider_sets_its_input_and_follows_it(design: Design) -> None:
    slider = design.slider(PEOPLE, 1, 9)
    assert isinstance(slider, ipywidgets.IntSlider) and (slider.min, slider.max, slider.value) == (1, 9, 3)
    slider.value = 6
    assert design[PEOPLE] == 6 and slider.description == design.scenario.label(PEOPLE)
    design.widget("hosts")._receive("set", {"path": PEOPLE, "value": "4", "live": False})
    assert slider.value == 4


def test_ends_give_way_to_what_is_set_elsewhere_and_it_is_told_once(design: Design) -> None:
    """A slider up to 12 made 12 of a typed 50."""
    slider, seen = design.slider(PEOPLE, 1, 12), list[int]()
    design.observe(lambda change: seen.append(change["new"].get(PEOPLE)), "scenario")
    design.state.edit(PEOPLE, "50")
    assert design[PEOPLE] == 50 and seen == [50] and (slider.max, slider.value) == (50, 50)
    design.set(PEOPLE, 20)
    assert seen == [50, 20] and slider.value == 20
    assert design.slider(PEOPLE, 30, 40).min == 20


def test_a_slider_whose_group_is_gone_rests_until_it_is_back(design: Design) -> None:
    slider = design.slider(PEOPLE, 1, 12)
    design.state.delete_group("researchers")
    assert slider.disabled and "did not work" not in design.state.notice[1]
    design.scenario = "starter"
    assert design.scenario.name == "Starter example" and slider.disabled
    design.scenario = "enterprise"
    assert not slider.disabled and slider.value == 3


def test_a_slider_of_what_is_not_stated_shows_no_value(design: Design) -> None:
    slider = design.slider("availability.mtbf_h", 10_000, 100_000, 10_000)
    label = design.scenario.label("availability.mtbf_h")
    assert not slider.readout and slider.description.startswith(f"{label}: ")
    assert design.scenario.get("availability.mtbf_h") is None
    slider.value = 50_000
    assert (slider.readout, slider.description) == (True, label)
    assert design.scenario.get("availability.mtbf_h") == 50_000
    assert design.slider("groups.developers.people", 1, 100).readout


def test_a_refused_value_springs_back_and_says_why(design: Design) -> None:
    slider = design.slider("hardware.gpus_per_host", 0, 4)
    slider.value = 0
    assert slider.value == design["hardware.gpus_per_host"] == 4
    assert slider.description.endswith("0 refused") and "gpus_per_host" in slider.tooltip
    slider.value = 2
    assert "refused" in slider.description, "a researcher takes four GPUs of one host"
    design.set(PEOPLE, 4)
    assert slider.description == design.scenario.label("hardware.gpus_per_host")


@pytest.mark.parametrize(
    ("path", "ends", "kind", "form"),
    [
        ("groups.data-scientists.active_share", (0.1, 1, 0.05), ipywidgets.FloatSlider, ".0%"),
        ("cost.pue", (1, 2, 0.05), ipywidgets.FloatSlider, ".2f"),
        ("cost.years", (3, 7), ipywidgets.IntSlider, "d"),
    ],
)
def test_a_number_reads_as_what_it_is(
    design: Design, path: str, ends: tuple[float, ...], kind: Any, form: str
) -> None:
    slider = design.slider(path, *ends)
    assert isinstance(slider, kind) and slider.readout_format == form
    assert slider.value == design.plan.planned(path), "the planning value where nothing is stated"


def test_a_choice_offers_what_an_input_may_be_by_name(design: Design) -> None:
    transport, gpu = (
        design.choice("network.transport"),
        design.choice("hardware.gpu", "v100-pcie-32gb", "t4-16gb"),
    )
    assert transport.value == "pvrdma" and transport.label == "PVRDMA"
    assert [label for label, _ in gpu.options] == ["Tesla V100 PCIe 32GB", "Tesla T4"]
    transport.value = "tcp"
    assert design["network.transport"] == "tcp"
    design.set("network.transport", "roce")
    assert transport.value == "roce"
    accepted = design.choice("availability.maintenance_failure_accepted")
    accepted.value = False
    assert design.plan.totals.hosts == 9
    server = design.choice("hardware.server")
    assert None in [value for _, value in server.options]


def test_text_is_no_slider_and_a_number_no_choice(design: Design) -> None:
    with pytest.raises(ScenarioError, match=r"hardware\.gpu.*design\.choice"):
        design.slider("hardware.gpu", 1, 2)
    with pytest.raises(ScenarioError, match=r"design\.slider"):
        design.choice(PEOPLE)
    with pytest.raises(ScenarioError, match="did you mean"):
        design.slider("groups.researchers.peopel", 1, 2)
