"""Messages about owned hosts that run nothing, and about VMs that no new host can take."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.scenario import from_dict


def planned(
    catalog: Catalog, board: str, existing: str, *, people: int = 10, failures: int = 1, **group: Any
) -> Plan:
    """One group on passthrough, and owned hosts."""
    one = {"id": "a", "people": people, "active_share": 1, "access": "passthrough", **group}
    hardware = {"gpu": board, "gpus_per_host": 4, "existing": existing}
    data = {"groups": [one], "hardware": hardware, "availability": {"host_failures": failures}}
    return make_plan(from_dict(data), catalog)


def codes(plan: Plan) -> list[str]:
    return [message.code for message in check_plan(plan)]


@pytest.mark.parametrize(
    ("board", "owned", "access", "used"),
    [
        ("l40s-48gb", "h100-nvl-94gb", "passthrough", True),
        ("l40s-48gb", "rtx8000-48gb", "passthrough", False),
        ("l4-24gb", "p40-24gb", "passthrough", False),
        ("l40s-48gb", "l40s-48gb", "vgpu", True),
    ],
)
def test_owned_hosts_that_run_nothing_are_named(
    board: str, owned: str, access: str, used: bool, catalog: Catalog
) -> None:
    plan = planned(catalog, board, f"Old: 3 x 4 {owned}", access=access)
    assert ("owned-hosts-not-used" in codes(plan)) is not used
    assert sum(pool.existing_hosts for pool in plan.pools) == 3 * used
    # ten VMs on three owned hosts of four and a spare one, or on four new ones
    assert (plan.totals.hosts, plan.inventory.buy if plan.inventory else -1) == (4, 1 if used else 4)


def test_whole_gpus_by_vgpu_have_clusters_of_their_own_on_owned_boards(catalog: Catalog) -> None:
    """Three hosts of which one may fail hold eight VMs; two more take a new host and a spare one. One host alone holds none."""
    plan = planned(catalog, "l40s-48gb", "Old: 3 x 4 h100-nvl-94gb", access="auto")
    assert [(pool.gpu, pool.hosts, pool.existing_hosts) for pool in plan.pools] == [
        ("h100-nvl-94gb", 3, 3),
        ("l40s-48gb", 2, 0),
    ]
    assert [sum(r.vms for r in pool.requests) for pool in plan.pools] == [8, 2]
    assert not any(loss.unplaced for pool in plan.pools for loss in pool.failures)
    alone = planned(catalog, "l40s-48gb", "Old: 1 x 4 h100-nvl-94gb", access="auto")
    assert alone.totals.hosts == 4 and "owned-hosts-not-used" in codes(alone)


def test_vms_larger_than_a_new_host_have_failover_only_on_owned_ones(catalog: Catalog) -> None:
    for hosts, lacking in ((3, False), (2, True)):
        plan = planned(catalog, "l40s-48gb", f"{hosts} x 8 l40s-48gb", people=2, gpus_each=8)
        assert ("on-owned-hosts-only" in codes(plan)) is lacking
        assert "failure-leaves-unplaced" not in codes(plan)
        assert plan.inventory is not None and plan.inventory.buy == 0
    accepted = planned(catalog, "l40s-48gb", "2 x 8 l40s-48gb", people=2, gpus_each=8, failures=0)
    assert {m.code: m.level for m in check_plan(accepted)}["on-owned-hosts-only"] == "warn"
