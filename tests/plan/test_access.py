"""Allocation: profiles, who shares a GPU with whom, and what a GPU on a vSphere version allows."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
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


def test_several_fractional_vgpus_in_a_vm(catalog: Catalog) -> None:
    twice = [group("pair", 3, 1, vgpus_each=2)]
    old = planned(catalog, "v100-pcie-32gb", "7.0u3", twice)
    assert old.group("pair").mode == ""
    reasons = {r.mode: r.reason for r in old.group("pair").ruled_out}
    assert reasons["vgpu"].code == "multi-vgpu-full-only"
    new = planned(catalog, "l40s-48gb", "8.0u3", twice)
    pair = new.group("pair")
    assert (pair.mode, pair.profile, pair.frame_buffer_mb) == ("vgpu", "L40S-24C", 2 * 24576)
    for host in new.pools[0].placement:
        slots = [(s.group, s.vm) for load in host for s in load.slots]
        assert all(slots.count(slot) == 2 for slot in slots)  # both vGPUs of a VM are in its host


def test_more_vgpus_than_a_version_allows(catalog: Catalog) -> None:
    nine = [group("many", 1, 1, vgpus_each=9)]
    plan = planned(catalog, "l40s-48gb", "8.0u1", nine)
    assert {r.mode: r.reason.code for r in plan.group("many").ruled_out}["vgpu"] == "too-many-vgpus"
    assert planned(catalog, "l40s-48gb", "8.0u2", nine).group("many").mode == "vgpu"  # sixteen from 8.0 U2


def test_a_vgpu_is_at_most_one_gpu(catalog: Catalog) -> None:
    with pytest.raises(ScenarioError, match="a vGPU is at most one GPU"):
        planned(catalog, "l40s-48gb", "8.0u3", [group("g", 1, 4, vgpus_each=2)])


def test_stun_grows_with_the_frame_buffer_of_all_vgpus(catalog: Catalog) -> None:
    groups = [group("whole", 1, 1), group("two", 1, 2), group("quarter", 1, "1/4")]
    plan = planned(catalog, "v100-pcie-32gb", "7.0u3", groups)
    stun = {g.id: g.stun_s or 0 for g in plan.groups}
    assert stun["whole"] == pytest.approx(39, abs=2)  # measured: 32 GB
    assert stun["quarter"] == pytest.approx(12, abs=2)  # measured: 8 GB
    assert stun["two"] > 1.8 * stun["whole"]
    assert (
        planned(catalog, "v100-pcie-32gb", "7.0u3", [group("g", 1, 1, access="passthrough")])
        .group("g")
        .stun_s
        is None
    )


def test_a_line_about_a_profile_speaks_of_vgpus_where_there_are_several(catalog: Catalog) -> None:
    """Half a GPU in one vGPU is half of 48 GB; one GPU in two fractional ones is twice the same."""
    for vgpus, gpus_each, inputs in (
        (1, 0.5, {"gpus_each", "max_per_gpu"}),
        (2, 1, {"gpus_each", "max_per_gpu", "vgpus_each"}),
    ):
        plan = planned(catalog, "l40s-48gb", "8.0u3", [group("g", 3, gpus_each, vgpus_each=vgpus)])
        line = plan.lines["groups.g.profile"]
        assert line.value == "L40S-24C"
        assert {i.name for i in line.inputs} == inputs
