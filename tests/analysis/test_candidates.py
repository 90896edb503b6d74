"""Candidates: what is combined, and what cannot be built."""

from __future__ import annotations

from dataclasses import replace

import pytest
from explored import SPACE

from gpuplan import load_scenario
from gpuplan.analysis.candidates import Candidate, asked, candidates, default_space, too_little, unfit
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario

EXAMPLES = ("starter", "enterprise", "current")


def test_candidates_are_all_combinations_each_once() -> None:
    assert len(candidates(SPACE)) == 3 * 3 * 2 * 2 * 2 * 3
    assert len(set(candidates(SPACE))) == len(candidates(SPACE))
    assert candidates(replace(SPACE, links=(10, 100, 10))) == candidates(SPACE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_default_space_is_sensible(name: str, catalog: Catalog) -> None:
    scenario = load_scenario(name)
    space = default_space(scenario, catalog)
    every = candidates(space)
    assert 200 <= len(every) <= 1_500
    assert asked(scenario) in every
    assert len({each.gpu for each in every}) > 3
    assert not any(too_little(gpu, scenario, catalog) for gpu in space.gpus)
    for gpu in space.gpus:
        assert any(not unfit(scenario, catalog, each) for each in every if each.gpu == gpu)


def test_a_board_with_less_memory_or_speed_does_not_replace_the_one_asked_for(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    assert "GiB of memory" in too_little("l40s-48gb", scenario, catalog)
    assert "TFLOP/s of peak speed" in too_little("a100-pcie-80gb", scenario, catalog)
    assert too_little("h100-sxm5-80gb", scenario, catalog) == ""


def test_the_design_as_it_stands_changes_nothing(starter: Scenario) -> None:
    for scenario in (*(load_scenario(name) for name in EXAMPLES), Scenario()):
        assert asked(scenario).apply(scenario) == scenario


def test_a_candidate_changes_what_it_says_and_nothing_else(starter: Scenario) -> None:
    candidate = Candidate("a40-48gb", "", 8, "vgpu", 50, 3)
    changed = candidate.apply(starter)
    before, after = starter.to_dict(), changed.to_dict()
    assert after["hardware"] == {k: v for k, v in before["hardware"].items() if k != "server"} | {
        "gpu": "a40-48gb",
        "gpus_per_host": 8,
    }
    assert after["network"] == before["network"] | {"link_gbit_s": 50}
    assert after["availability"] == before["availability"] | {"host_failures": 3}
    assert [g["access"] for g in after["groups"]] == ["vgpu"] * len(before["groups"])
    for part in ("demand", "platform", "training", "cost"):
        assert after[part] == before[part]


def test_a_choice_of_the_customer_stays(starter: Scenario) -> None:
    first = starter.groups[0].id
    decided = starter.with_value(f"groups.{first}.access", "passthrough")
    changed = replace(asked(starter), sharing="bitfusion").apply(
        decided.with_value("platform.bitfusion", False)
    )
    assert [group.access for group in changed.groups] == [
        "passthrough",
        *["bitfusion"] * (len(starter.groups) - 1),
    ]
    assert changed.platform.bitfusion


def test_hosts_already_there_join_no_other_gpu(starter: Scenario) -> None:
    there = starter.with_value("hardware.existing_hosts", 3).with_value("hardware.existing_gpus_per_host", 2)
    assert asked(there).apply(there).hardware.existing_hosts == 3
    other = replace(asked(there), gpu="a40-48gb").apply(there).hardware
    assert (other.existing_hosts, other.existing_gpus_per_host) == (0, None)


def test_a_server_must_be_known_to_hold_the_boards(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")

    def why(gpu: str, server: str, count: int) -> str:
        return unfit(scenario, catalog, Candidate(gpu, server, count, "as asked", 100, 1))

    assert why("a40-48gb", "dell-c4140", 4) == ""
    assert "at most 4 double-wide" in why("a40-48gb", "dell-c4140", 8)
    assert "SXM4 boards" in why("h100-sxm5-80gb", "nvidia-dgx-a100", 8)
    assert "is not known from a source" in why("a100-sxm4-80gb", "dell-r750xa", 4)
    assert "is not known from a source" in why("a40-48gb", "nvidia-dgx-a100", 4)
    assert "is part of a server" in why("a100-sxm4-80gb", "", 4)
    assert why("a40-48gb", "", 8) == ""
    assert "needs 4 in one host" in why("a40-48gb", "dell-c4140", 2)


def test_a_server_of_which_nothing_is_known_holds_what_the_design_puts_into_it(
    starter: Scenario, catalog: Catalog
) -> None:
    assert starter.hardware.server == "dell-r740xd"
    assert catalog.servers["dell-r740xd"].value("max_gpus_double_wide") is None
    other = replace(asked(starter), gpu="a40-48gb")
    assert unfit(starter, catalog, asked(starter)) == unfit(starter, catalog, other) == ""
    assert "is not known" in unfit(starter, catalog, replace(other, gpus_per_host=4))
    assert "is not known" in unfit(starter, catalog, replace(other, gpu="t4-16gb"))


def test_workstation_boards_are_not_proposed_for_server_boards(catalog: Catalog) -> None:
    fans = {gpu for gpu, item in catalog.gpus.items() if item.value("cooling") == "active"}
    assert "rtx-a6000-48gb" in fans
    scenario = load_scenario("enterprise")
    assert not fans & set(default_space(scenario, catalog).gpus)
    workstation = scenario.with_value("hardware.gpu", "rtx8000-48gb")
    assert len(fans & set(default_space(workstation, catalog).gpus)) > 1
