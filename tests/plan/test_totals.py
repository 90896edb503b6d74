"""Totals: VMs without a GPU before and after a failure, utilisation and waits."""

from __future__ import annotations

from typing import Any

import pytest
from stated_money import costs_of, priced

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario, from_dict


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


@pytest.fixture
def enterprise(catalog: Catalog) -> Scenario:
    """The enterprise design with stated money."""
    return priced(load_scenario("enterprise"))


# ---- a table by hand


@pytest.mark.parametrize(
    ("name", "busy", "gpus"),
    [
        # around the clock: 20 x 0.5 + 32 x 0.5 x 1/4; the enterprise groups hold what they demand
        ("starter", 14, 16),
        ("enterprise", 28, 32),
        # 3 x 4 of 12 h on every day; 20 people (12.5 and 7.5) half a GPU for 9 of 24 h on 5 of 7 days and 5 % of all people
        # else; 14 of a MIG slice; 24 of an eighth on work days; 6 GPUs of the distributed job
        ("current", None, 40),
    ],
)
def test_utilisation_by_hand(
    catalog: Catalog, plans: dict[str, Plan], name: str, busy: float | None, gpus: int
) -> None:
    plan = plans[name]
    line = plan.lines["cost.utilisation"]
    if busy is None:
        days = 9 / 24 * 5 / 7
        held = {
            "fine-tuning": 6 * 0.5 * 4 * 12 / 24,
            "data-scientists": 40 * 0.5 * (0.4 * days + 0.05 * (1 - days)),
            "inference": 14 / 7,
            "developers": 60 * 0.4 * 0.125 * days,
            "distributed": 6,
        }
        for group, hours in held.items():
            found = plan.lines[f"groups.{group}.held_gpus"].value
            # work that takes a while lasts beyond the hours and begins with them: never more than the ramps of a day
            assert found == pytest.approx(hours, rel=0.02), group
        busy = sum(plan.lines[f"groups.{group}.held_gpus"].value for group in held)
    assert line.value == pytest.approx(busy / gpus)
    costs = costs_of(plan)
    assert costs.gpus[0] == gpus
    if name != "current":
        assert costs.utilisation == pytest.approx(busy / gpus)


# ---- licences


def test_stated_gpus_of_no_group_are_held_as_much_of_the_time_as_those_of_the_groups(
    catalog: Catalog,
) -> None:
    """5 of 10 people from 08:00 to 20:00, every day: 2.5 GPUs held of 5, so 4.5 of the 9 others, on 5 hosts of 4."""
    group = {"id": "a", "people": 10, "active_share": 0.5, "hours": "08:00-20:00", "off_hours_share": 0}
    plan = make_plan(from_dict({"groups": [group], "demand": {"rule": "stated", "stated_gpus": 14}}), catalog)
    assert plan.lines["groups.a.held_gpus"].value == pytest.approx(2.5)
    assert plan.lines["demand.busy_gpus"].value == pytest.approx(2.5 + 4.5)
    assert plan.lines["cost.utilisation"].value == pytest.approx(7 / 20)


def test_a_stated_utilisation_is_taken_as_it_is(catalog: Catalog) -> None:
    group = {"id": "a", "people": 8}
    for stated, share in ((None, 8 / 12), (0.25, 0.25)):
        plan = make_plan(from_dict({"groups": [group], "cost": {"utilisation": stated}}), catalog)
        assert plan.lines["cost.utilisation"].value == pytest.approx(share)


def test_the_chance_of_waiting_of_the_examples(catalog: Catalog) -> None:
    """Enterprise: 3 researchers hold 12 GPUs, 2 HPC users 2, a distributed job 4, all the time; 14 of the 32 are left for 32
    data scientists with half a GPU half of the time and 40 developers with an eighth at 40 %."""
    plan = make_plan(load_scenario("enterprise"), catalog)

    def binomial(n: int, p: float) -> list[float]:
        chances = [1.0]
        for _ in range(n):
            chances = [(1 - p) * a + p * b for a, b in zip([*chances, 0.0], [0.0, *chances], strict=True)]
        return chances

    held = 8 * (12 + 2 + 4)
    scientists, developers = binomial(31, 0.5), binomial(40, 0.4)
    short = sum(
        a * b
        for i, a in enumerate(scientists)
        for j, b in enumerate(developers)
        if held + 4 * i + j + 4 > 8 * 32
    )
    assert plan.lines["totals.waiting"].value == pytest.approx(100 * short)
    assert plan.lines["totals.waiting_after_failure"].value > 50
