"""Sliders and choices of a design: they set their input, follow it, and never overwrite what was set elsewhere."""

from __future__ import annotations

from typing import Any

import ipywidgets
import pytest

from gpuplan import Design, ScenarioError
from gpuplan.catalog import Catalog

PEOPLE = "groups.researchers.people"


@pytest.fixture
def design(catalog: Catalog) -> Design:
    return Design("enterprise", catalog)


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
    assert type(slider) is kind and slider.readout_format == form
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
