"""Failures: as many hosts as are to be tolerated may be lost."""

from __future__ import annotations

from typing import Any

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import fail_hosts
from gpuplan.scenario import from_dict


def planned(catalog: Catalog, **data: Any) -> Plan:
    return make_plan(from_dict(data), catalog)


def groups(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": f"g{number}", **item} for number, item in enumerate(items, 1)]


# ---- the two worked designs: the table of the reference architecture


def test_failures_and_maintenance(catalog: Catalog) -> None:
    asked = groups({"people": 28})
    for failures, accepted, spare in [
        (0, True, 0),
        (1, True, 1),
        (1, False, 2),
        (2, True, 2),
        (0, False, 1),
        (4, False, 5),
    ]:
        plan = planned(
            catalog,
            groups=asked,
            availability={"host_failures": failures, "maintenance_failure_accepted": accepted},
        )
        assert (plan.totals.hosts_for_demand, plan.totals.hosts_for_failures) == (7, spare)
        assert plan.totals.hosts == 7 + spare
        assert plan.totals.gpus_after_failure == plan.totals.gpus - 4 * max(1, failures)
        pool = plan.pools[0]
        assert not fail_hosts(plan, pool.id, range(1, spare + 1)).unplaced
        assert fail_hosts(plan, pool.id, range(1, spare + 2)).unplaced


# ---- the stated total
