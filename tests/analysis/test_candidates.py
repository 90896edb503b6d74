"""Candidates: what is combined, and what cannot be built."""

from __future__ import annotations

from dataclasses import replace

import pytest
from approved import has_approved, is_approved
from explored import SPACE

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.candidates import (
    Candidate,
    asked,
    candidates,
    default_space,
    hopeless,
    kind_candidates,
    maybe_ended,
    not_offered,
    roomier,
    too_little,
    unfit,
)
from gpuplan.analysis.option import assess
from gpuplan.catalog import Catalog
from gpuplan.plan.hardware import fit_of
from gpuplan.scenario import Scenario, new_hosts

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
    assert sum(not unfit(scenario, catalog, each) for each in every) >= 60
    assert asked(scenario) in every
    assert len({each.gpu for each in every}) > 3
    assert not any(too_little(gpu, scenario, catalog) for gpu in space.gpus)
    for gpu in space.gpus:
        assert any(not unfit(scenario, catalog, each) for each in every if each.gpu == gpu)
    fewest = scenario.availability.host_failures
    assert space.host_failures == (fewest, fewest + 1)


def test_a_board_with_less_memory_or_speed_does_not_replace_the_one_asked_for(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    assert "GiB of memory" in too_little("l40s-48gb", scenario, catalog)
    assert has_approved(too_little("a100-pcie-80gb", scenario, catalog))
    assert too_little("h100-sxm5-80gb", scenario, catalog) == ""


def test_the_design_as_it_stands_changes_nothing(catalog: Catalog) -> None:
    for scenario in (*(load_scenario(name) for name in EXAMPLES), Scenario()):
        assert asked(scenario).apply(scenario, catalog) == scenario


def test_a_candidate_changes_what_it_says_and_nothing_else(starter: Scenario, catalog: Catalog) -> None:
    candidate = Candidate("v100-pcie-32gb", "", 8, "vgpu", 50, 3)
    changed = candidate.apply(starter, catalog)
    before, after = starter.to_dict(), changed.to_dict()
    assert after["hardware"] == {k: v for k, v in before["hardware"].items() if k != "server"} | {
        "gpu": "v100-pcie-32gb",
        "gpus_per_host": 8,
    }
    assert after["network"] == before["network"] | {"link_gbit_s": 50}
    assert after["availability"] == before["availability"] | {"host_failures": 3}
    assert [g["access"] for g in after["groups"]] == ["vgpu"] * len(before["groups"])
    for part in ("demand", "platform", "training", "cost"):
        assert after[part] == before[part]


def test_a_choice_of_the_customer_stays(starter: Scenario, catalog: Catalog) -> None:
    first = starter.groups[0].id
    decided = starter.with_value(f"groups.{first}.access", "passthrough")
    changed = replace(asked(starter), sharing="bitfusion").apply(
        decided.with_value("platform.bitfusion", False), catalog
    )
    assert [group.access for group in changed.groups] == [
        "passthrough",
        *["bitfusion"] * (len(starter.groups) - 1),
    ]
    assert changed.platform.bitfusion


def test_hosts_already_there_join_no_other_gpu(starter: Scenario, catalog: Catalog) -> None:
    there = starter.with_value("hardware.existing", "3 x 2")
    assert asked(there).apply(there, catalog).hardware.existing == "3 x 2"
    other = replace(asked(there), gpu="a40-48gb").apply(there, catalog).hardware
    assert other.existing is None


def test_a_server_must_be_known_to_be_sold_with_the_boards(catalog: Catalog) -> None:
    scenario = load_scenario("current")

    def why(gpu: str, server: str, count: int) -> str:
        return unfit(scenario, catalog, Candidate(gpu, server, count, "as asked", 100, 1))

    assert why("h100-nvl-94gb", "dell-r760xa", 4) == ""  # as it stands
    assert why("h100-nvl-94gb", "lenovo-sr675-v3", 8) == ""
    assert is_approved(
        why("h100-nvl-94gb", "lenovo-sr675-v3", 16), "ThinkSystem SR675 V3", "8", "H100 NVL 94GB"
    )
    assert is_approved(why("h200-nvl-141gb", "dell-r760xa", 4), "PowerEdge R760xa", "H200 NVL 141GB")
    assert why("h200-nvl-141gb", "", 8) == ""
    assert is_approved(why("h200-nvl-141gb", "", 16), "16", "H200 NVL 141GB")
    assert is_approved(why("h100-sxm5-94gb", "", 8), "H100 SXM5 94GB")
    assert has_approved(why("h200-nvl-141gb", "dell-xe7745", 2), "4")


def test_modules_with_nvswitch_come_as_a_whole_in_their_own_chassis(catalog: Catalog) -> None:
    scenario = load_scenario("current")

    def why(gpu: str, server: str, count: int) -> str:
        return unfit(scenario, catalog, Candidate(gpu, server, count, "as asked", 100, 1))

    assert why("h100-sxm5-80gb", "dell-xe9680", 8) == ""
    assert why("h200-sxm5-141gb", "hpe-xd670", 8) == ""
    assert is_approved(why("h100-sxm5-80gb", "dell-xe9680", 4), "PowerEdge XE9680", "8", "H100 SXM5 80GB")
    assert why("h100-sxm5-80gb", "dell-xe8640", 4) == ""
    assert "No source says" in why("h100-sxm5-80gb", "dell-r760xa", 8)
    for name in EXAMPLES:
        space = default_space(load_scenario(name), catalog)
        for gpu in space.gpus:
            if "SXM" in str(catalog.gpus[gpu].value("form_factor")):
                assert any(fit_of(catalog, server, gpu) for server in space.servers)
    space = default_space(scenario, catalog)
    assert {"dell-xe9680", "dell-xe8640"} & set(space.servers) and 8 in space.gpus_per_host


def test_a_larger_server_is_not_offered_for_what_a_smaller_one_takes(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    space = replace(default_space(scenario, catalog), servers=("dell-c4140", "dell-r760xa", "dell-xe7740"))

    def larger(gpu: str, server: str, count: int) -> bool:
        return roomier(scenario, catalog, space, Candidate(gpu, server, count, "as asked", 100, 1))

    assert larger("l40s-48gb", "dell-xe7740", 4) and not larger("l40s-48gb", "dell-xe7740", 8)
    assert not larger("l40s-48gb", "dell-r760xa", 4)


def test_boards_that_are_surely_sold_are_looked_at_first(catalog: Catalog) -> None:
    gpus = default_space(load_scenario("starter"), catalog).gpus
    assert gpus[0] == "v100-pcie-32gb"  # the one asked for, however old
    assert not any(maybe_ended(gpu, catalog, "2026-11-21") for gpu in gpus[1:])
    assert maybe_ended("a40-48gb", catalog, "2026-11-21") and not maybe_ended(
        "a40-48gb", catalog, "2025-11-21"
    )


def test_the_design_as_it_stands_needs_no_list(starter: Scenario, catalog: Catalog) -> None:
    own = asked(starter)
    assert unfit(starter, catalog, own) == ""
    other = starter.with_value("hardware.gpu", "a40-48gb")
    assert fit_of(catalog, own.server, "a40-48gb") is None
    assert unfit(other, catalog, asked(other)) == ""
    assert "No source says" in unfit(other, catalog, replace(asked(other), gpus_per_host=4))
    assert hopeless(starter, catalog, replace(own, gpu="a40-48gb"))


def test_boards_without_double_precision_are_not_offered_to_hpc(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    for gpu in ("l40s-48gb", "a40-48gb", "rtx-pro-6000-se-96gb", "rtx8000-passive-48gb"):
        assert has_approved(too_little(gpu, scenario, catalog))
        assert gpu not in default_space(scenario, catalog).gpus
    assert too_little("a100-pcie-80gb", scenario, catalog) == ""
    assert "no source says" in too_little("rtx-pro-4500-se-32gb", scenario, catalog)
    without = scenario.with_groups([g for g in scenario.groups if g.use_case != "hpc"])
    assert too_little("l40s-48gb", without, catalog) == ""
    assert "l40s-48gb" in default_space(without, catalog).gpus
    own = scenario.with_value("hardware.gpu", "l40s-48gb")
    assert too_little("l40s-48gb", own, catalog) == ""  # what the customer states is not refused


def test_boards_that_no_chassis_takes_are_not_offered(catalog: Catalog) -> None:
    scenario = load_scenario("starter")
    out = not_offered(scenario, catalog)
    assert {"rtx6000-ada-48gb", "h100-sxm5-94gb", "t4-16gb"} <= set(out)  # no chassis, no chassis, too small
    assert not {"a40-48gb", "rtx-a6000-48gb", scenario.hardware.gpu} & set(out)


def test_a_chassis_that_is_known_to_take_a_board_stands_beside_one_of_which_it_is_derived(
    catalog: Catalog,
) -> None:
    scenario = load_scenario("current")
    space = default_space(scenario, catalog)
    fits = {server: fit_of(catalog, server, "h100-nvl-94gb") for server in space.servers}
    most = {server: fit for server, fit in fits.items() if fit and fit.gpus == 8}
    assert {fit.basis for fit in most.values()} == {"derived", "measured"}
    for name in EXAMPLES:
        assert {"h200-nvl-141gb", "h100-pcie-80gb", "h100-sxm5-80gb"} <= set(
            default_space(load_scenario(name), catalog).gpus
        )


def test_candidates_of_a_further_kind_of_hosts_change_that_kind_alone(catalog: Catalog) -> None:
    """Each is the design with other hosts for these groups; hosts of the first kind stay, and so does the demand there."""
    scenario = load_scenario("enterprise").with_value("hardware.kinds", "Large: 8 x h200-nvl-141gb")
    scenario = scenario.with_value("groups.researchers.hosts", "Large")
    first = make_plan(scenario, catalog, check=False).hosts_by_pool()["vgpu"]
    designs = list(kind_candidates(scenario, catalog))
    assert {design.of for design in designs} == {"Large"}
    assert len({design.gpu for design in designs}) > 1
    for design in designs:
        other = design.apply(scenario, catalog)
        assert other.hardware.gpu == scenario.hardware.gpu
        (kind,) = new_hosts(other.hardware.kinds)
        assert (kind.gpu, kind.server or "", kind.gpus) == (design.gpu, design.server, design.gpus_per_host)
        kept = [group for group in scenario.groups if not group.hosts]
        assert [group for group in other.groups if not group.hosts] == kept
        option = assess(scenario, catalog, design)
        if option.hosts is not None:
            plan = make_plan(other, catalog, check=False)
            assert (option.hosts, option.gpus) == (plan.totals.hosts, plan.totals.gpus)
            assert plan.hosts_by_pool()["vgpu"] == first
            assert plan.costs and option.net_present == plan.costs.net_present
    assert not list(kind_candidates(load_scenario("starter"), catalog))


def test_a_candidate_of_the_first_kind_leaves_the_demand_of_others(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("hardware.kinds", "Large: 8 x h200-nvl-141gb")
    scenario = scenario.with_value("groups.researchers.hosts", "Large")
    other = replace(asked(scenario), gpu="h100-nvl-94gb", server="").apply(scenario, catalog)
    before, after = ({group.id: group for group in one.groups} for one in (scenario, other))
    assert after["researchers"] == before["researchers"]
    assert after["data-scientists"] != before["data-scientists"]
    assert other.hardware.kinds == scenario.hardware.kinds
