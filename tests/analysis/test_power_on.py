"""Power-on tried thoroughly, against a design that is counted by hand."""

from __future__ import annotations

import json

import pytest
from power_on_designs import one_large_among_small

import gpuplan
from gpuplan import Plan, make_plan
from gpuplan.analysis.power_on import (
    fewest_hosts,
    named_order,
    power_on,
    sized_for_orders,
    studies_of,
    studies_plain,
    thorough,
)
from gpuplan.catalog import Catalog
from gpuplan.models.power_on import Play


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return one_large_among_small(catalog)


def test_two_of_five_orders_start_every_vm_and_five_hosts_all(plan: Plan) -> None:
    shares: list[float] = []
    (study,) = gpuplan.power_on(plan, orders=2000, progress=lambda share, name: shares.append(share))
    now = study.made.now
    low, high = now.interval
    assert low < 0.4 < high and high - low < 0.05
    assert now.orders == 2000 and now.most_missing == 1
    assert study.hosts["now"] == 5
    assert study.made.tried("consolidation").chance == (1, 1) and study.hosts["consolidation"] == 2
    assert shares == sorted(shares) and shares[0] > 0 and 0.5 < shares[-1] <= 1


def test_fewer_orders_must_start_every_vm_fewer_hosts_do(catalog: Catalog) -> None:
    plan = one_large_among_small(catalog, availability={"host_failures": 0, "orders_share": 0.7})
    made = thorough(plan.power_on["vgpu"], 2000)
    assert fewest_hosts(made, "now") == 4  # 3 of 5 orders on 3 hosts, 4 of 5 on 4
    assert fewest_hosts(made, "largest") == 2 and fewest_hosts(made, "smallest") == 5


def test_vms_that_are_all_alike_take_one_order(catalog: Catalog) -> None:
    alike = [{"id": "a", "people": 6, "gpus_each": 2}]
    (study,) = power_on(one_large_among_small(catalog, groups=alike), orders=5000)
    assert study.made.orders == 1 and study.made.now.all_start
    assert study.hosts["now"] == 3


def test_bitfusion_has_no_orders(plans: dict[str, Plan]) -> None:
    assert power_on(plans["enterprise"], orders=10) == ()


def test_orders_by_their_names(plan: Plan) -> None:
    made = thorough(plan.power_on["vgpu"], 100)
    large = [request.group for request in made.pool.requests].index("large")

    def missing(name: str) -> int:
        reading, kinds = named_order(made, name)
        assert sorted(kinds) == sorted(made.named["largest"])
        steps = Play(made.pool.requests, made.rooms, reading.rules, kinds).steps
        return sum(step.spot is None for step in steps)

    assert [missing(name) for name in ("largest", "groups", "smallest", "worst")] == [0, 0, 1, 1]
    assert named_order(made, "largest")[1][0] == large and named_order(made, "smallest")[1][-1] == large
    assert named_order(made, "7") == named_order(made, "7") != named_order(made, "8")
    packed = plan.scenario.with_value("platform.drs_consolidation", True)
    with pytest.raises(ValueError, match="every VM starts in all"):
        named_order(gpuplan.make_plan(packed, plan.catalog).power_on["vgpu"], "worst")


def test_what_another_process_found_is_read_again(plan: Plan) -> None:
    """Chances, worst orders and hosts are those that were found; the design that is sized for orders is planned."""
    found = power_on(plan, orders=200)
    plain = json.loads(json.dumps(studies_plain(plan, found)))
    (again,), (study,) = studies_of(plan, plain), found
    assert again.hosts == study.hosts and again.made.orders == 200
    for key in study.hosts:
        assert again.made.tried(key) == study.made.tried(key)
    assert (again.made.now, again.made.worst) == (study.made.now, study.made.worst)
    larger = make_plan(plan.scenario.with_value("availability.sized_for", "orders"), plan.catalog)
    assert larger.costs and plan.costs and larger.totals.hosts > plan.totals.hosts
    assert plain["sized"]["hosts"] == larger.totals.hosts
    assert plain["sized"]["dearer"] == pytest.approx(larger.costs.net_present - plan.costs.net_present)
    assert sized_for_orders(larger) is None


def test_hosts_are_looked_for_up_to_those_that_the_cluster_may_have(catalog: Catalog) -> None:
    scenario = one_large_among_small(catalog).scenario
    made = make_plan(scenario, catalog).power_on["vgpu"]
    found = fewest_hosts(made, "now")
    assert found is not None and made.pool.hosts_for_demand < found <= made.most_hosts
    few = make_plan(scenario.with_value("availability.hosts_per_cluster", found - 1), catalog).power_on[
        "vgpu"
    ]
    assert few.most_hosts == found - 1 and fewest_hosts(few, "now") is None
