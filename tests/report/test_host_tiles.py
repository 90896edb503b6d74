"""What is on each GPU of a host, and what may join it, is said once for all pictures."""

from __future__ import annotations

import pytest
from approved import is_approved

from gpuplan.catalog import Catalog
from gpuplan.models.placement import Family
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.sharing import more_that_fit, starts_of
from gpuplan.report.host_tiles import Shares, layout_words, on_each_gpu, places_words, room_words
from gpuplan.scenario import load_scenario


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return make_plan(load_scenario("enterprise"), catalog)


def test_groups_take_no_more_than_a_gpu_has(plan: Plan) -> None:
    for pool in plan.pools:
        shares = Shares(plan, pool)
        for host, room in zip(pool.placement, pool.rooms, strict=True):
            each = on_each_gpu(host, room.gpus)
            assert len(each) == room.gpus and each.count(None) == room.gpus - sum(load.gpus for load in host)
            for load in (load for load in each if load and load.family):
                held = shares.of(load)
                assert sum(share.vms for share in held.values()) == len(load.slots)
                assert sum(share.mb for share in held.values()) + shares.left_mb(load) == shares.gpu_mb


def test_a_group_of_unknown_memory_takes_what_is_said(plan: Plan) -> None:
    shares = Shares(plan, plan.pools[0])
    assert (shares.piece_mb("nobody"), shares.piece_mb("nobody", 5)) == (1, 5)


def test_a_running_mig_instance_keeps_larger_ones_out() -> None:
    small_first = Family("MIG", ("small", "large"), ((3, 0), (1, 1), (0, 2)), in_order=True, sizes=(1, 2))
    assert more_that_fit(small_first, (1, 0)) == [(2, "small")]
    assert more_that_fit(small_first, (0, 1)) == [(1, "small"), (1, "large")]
    assert is_approved(room_words(small_first, (0, 1)), "1", "small", "1", "large")
    assert room_words(small_first, (3, 0)) == ""


def test_the_larger_mig_instance_starts_first(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("hardware.gpu", "a100-pcie-80gb")
    family = ("A100D-1-10C", "A100D-3-40C")
    found = starts_of(scenario, catalog, family, (3, 1))
    assert found is not None and [name for name, _ in found] == ["A100D-3-40C", "A100D-1-10C"]
    assert found[0][1] == (0,)


def test_profiles_without_listed_starts_are_counted(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current"), catalog)
    load = next(
        load for pool in plan.pools for host in pool.placement for load in host if load.slots[0].profile
    )
    family = load.family
    assert family is not None
    counts = tuple(sum(slot.profile == name for slot in load.slots) for name in family.profiles)
    assert layout_words(plan, family, counts).startswith(f"{max(counts)} x ")


def test_many_places_are_counted() -> None:
    assert places_words((4,)) == "4"
    assert places_words((4, 5, 6)) == "4, 5 and 6"
    assert "9" in places_words(range(9)) and "8" in places_words(range(9))
