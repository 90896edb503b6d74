"""Checks of sharing."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.sharing import smallest_profile
from gpuplan.scenario import from_dict

L40S = {"hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


def test_the_conflict_about_bitfusion_and_vgpu_cites_both_sides(plans: dict[str, Plan]) -> None:
    (note,) = [m for m in check_plan(plans["enterprise"]) if m.code == "bitfusion-fed-by-vgpu"]
    assert note.sources == ("vmware-sharing-gpus-2020", "vmware-bitfusion-faq")
    assert note.path == "platform.bitfusion_servers"
    assert note.change
    assert "bitfusion-fed-by-vgpu" not in {m.code for m in check_plan(plans["starter"])}


@pytest.mark.parametrize(
    ("people", "servers", "warned"),
    [(2, 1, False), (4, 2, True), (8, 3, False)],  # with a spare host each: 4 GPUs to a host
)
def test_two_bitfusion_servers_are_one_too_few(
    catalog: Catalog, people: int, servers: int, warned: bool
) -> None:
    spare = 0 if people == 2 else 1
    found = messages(
        catalog,
        groups=one(people=people),
        platform={"bitfusion": True},
        availability={"host_failures": spare},
        **L40S,
    )
    assert ("bitfusion-two-servers" in found) is warned


@pytest.mark.parametrize(("gpus_each", "said"), [(0.5, True), (1, False)])
def test_bitfusion_divides_memory_only_where_somebody_takes_a_part_of_a_gpu(
    catalog: Catalog, gpus_each: float, said: bool
) -> None:
    found = messages(catalog, groups=one(people=4, gpus_each=gpus_each), platform={"bitfusion": True})
    assert ("bitfusion-memory-only" in found) is said


@pytest.mark.parametrize(
    ("gpu", "group", "platform"),
    [
        ("l40s-48gb", {"gpus_each": "1/4"}, {"vgpu_sizes": "mixed"}),
        ("h100-pcie-80gb", {"gpus_each": "1/7", "isolation": True}, {}),
    ],
)
def test_sizes_whose_places_on_a_gpu_are_listed_share_it(
    catalog: Catalog, gpu: str, group: dict[str, Any], platform: dict[str, Any]
) -> None:
    more = {"people": 3, "remote_allowed": False, **group}
    data: dict[str, Any] = {
        "groups": [*one(**more | {"gpus_each": 0.5}), {"id": "b", **more}],
        "hardware": {"gpu": gpu, "gpus_per_host": 4},
        "platform": {"vsphere": "8.0u3", **platform},
    }
    plan = make_plan(from_dict(data), catalog)
    families = {r.family for r in plan.pools[0].requests}
    assert [len(family.profiles) for family in families if family] == [2]
    assert not {"mixed-size-unlisted", "mig-unlisted"} & set(messages(catalog, **data))


@pytest.mark.parametrize(
    ("gpu", "share", "figures"),
    [
        (
            "h100-nvl-94gb",
            0.5,
            ("1/2", "H100L-3-47C", "3", "7", "43 %"),
        ),
        (
            "a100-pcie-80gb",
            "1/3",
            ("1/3", "A100D-2-20C", "2", "7", "29 %"),
        ),
        (
            "h100-nvl-94gb",
            0.2,
            ("1/5", "H100L-1-24C", "1", "7", "14 %"),
        ),
        ("h100-nvl-94gb", 0.125, ()),  # 1 of 7
        ("h100-nvl-94gb", 0.25, ()),  # 2 of 7
        ("a30-24gb", 0.5, ()),  # 2 of 4
        ("a30-24gb", 0.25, ()),
    ],
)
def test_a_guarantee_that_a_slice_does_not_keep_is_said(
    catalog: Catalog, gpu: str, share: float | str, figures: tuple[str, ...]
) -> None:
    """H100L-3-47C was given for a guaranteed half, in silence: 3 of 7 compute slices are 43 %."""
    data = {"hardware": {"gpu": gpu}, "platform": {"vsphere": "8.0u3"}}
    found = messages(catalog, groups=one(gpus_each=share, isolation=True, remote_allowed=False), **data)
    assert ("guarantee-not-kept" in found) == bool(figures)
    if figures:
        assert is_approved(found["guarantee-not-kept"].text, *figures)
        assert has_approved(found["guarantee-not-kept"].change, "1/")
    data["platform"]["vgpu_sizes"] = "mixed"
    mixed = messages(catalog, groups=one(gpus_each=share, isolation=True, remote_allowed=False), **data)
    assert not figures or "whole GPU" in mixed["guarantee-not-kept"].change
    without = messages(catalog, groups=one(gpus_each=share, access="mig", remote_allowed=False), **data)
    assert "guarantee-not-kept" not in without


@pytest.mark.parametrize("parts", range(2, 17))
def test_the_fixed_share_scheduler_keeps_every_guarantee(catalog: Catalog, parts: int) -> None:
    for gpu in catalog.gpus:
        profile = smallest_profile(catalog, gpu, "timesliced", "8.0u3", 1 / parts)
        assert profile is None or profile.max_per_gpu <= parts


@pytest.mark.parametrize(("platform", "ignored"), [({}, False), ({"vgpu_sizes": "mixed"}, True)])
def test_a_policy_that_vsphere_ignores_is_said(
    catalog: Catalog, platform: dict[str, str], ignored: bool
) -> None:
    halves = {"groups": one(gpus_each=0.5, remote_allowed=False), "hardware": {"gpu": "l40s-48gb"}}
    grouped = messages(catalog, **halves, platform={"gpu_policy": "group", **platform})
    spread = messages(catalog, **halves, platform=platform)
    assert ("gpu-policy-ignored" in grouped, "gpu-policy-ignored" in spread) == (ignored, False)
