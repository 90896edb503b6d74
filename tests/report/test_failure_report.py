"""What happens to each VM when hosts fail."""

from __future__ import annotations

from approved import has_approved

from gpuplan import Plan
from gpuplan.plan import fail_hosts
from gpuplan.report import failure_dict, failure_text


def test_every_vm_of_a_lost_host_is_named_with_its_new_host(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    (pool,) = plan.pools
    outcome = fail_hosts(plan, pool.id, [1])
    data = failure_dict(plan, pool, (1,), outcome)
    on_it = {(slot.group, slot.vm) for load in pool.placement[0] for slot in load.slots}
    names = {plan.group(group).name for group, _ in on_it}
    assert len(data["vms"]) == len(on_it) and {row["group"] for row in data["vms"]} == names
    assert all(row["what"] == "restarts" and 2 <= row["to_host"] <= 8 for row in data["vms"])
    text = failure_text(plan, pool, (1,), outcome)
    assert has_approved(text, "1") and "other clusters" not in text


def test_a_vm_without_a_place_has_no_host(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    outcome = fail_hosts(plan, plan.pools[0].id, [1, 2, 3])
    rows = failure_dict(plan, plan.pools[0], (1, 2, 3), outcome)["vms"]
    missing = [row for row in rows if row["what"] == "has no GPU"]
    assert len(missing) == len(outcome.unplaced) > 0
    assert all(row["to_host"] is None for row in missing)
