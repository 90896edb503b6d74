"""Totals: VMs without a GPU before and after a failure."""

from __future__ import annotations

from typing import Any

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict


def planned(catalog: Catalog, **data: Any) -> Plan:
    return make_plan(from_dict(data), catalog)


def groups(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": f"g{number}", **item} for number, item in enumerate(items, 1)]


# ---- the two worked designs: the table of the reference architecture


def test_after_the_worst_failure_those_without_a_gpu_before_are_counted_too(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        groups=groups({"people": 10}),
        demand={"rule": "stated", "stated_gpus": 8},
        availability={"host_failures": 0},
    )
    # two beyond the total, and four on the host that fails
    assert (plan.totals.unplaced_vms, plan.totals.unplaced_vms_after_failure) == (2, 6)


def test_totals_add_up_over_pools(catalog: Catalog) -> None:
    """3 GPUs by vGPU on one host of 4 and 5 by passthrough on two, each pool with a spare host."""
    totals = planned(catalog, groups=groups({"people": 3}, {"people": 5, "access": "passthrough"})).totals
    assert (totals.hosts_for_demand, totals.hosts_for_failures, totals.hosts) == (1 + 2, 1 + 1, 2 + 3)
    assert (totals.gpus, totals.gpus_after_failure) == (20, 16)


def test_without_hosts_no_failure_leaves_anybody_without_a_gpu(catalog: Catalog) -> None:
    assert planned(catalog).totals.unplaced_vms_after_failure == 0
