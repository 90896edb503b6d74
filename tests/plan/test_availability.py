"""Risk: the postures side by side, by hand, and over several pools."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

HOURS = {"mtbf_h": 10_000, "repair_h": 100, "maintenance_h_per_host": 10}


def planned(catalog: Catalog, people: int = 28, **data: Any) -> Plan:
    group = {"id": "a", "name": "A", "people": people, "remote_allowed": False}
    return make_plan(
        from_dict({"groups": [group], "hardware": {"gpus_per_host": 4}, **data}),
        catalog,
    )


def test_three_postures_by_hand(catalog: Catalog) -> None:
    plan = planned(catalog, availability=HOURS)
    none, one, two = plan.postures
    assert [p.hosts for p in plan.postures] == [7, 8, 9]
    assert [p.gpus for p in plan.postures] == [28, 32, 36]
    assert [p.chosen for p in plan.postures] == [False, True, False]
    up = 10_000 / 10_100
    assert none.short_h == pytest.approx(8760 * (1 - up**7))
    assert one.short_h == pytest.approx(8760 * (1 - up**8 - 8 * up**7 * (1 - up)))
    assert [p.exposed_h for p in plan.postures] == [70, 80, 0]
    assert none.chance == 1  # maintenance alone leaves too few
    assert one.chance == pytest.approx(1 - math.exp(-7 * 80 / 10_000))
    assert 0 < two.chance < one.chance / 10
    assert none.maintenance_short_h == 70
    assert one.maintenance_short_h == pytest.approx(80 * (1 - up**7))


def test_what_the_customer_states_replaces_the_planning_value(catalog: Catalog) -> None:
    assumed = planned(catalog).lines["availability.host_up"]
    assert assumed.basis == "assumed"
    assert {i.key.split("/")[0] for i in assumed.inputs} == {"assumptions"}
    stated = planned(catalog, availability=HOURS).lines["availability.host_up"]
    assert stated.basis == "quoted"
    assert stated.value == pytest.approx(10_000 / 10_100)


def test_a_host_more_for_maintenance_closes_the_bet(catalog: Catalog) -> None:
    plan = planned(catalog, availability={**HOURS, "maintenance_failure_accepted": False})
    assert [p.hosts for p in plan.postures] == [8, 9, 10]
    assert [p.exposed_h for p in plan.postures] == [80, 0, 0]


def test_pools_add_up(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "name": "A", "people": 8, "remote_allowed": False},
        {"id": "b", "name": "B", "people": 8, "remote_allowed": False, "access": "passthrough"},
    ]
    plan = make_plan(from_dict({"groups": groups, "availability": HOURS}), catalog)
    alone = make_plan(from_dict({"groups": groups[:1], "availability": HOURS}), catalog)
    both, one = plan.postures[1], alone.postures[1]
    assert both.hosts == 2 * one.hosts
    assert both.short_h == pytest.approx(8760 * (1 - (1 - one.short_h / 8760) ** 2))
    assert both.chance == pytest.approx(1 - (1 - one.chance) ** 2)
    assert plan.lines["postures.n1.chance"].formula.startswith("1 - (1 - ")


def test_the_chosen_posture_is_there_and_one_more(catalog: Catalog) -> None:
    plan = planned(catalog, availability={"host_failures": 4})
    assert [p.host_failures for p in plan.postures] == [0, 1, 2, 4, 5]
    assert [p.hosts for p in plan.postures] == [7, 8, 9, 11, 12]


def test_hosts_that_differ_are_placed_again_for_each_posture(catalog: Catalog) -> None:
    hardware = {"gpus_per_host": 4, "existing_hosts": 2, "existing_gpus_per_host": 8}
    plan = planned(catalog, people=20, hardware=hardware)
    # 20 GPUs: 8 + 8 + 4 on three hosts; the loss of a host of 8 takes two of 4
    assert [p.hosts for p in plan.postures] == [3, 5, 7]
    assert [p.gpus for p in plan.postures] == [20, 28, 36]
    assert plan.totals.gpus_after_failure == 20


def test_nobody_asks(catalog: Catalog) -> None:
    assert planned(catalog, people=0).postures == ()


def test_hosts_of_several_kinds_each_fail_on_their_own(catalog: Catalog) -> None:
    """8 GPUs on 4 hosts of 1 and 2 of 6: 10 are left without any one; of the 2^6 states those with fewer than 8 are short."""
    plan = planned(
        catalog,
        people=8,
        hardware={"gpus_per_host": 4, "existing": "Small: 4 x 1; Big: 2 x 6"},
        availability=HOURS,
    )
    gpus, up, short = [1] * 4 + [6] * 2, 10_000 / 10_100, 0.0
    assert [room.gpus for room in plan.pools[0].rooms] == gpus
    for state in itertools.product((0, 1), repeat=6):
        if sum(gpu * on for gpu, on in zip(gpus, state, strict=True)) < 8:
            short += up ** sum(state) * (1 - up) ** (6 - sum(state))
    (chosen,) = (posture for posture in plan.postures if posture.chosen)
    assert chosen.short_h == pytest.approx(8760 * short)
    assert chosen.exposed_h == 2 * 10  # beside a large host in maintenance the other one must not fail
