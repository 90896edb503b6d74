"""Checks of failures: the most serious first."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import LEVELS
from gpuplan.scenario import from_dict


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


def test_the_most_serious_first(catalog: Catalog) -> None:
    found = check_plan(
        make_plan(
            from_dict(
                {
                    "groups": one(people=5),
                    "demand": {"rule": "stated", "stated_gpus": 4},
                    "platform": {"bitfusion": True},
                }
            ),
            catalog,
        )
    )
    assert [LEVELS.index(m.level) for m in found] == sorted(LEVELS.index(m.level) for m in found)
    assert {m.level for m in found} == set(LEVELS)


@pytest.mark.parametrize(
    ("gpu", "gpus_each", "expected"),
    [
        ("v100-pcie-32gb", 0.5, set()),
        ("v100-pcie-32gb", 1, {"stun-worst-case"}),  # as large as the largest one tried
        ("l40s-48gb", 0.5, set()),
        ("l40s-48gb", 1, {"stun-worst-case", "stun-extrapolated"}),
    ],
)
def test_the_worst_stun_tried_is_named_where_a_vm_is_as_large(
    catalog: Catalog, gpu: str, gpus_each: float, expected: set[str]
) -> None:
    """The vendor's worst case: 32 GB of vGPU in a VM of 32 GB stood still for 99 s, and a limit of 100 s is usual."""
    data = {
        "groups": one(people=3, gpus_each=gpus_each, access="vgpu"),
        "hardware": {"gpu": gpu, "gpus_per_host": 4},
        "platform": {"vsphere": "8.0u3"},
    }
    found = {m.code for m in check_plan(make_plan(from_dict(data), catalog)) if m.code.startswith("stun")}
    assert found == expected


@pytest.mark.parametrize("mtbf_h", [24, 48, 500, 40_000])
@pytest.mark.parametrize("people", [8, 40, 150, 400])
def test_advice_on_failover_capacity_goes_once_it_is_followed(
    catalog: Catalog, people: int, mtbf_h: int
) -> None:
    """Where a failure is almost certain, hours with and without it round to the same."""
    groups = [{"id": "a", "people": people, "gpus_each": 1}]
    for failures in (0, 1, 2):
        availability = {"host_failures": failures, "mtbf_h": mtbf_h, "maintenance_failure_accepted": True}
        plan = make_plan(from_dict({"groups": groups, "availability": availability}), catalog)
        codes = {found.code for found in check_plan(plan)}
        assert ("maintenance-takes-gpus" in codes) is (failures == 0)
        assert ("maintenance-bet" in codes) is (failures == 1)
