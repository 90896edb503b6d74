"""Records: the trail that every number leaves."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan.facts import Fact, own_rows
from gpuplan.models.availability import installed_gpus, sum_over_pools
from gpuplan.models.network import GpuHosts, Link, Overlap
from gpuplan.models.network.parameter_servers import OVERLAP, parameter_server_step_s
from gpuplan.models.network.training import training_step_s
from gpuplan.models.placement import place
from gpuplan.plan.checks.message import Message
from gpuplan.plan.trail import WORDS, Trail, call
from gpuplan.units import SUFFIX


def fact(key: str, value: Any, basis: str = "published", source: str = "brochure") -> Fact:
    return Fact(key, value, "1", None, None, basis, (source,), "page 3", "a note")


def test_words_are_filled_in_as_they_are_given() -> None:
    here = Trail().about("postures.n1", name="N+1")
    for existing in (1, 1.0, True):
        line = here.record(
            "short_h", sum_over_pools, 2.0, when="mixed", words={"existing": existing, "kinds": ""}
        )
        assert has_approved(line.formula, existing, "{hosts_u}")


def test_a_line_holds_what_made_it() -> None:
    trail = Trail().about("pools.a", name="Pool A")
    line = trail.compute(
        "gpus",
        installed_gpus,
        hosts=fact("hardware.hosts", 8, "assumed"),
        gpus_per_host=fact("hardware.gpus_per_host", 4),
    )
    assert (line.key, line.label, line.unit) == ("pools.a.gpus", "Pool A: GPUs", "GPU")
    assert is_approved(line.formula, "{hosts_u}", "{gpus_per_host}")
    assert line.value == 32
    assert line.function == "models.availability.host_counts.installed_gpus"
    assert is_approved(line.sentence)
    assert line.basis == "assumed"  # the weaker of published and assumed
    assert line.sources == (
        "brochure",
        "vmware-sharing-gpus-2020",
    )  # the inputs', then those of the model's module
    total = trail.record("gpus", sum_over_pools, 32)
    assert total.sources == ("vmware-bitfusion-faq",), "the function's own, where it cites one"
    assert [(i.name, i.key, i.value, i.basis) for i in line.inputs] == [
        ("hosts", "hardware.hosts", 8, "assumed"),
        ("gpus_per_host", "hardware.gpus_per_host", 4, "published"),
    ]
    assert line.inputs[1].label == "GPUs per host"
    assert (line.inputs[0].locator, line.inputs[0].note) == ("page 3", "a note")


def test_inputs_that_are_fields_of_records_go_into_these() -> None:
    """The line shows each of them; a record within one, too."""
    inputs = {"compute_s": 0.2, "gradient_mb": 553, "late_share": 0.1}
    network = {"hosts": 4, "gpus_per_host": 4, "link_gbit_s": 25, "transport": "roce"}
    line = (
        Trail()
        .about("network.job", name="Job")
        .compute(
            "step_s",
            training_step_s,
            {name: fact(f"network/job/{name}", value) for name, value in (inputs | network).items()},
            words={"took": "0.1"},
        )
    )
    hosts = GpuHosts(4, Link(25, "roce"), gpus_per_host=4)
    assert line.value == training_step_s(0.2, gradient_mb=553, over=hosts, overlap=Overlap(0.1))
    assert [i.name for i in line.inputs] == [*inputs, *network]
    with pytest.raises(TypeError, match="hours"):
        call(training_step_s, inputs | network | {"hours": 1})


def test_fields_that_are_not_given_are_as_the_function_has_them() -> None:
    inputs = {"compute_s": 0.2, "gradient_mb": 553, "largest_variable_mb": 411, "hosts": 4, "link_gbit_s": 25}
    by_hand = parameter_server_step_s(
        0.2,
        gradient_mb=553,
        largest_variable_mb=411,
        over=GpuHosts(4, Link(25)),
        overlap=dataclasses.replace(OVERLAP, late_share=0.1),
    )
    assert call(parameter_server_step_s, inputs | {"late_share": 0.1}) == by_hand


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("hardware.gpus_per_host", "GPUs per host"),
        ("assumptions/host-reliability/mtbf_h", "Host reliability time between failures"),
        ("gpus/v100-pcie-32gb/tdp_w", "V100 pcie 32gb board power"),
        ("profiles/H100L-47C/max_per_gpu", "H100L-47C max per GPU"),
        ("assumptions/vmotion-stun-10g/copy_rate_gb_s", "Vmotion stun 10g copy rate"),
        ("plan/GPUs left after a failure", "GPUs left after a failure"),
        ("factors/grid_kg_kwh", "CO\u2082 of a kWh"),
    ],
)
def test_an_input_is_called_in_words(key: str, label: str) -> None:
    line = Trail().record("totals.hosts", installed_gpus, 1, x=fact(key, 1, "measured"))
    assert line.inputs[0].label == label


def test_a_line_can_be_an_input() -> None:
    trail = Trail()
    parts = {
        name: trail.about(f"pools.{name}", name=name).record(
            "hosts", installed_gpus, value, x=fact("x/y/some_key", value, basis)
        )
        for name, value, basis in [("a", 3, "derived"), ("b", 4, "measured")]
    }
    assert parts["a"].inputs[0].label == "Y some key"
    total = trail.add_up("totals.hosts", sum_over_pools, parts)
    assert (total.value, total.basis, total.formula) == (7, "derived", "{part1} + {part2} = {value}")
    assert [i.key for i in total.inputs] == ["pools.a.hosts", "pools.b.hosts"]
    again = trail.repeat("totals.hosts_for_demand", total)
    assert is_approved(again.label)
    assert dataclasses.replace(again, key=total.key, label=total.label) == total
    assert list(trail.lines) == ["pools.a.hosts", "pools.b.hosts", "totals.hosts", "totals.hosts_for_demand"]


def test_a_sum_of_nothing() -> None:
    line = Trail().add_up("totals.hosts", sum_over_pools, {})
    assert (line.value, line.formula, line.basis) == (0, "0 = {value}", "derived")


def test_words_name_the_case_and_fill_in_what_is_no_input() -> None:
    here = Trail().about("pools.a", name="Pool A")
    given = {"gpus_demanded": fact("x/y/z", 9)}
    shared = here.record(
        "shared.V100D-8C", place, 3, given, when="heuristic", words={"family": "V", "least": 2}
    )
    assert shared.key == "pools.a.shared.V100D-8C"
    assert is_approved(shared.label)
    assert is_approved(shared.formula, "{value_u}", "2")
    with pytest.raises(KeyError):
        here.record("hosts", place, 3, given, when="no such case")


def test_every_line_has_its_words() -> None:
    """The rows that say what lines are called: units that are known, and no key twice for the same case."""
    rows = [(key, row["when"]) for row in own_rows("words/lines") for key in row["key"].split()]
    assert len(rows) == len(set(rows)) == len(WORDS)
    assert {said.unit for said in WORDS.values()} <= {*SUFFIX.values(), "1", "{currency}", ""}
    assert all(said.label for said in WORDS.values())


def test_records_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Message("code", "note", "text").level = "stop"  # type: ignore[misc]
