"""Sharing: which profiles share a GPU, and every way to share."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.sharing import sharing_modes
from gpuplan.scenario import ScenarioError, from_dict


def group(id: str, people: int, gpus_each: float | str, **more: Any) -> dict[str, Any]:
    return {"id": id, "name": id, "people": people, "gpus_each": gpus_each, "remote_allowed": False, **more}


def planned(catalog: Catalog, gpu: str, version: str, groups: list[dict[str, Any]], **platform: Any) -> Plan:
    return make_plan(
        from_dict(
            {
                "groups": groups,
                "hardware": {"gpu": gpu, "gpus_per_host": 4},
                "platform": {"vsphere": version, **platform},
            }
        ),
        catalog,
    )


def shared(plan: Plan) -> dict[str, int]:
    return {share.family: share.gpus for pool in plan.pools for share in pool.shared}


def test_counts_come_from_the_tables_not_from_memory_over_size(catalog: Catalog) -> None:
    for gpu, share, profile, most in [
        ("rtx8000-passive-48gb", "1/12", "RTX8000P-6C", 8),  # 48 / 4 would be 12; 4C stops at 8 as 6C does
        ("h200-nvl-141gb", "1/35", "H200-4C", 32),  # 141 / 4 would be 35
        ("a40-48gb", "1/3", "A40-16C", 3),
    ]:
        plan = planned(catalog, gpu, "8.0u3", [group("g", 2 * most + 1, share)])
        assert plan.group("g").profile == profile
        assert shared(plan) == {profile: 3}


def test_mixed_sizes_hold_fewer_of_one_size_and_more_of_several(catalog: Catalog) -> None:
    thirds = [group("thirds", 6, "1/3")]
    assert shared(planned(catalog, "a40-48gb", "8.0u3", thirds)) == {"A40-16C": 2}
    mixed = planned(catalog, "a40-48gb", "8.0u3", thirds, vgpu_sizes="mixed")
    assert shared(mixed) == {"A40-16C": 3}  # two on each
    assert "2 fit on a GPU" in mixed.group("thirds").profile_reason
    sizes = [group("half", 3, "1/2"), group("quarter", 6, "1/4")]
    assert shared(planned(catalog, "a40-48gb", "8.0u3", sizes)) == {"A40-24C": 2, "A40-12C": 2}
    together = planned(catalog, "a40-48gb", "8.0u3", sizes, vgpu_sizes="mixed")
    assert shared(together) == {"mixed sizes": 3}  # 24 + 12 + 12 GB on each of three
    profiles = [{slot.profile for slot in load.slots} for h in together.pools[0].placement for load in h]
    assert {"A40-24C", "A40-12C"} in profiles


@pytest.mark.parametrize(
    ("gpu", "version", "rule"),
    [
        ("l40s-48gb", "8.0u2", "Different frame buffer sizes on one GPU need vSphere 8.0 U3"),
        ("v100-pcie-32gb", "8.0u3", "Mixed sizes are not available on Volta and Turing"),
    ],
)
def test_mixed_sizes_are_refused_with_the_rule(catalog: Catalog, gpu: str, version: str, rule: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(catalog, gpu, version, [group("g", 1, "1/2")], vgpu_sizes="mixed")
    (problem,) = caught.value.problems
    assert problem.path == "platform.vgpu_sizes"
    assert rule in problem.message
    assert "(" in problem.message  # the source


def test_mig_slices_of_several_sizes_share_a_gpu(catalog: Catalog) -> None:
    def slices(count: int, share: str, profile: str) -> dict[str, Any]:
        return group(profile, count, share, isolation=True)

    groups = [slices(2, "3/7", "big"), slices(6, "1/7", "small")]
    plan = planned(catalog, "a100-pcie-40gb", "8.0u3", groups)
    assert plan.group("big").profile == "A100-3-20C"
    assert plan.group("small").profile == "A100-1-5C"
    assert shared(plan) == {"MIG layouts": 2}  # one 3g leaves three 1g
    apart = planned(catalog, "a100-pcie-40gb", "8.0u3", [groups[0], slices(7, "1/7", "small")])
    assert shared(apart) == {"MIG layouts": 2}  # 3g + 3g, and seven 1g
    more = planned(catalog, "a100-pcie-40gb", "8.0u3", [groups[0], slices(8, "1/7", "small")])
    assert shared(more) == {"MIG layouts": 3}  # 2 x 3 + 8 x 1 are 14 of 14 compute slices, and yet do not fit


def test_time_slices_and_mig_never_share_a_gpu(catalog: Catalog) -> None:
    groups = [group("slice", 1, "1/7", isolation=True), group("turn", 1, "1/8")]
    plan = planned(catalog, "a100-pcie-40gb", "8.0u3", groups, vgpu_sizes="mixed")
    assert sum(shared(plan).values()) == 2


@pytest.mark.parametrize(
    ("gpu", "version", "verdicts"),
    [
        (
            "v100-pcie-32gb",
            "7.0u3",
            {"equal": "yes", "mixed": "no", "mig": "no", "several": "no", "bitfusion": "yes"},
        ),
        ("v100-pcie-32gb", "8.0u3", {"equal": "yes", "mixed": "no", "mig": "no", "several": "unknown"}),
        ("l40s-48gb", "8.0u2", {"equal": "yes", "mixed": "no", "mig": "no", "several": "yes"}),
        ("l40s-48gb", "8.0u3", {"equal": "yes", "mixed": "yes", "mig": "no", "several": "yes"}),
        ("a100-pcie-80gb", "8.0u3", {"equal": "yes", "mixed": "yes", "mig": "yes", "several": "yes"}),
    ],
)
def test_what_a_gpu_on_a_version_allows(
    catalog: Catalog, gpu: str, version: str, verdicts: dict[str, str]
) -> None:
    scenario = from_dict({"hardware": {"gpu": gpu}, "platform": {"vsphere": version}})
    found = {mode.id: mode for mode in sharing_modes(scenario, catalog)}
    assert {id: found[id].verdict for id in verdicts} == verdicts
    assert all(mode.text and mode.sources for mode in found.values())


def test_every_gpu_on_every_version_has_an_answer(catalog: Catalog) -> None:
    for gpu in catalog.gpus:
        for version in catalog.vsphere:
            scenario = from_dict({"hardware": {"gpu": gpu}, "platform": {"vsphere": version}})
            modes = sharing_modes(scenario, catalog)
            assert all(source in catalog.sources for mode in modes for source in mode.sources)


def test_a_line_names_how_many_of_a_profile_a_gpu_holds_in_its_mode(catalog: Catalog) -> None:
    """Three of 16 GB on 48 GB; two where sizes are mixed. Of MIG instances the mode changes nothing."""
    for gpu, asked, mode, most in (
        ("l40s-48gb", group("g", 3, "1/3"), "equal", 3),
        ("l40s-48gb", group("g", 3, "1/3"), "mixed", 2),
        ("h100-sxm5-64gb", group("g", 3, "1/7", isolation=True), "equal", 7),
        ("h100-sxm5-64gb", group("g", 3, "1/7", isolation=True), "mixed", 7),
    ):
        plan = planned(catalog, gpu, "8.0u3", [asked], vgpu_sizes=mode)
        held = {i.name: i.value for i in plan.lines["groups.g.profile"].inputs}
        assert held["max_per_gpu"] == most
