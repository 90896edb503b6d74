"""Failures: as many hosts as are to be tolerated may be lost."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import fail_hosts, worst_failures
from gpuplan.scenario import ScenarioError, from_dict


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


# ---- hosts count from 1


@pytest.mark.parametrize("host", [0, -1, 99, True, "1"])
def test_a_host_that_is_not_there_is_refused(catalog: Catalog, host: Any) -> None:
    """99 was an IndexError, and 0 failed the last host."""
    plan = planned(catalog, groups=groups({"people": 8}))
    for failed, maintenance in (([host], ()), ((), [host])):
        with pytest.raises(ScenarioError, match=f"1 to {plan.totals.hosts}"):
            fail_hosts(plan, plan.pools[0].id, failed, maintenance)
    with pytest.raises(ScenarioError, match="1 to"):
        worst_failures(plan, plan.pools[0].id, 1, [host])


def test_hosts_of_an_outcome_and_of_a_loss_count_from_1(catalog: Catalog) -> None:
    plan = planned(catalog, groups=groups({"people": 2, "gpus_each": 4}))
    pool = plan.pools[0]
    assert [bool(host) for host in pool.placement] == [True, True, False]
    assert fail_hosts(plan, pool.id, [1]).restarted == (("g1", 1, 3),)
    emptied = fail_hosts(plan, pool.id, [], maintenance=[2])
    assert emptied.evacuated == (("g1", 2, 2, 3),)
    assert [loss.hosts for loss in pool.failures] == [(1,), (3,)]
    assert worst_failures(plan, pool.id, 2)[0].hosts == (1, 2)
