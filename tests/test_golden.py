"""The headline numbers of each example: a number that moves is seen, and moved on purpose.

``pytest tests/test_golden.py --update-golden`` writes the files anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog

GOLDEN = Path(__file__).parent / "golden"


def headline(plan: Plan) -> dict[str, Any]:
    """Key -> value of the totals, the pools, the groups, and the money and power."""
    totals = {f"totals.{name}": getattr(plan.totals, name) for name in plan.totals.__slots__}
    pools = {
        f"pools.{pool.id}.{name}": getattr(pool, name)
        for pool in plan.pools
        for name in ("hosts", "hosts_for_demand", "gpus", "gpus_after_failure", "gpus_occupied", "method")
    }
    groups = {
        f"groups.{group.id}.{name}": getattr(group, name)
        for group in plan.groups
        for name in ("mode", "profile", "vms", "demand_gpus", "pool")
    }
    money, power = plan.costs, plan.power
    assert money is not None and power is not None
    cost = {
        f"cost.{name}": getattr(money, name)
        for name in ("total", "net_present", "gpu_hour_used", "utilisation")
    }
    cost["cost.excludes"] = "; ".join(money.excludes)
    watts = {f"power.{name}": getattr(power, name) for name in ("peak_w", "energy_kwh", "racks")}
    rounded = {
        key: round(value, 6) if isinstance(value, float) else value for key, value in (cost | watts).items()
    }
    return totals | pools | groups | rounded


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """One line per key that moved: key, old, new and per cent."""
    lines = []
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key, "nothing"), new.get(key, "nothing")
        if before == after:
            continue
        numbers = isinstance(before, int | float) and isinstance(after, int | float) and before
        change = f" ({100 * (after - before) / before:+.1f} %)" if numbers else ""
        lines.append(f"{key}: {before} -> {after}{change}")
    return lines


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "assistant"])
def test_golden(name: str, plans: dict[str, Plan], catalog: Catalog, request: pytest.FixtureRequest) -> None:
    plan = plans.get(name) or make_plan(load_scenario(name), catalog)
    path, new = GOLDEN / f"{name}.json", headline(plan)
    if request.config.getoption("--update-golden"):
        path.write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")
    moved = differences(json.loads(path.read_text(encoding="utf-8")), new)
    if moved:
        pytest.fail("\n".join([f"{name}: {len(moved)} headline numbers moved", *moved]), pytrace=False)


def test_a_moved_number_is_told_with_old_new_and_per_cent() -> None:
    old = {"totals.hosts": 8, "groups.a.mode": "vgpu", "totals.x": 1, "gone": 3}
    new = {"totals.hosts": 9, "groups.a.mode": "mig", "totals.x": 1, "come": 4}
    assert differences(old, new) == [
        "totals.hosts: 8 -> 9 (+12.5 %)",
        "groups.a.mode: vgpu -> mig",
        "gone: 3 -> nothing",
        "come: nothing -> 4",
    ]
