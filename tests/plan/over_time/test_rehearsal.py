"""A cluster rehearsed: who moves when its hosts are upgraded in turn, what restarts, and what a week does."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.plan.over_time import rehearsal
from gpuplan.plan.over_time.rehearsal import Rehearsed
from gpuplan.scenario import from_dict


def rehearsed(
    catalog: Catalog, *groups: dict[str, Any], pool: str = "vgpu", **sections: dict[str, Any]
) -> Rehearsed:
    named = [{"id": f"g{n}", "name": f"Team {n}"} | group for n, group in enumerate(groups, 1)]
    hardware = {"gpu": "a100-pcie-80gb", "gpus_per_host": 2}
    platform = {"vsphere": "8.0u3"} | sections.pop("platform", {})
    data = {"groups": named, "hardware": hardware, "platform": platform, **sections}
    return make_plan(from_dict(data), catalog).rehearsed[pool]


ONE = {"people": 8, "gpus_each": 1, "access": "vgpu", "stun_read_s": 20.0}


def test_a_spare_host_lets_all_be_upgraded_in_turn(catalog: Catalog) -> None:
    found = rehearsed(catalog, ONE)
    assert [cluster.vms for cluster in found.started] == [[2, 2, 2, 1, 1]] and found.not_started == (0, 0)
    upgrade = found.upgrade
    assert upgrade.works and upgrade.order == (4, 1, 2, 3, 5) and upgrade.down == (0, 0)
    assert [turn.vms("moves") for turn in upgrade.turns] == [1, 2, 2, 2, 2]
    assert [turn.stun_s for turn in upgrade.turns] == [20, 40, 40, 40, 40]
    assert {each.to_host for each in upgrade.turns[1].went} == {4}
    assert found.upgrade_as_designed.works and found.by_hand_as_designed and not found.by_hand
    assert found.failures[0].chance == (1, 1) and found.failures[0].missing == (0, 0)
    assert found.failed(4, 5).vms == 2 and found.failed(4, 5).worst == (("g1", 2),)
    assert found.failed(4, 5).best == 2


def test_without_a_spare_host_every_vm_is_down_with_its_host(catalog: Catalog) -> None:
    found = rehearsed(catalog, ONE, availability={"host_failures": 0})
    assert not found.upgrade.works and found.upgrade.proven and found.upgrade.down == (8, 8)
    assert [turn.down for turn in found.upgrade.turns] == [(2, 2)] * 4
    assert {failed.chance for failed in found.failures} == {(0, 0)}
    assert found.emptied(2).vms("down") == 2 and not found.emptied(2).vms("moves")


def test_a_reserved_host_stays_empty_and_takes_all_vms_of_another(catalog: Catalog) -> None:
    found = rehearsed(catalog, ONE, availability={"reserved_hosts": 1})
    assert found.started[0].vms == [2, 2, 2, 2, 0] and found.by_hand
    assert found.upgrade.works and found.upgrade.order[0] == 5
    assert {each.to_host for each in found.emptied(1).went} == {5}


@pytest.mark.parametrize(
    ("vsphere", "how", "restart"),
    [("8.0u3", "restarts", (0, 1.0)), ("6.7u3", "down", (2, 1.0))],
)
def test_a_passthrough_vm_is_shut_down_and_static_ones_wait_for_their_host(
    catalog: Catalog, vsphere: str, how: str, restart: tuple[int, float]
) -> None:
    group = {"people": 4, "gpus_each": 1, "access": "passthrough"}
    hardware = {"gpu": "v100-pcie-32gb", "gpus_per_host": 2}
    found = rehearsed(catalog, group, pool="passthrough", platform={"vsphere": vsphere}, hardware=hardware)
    assert found.upgrade.works and "moves" not in found.ways
    assert sum(turn.vms(how) for turn in found.upgrade.turns) >= 4
    assert not any(turn.vms("moves") for turn in found.upgrade.turns)
    assert (found.failed(1).static, found.failed(1).chance[0]) == restart


def test_stun_that_is_not_known_is_not_added_up(catalog: Catalog) -> None:
    unknown = rehearsed(catalog, {**ONE, "stun_read_s": None}, platform={"vsphere": "9.0"})
    assert {turn.stun_s for turn in unknown.upgrade.turns} == {None}


def test_priority_decides_who_restarts(catalog: Catalog) -> None:
    both = {**ONE, "people": 2}, {**ONE, "people": 1}
    bare = {"availability": {"host_failures": 0}}
    for first, second in ((1, 2), (2, 1)):
        teams = [team | {"priority": n} for team, n in zip(both, (first, second), strict=True)]
        found = rehearsed(catalog, *teams, **bare)
        assert found.priorities == (first, second) and found.failed(1).vms == 2
        assert found.failed(1).worst == ((f"g{second}", 1),)


def test_bitfusion_is_not_rehearsed_and_a_huge_cluster_is_said_to_be(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not plans["starter"].rehearsed and not plans["enterprise"].rehearsed
    found = plans["current"].rehearsed["vgpu"]
    assert found.quick and not found.too_large
    monkeypatch.setattr(rehearsal, "LOOKS", 100)
    monkeypatch.setattr(rehearsal, "QUICK_LOOKS", 10)
    assert found.too_large and not found.quick


def test_every_vm_of_the_example_is_accounted_for(plans: dict[str, Plan]) -> None:
    found = plans["current"].rehearsed["vgpu"]
    running = {len(cluster.spots) for cluster in found.started}
    for upgrade in (found.upgrade, found.upgrade_as_designed):
        assert sum(turn.vms("down") for turn in upgrade.turns) == upgrade.down[1]
        assert sorted(upgrade.order) == list(range(1, found.pool.hosts + 1))
        for turn in upgrade.turns:
            assert turn.down[0] <= turn.vms("down") <= turn.down[1]
            assert turn.vms("moves") + turn.vms("restarts") <= max(running)
            assert all(each.host == turn.host != each.to_host for each in turn.went)
            assert all((each.to_host is None) == (each.how == "down") for each in turn.went)
    assert sum(failed.vms for failed in found.failures) in running or len(running) > 1
    assert found.not_started == (0, 0) and found.upgrade.works


def test_a_week_of_office_hours_comes_back_each_morning_and_services_stay(catalog: Catalog) -> None:
    office = {**ONE, "people": 6, "hours": "08:00-18:00", "days": "weekdays", "off_hours_share": 0}
    service = {**ONE, "people": 2, "hours": "00:00-24:00", "days": "every-day", "active_share": 1}
    week = rehearsed(catalog, office, service).week
    assert week is not None and max(week.wanted) == 8 and min(week.wanted) == 2
    assert week.back == 5 * 6 + 2 and week.refused == (0, 0) and not any(week.missing)
    assert rehearsed(catalog, service).week is None
