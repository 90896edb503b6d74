"""Clusters of several kinds of hosts, against every assignment after every loss, and against kinds apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, islice, product
from random import Random
from typing import Any

import pytest
from kinds_of_hosts import design
from random_cases import cases

from gpuplan import make_plan
from gpuplan.analysis.candidates import asked, kind_candidates
from gpuplan.analysis.option import assess
from gpuplan.catalog import Catalog
from gpuplan.models.placement import Request, Room
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.mixed import MixedPlan
from gpuplan.plan.racks import racks
from gpuplan.plan.shared_clusters import Apart
from gpuplan.scenario import from_dict

STRONGER = (("l40s-48gb", "h200-nvl-141gb"), ("l4-24gb", "l40s-48gb"), ("a100-pcie-40gb", "a100-pcie-80gb"))
SAME = (("l40s-48gb", "l40s-48gb"), ("h200-nvl-141gb", "h200-nvl-141gb"))


def random_design(rng: Random, cluster: str | None) -> dict[str, Any]:
    """A few VMs with whole GPUs on two kinds of small hosts."""
    first, second = rng.choice(STRONGER + SAME)
    if rng.random() < 0.2:
        first, second = second, first
    memory = rng.choice([None, 256])
    sizes = {"memory_gib_per_host": memory, "vcpus_per_host": 64} if memory else {}
    kind = {"name": "Other", "gpu": second, "gpus_per_host": rng.choice([2, 3, 4, 8]), **sizes}
    kind |= {"cluster": cluster} if cluster else {}

    def group(id: str) -> dict[str, Any]:
        asked = {"memory_gib_each": rng.choice([32, 100, 200])} if memory else {}
        gpus = rng.choice([1, 1, 2])
        return {
            "id": id,
            "people": rng.randint(1, 4),
            "gpus_each": gpus,
            "active_share": 1.0,
            "access": access,
            **asked,
        }

    access = rng.choice(["passthrough", "passthrough", "vgpu"])
    return {
        "platform": {"vsphere": "9.0"},
        "availability": {
            "host_failures": rng.choice([0, 1, 1, 2]),
            "maintenance_failure_accepted": rng.random() < 0.8,
            "stun_limit_s": 1000,
        },
        "hardware": {"gpu": first, "gpus_per_host": rng.choice([2, 3, 4]), "kinds": [kind], **sizes},
        "groups": [
            *(group(f"a{at}") for at in range(rng.randint(1, 2))),
            *(group(f"b{at}") | {"hosts": "Other"} for at in range(rng.randint(1, 2))),
        ],
    }


@lru_cache(maxsize=100_000)
def every_vm_fits(vms: tuple[Request, ...], rooms: tuple[Room, ...]) -> bool:
    """Try each host for the first VM, then for the rest."""
    if not vms:
        return True
    vm, *rest = vms
    for room in dict.fromkeys(rooms):
        if (vm.boards and room.board not in vm.boards) or vm.gpus > room.gpus:
            continue
        if any(most and need > most for need, most in zip((vm.vcpus, vm.memory_gib), room[1:3], strict=True)):
            continue
        left = [*rooms]
        left.remove(room)
        sizes = [
            most - need if most else 0
            for need, most in zip((vm.gpus, vm.vcpus, vm.memory_gib), room[:3], strict=True)
        ]
        if room.memory_gib and not sizes[2]:
            sizes[2] = 0 if not any(other.memory_gib for other in rest) else -1
        after = tuple(sorted((*left, Room(*sizes, room.board))))
        if every_vm_fits(tuple(rest), after):
            return True
    return False


def survives(requests: Sequence[Request], rooms: Sequence[Room], lost: int) -> bool:
    """True if every VM has a place after the loss of any hosts."""
    vms = tuple(
        one._replace(vms=1) for one in sorted(requests, key=lambda r: -r.gpus) for _ in range(one.vms)
    )
    left = {tuple(sorted(some)) for some in combinations(rooms, max(0, len(rooms) - lost))}
    return all(every_vm_fits(vms, some) for some in left)


def test_a_shared_cluster_has_the_fewest_hosts_that_any_loss_leaves_enough_of(catalog: Catalog) -> None:
    """Never more of a kind than apart; proven by trying each smaller number of spare hosts with each loss."""
    tried = saved = 0
    for rng in cases(40_31, 400, few=40):
        seed = rng.random()
        apart = make_plan(from_dict(random_design(Random(seed), None)), catalog)
        plan = make_plan(from_dict(random_design(Random(seed), "first")), catalog)
        assert isinstance(plan, MixedPlan)
        hosts, alone = plan.hosts_by_pool(), apart.hosts_by_pool()
        assert all(hosts[pool] <= alone[pool] for pool in alone), (hosts, alone)
        assert hosts.keys() == alone.keys()
        for shared in plan.shared:
            tried += 1
            pool = plan.pool(shared.kind)
            lost = plan.scenario.availability.host_failures + (
                not plan.scenario.availability.maintenance_failure_accepted
            )
            assert pool.hosts == sum(hosts[kind] for kind in [share.pool for share in shared.shares])
            assert survives(pool.requests, pool.rooms, lost)
            assert pool.losses[lost].fits
            needed = [share.laid.fewest for share in shared.shares]
            spare = sum(len(share.laid.hosts) for share in shared.shares) - sum(needed)
            saved += spare < lost * len(needed)
            for more in product(range(lost + 1), repeat=len(needed)):
                if sum(more) < spare:
                    counts = zip(shared.shares, needed, more, strict=True)
                    rooms = [share.room for share, n, m in counts for _ in range(n + m)]
                    assert not survives(pool.requests, rooms, lost), (needed, more)
    assert tried > 10 and saved > 5


def planned(catalog: Catalog, cluster: str | None = "first", **more: Any) -> MixedPlan:
    plan = make_plan(from_dict(design(cluster, **more)), catalog)
    assert isinstance(plan, MixedPlan)
    return plan


def reasons(plan: Plan) -> set[str]:
    return {key for each in plan.sharing if isinstance(each, Apart) for key in each.why}


def test_one_spare_h200_host_takes_over_the_vms_of_an_l40s_host(catalog: Catalog) -> None:
    """By hand: 10 VMs on 3 hosts with 4 GPUs, 4 VMs with 4 GPUs on 2 hosts with 8, and one host with 8 for either."""
    plan, apart = planned(catalog), planned(catalog, None)
    assert apart.hosts_by_pool() == {"passthrough": 4, "large-passthrough": 3}
    assert plan.hosts_by_pool() == {"passthrough": 3, "large-passthrough": 3}
    (pool,) = plan.pools
    assert (pool.hosts, pool.hosts_for_failures, pool.gpus, pool.gpus_after_failure) == (6, 1, 36, 28)
    assert [room.board for room in pool.rooms] == ["l40s-48gb"] * 3 + ["h200-nvl-141gb"] * 3
    own = {"a": "l40s-48gb", "b": "h200-nvl-141gb"}
    for room, host in zip(pool.rooms, pool.placement, strict=True):
        assert all(room.board == own[slot.group] for load in host for slot in load.slots)
    assert [loss.unplaced for loss in pool.failures] == [0] * len(pool.failures)
    assert (plan.verdict.starts, plan.verdict.survives, plan.verdict.state) == ("yes", "yes", "green")
    assert "cluster-of-kinds" in {message.code for message in check_plan(plan)}
    lines = plan.lines
    for name in ("hosts", "gpus", "hosts_for_failures", "gpus_demanded"):
        parts = [lines[f"pools.{kind}.{name}"].value for kind in ("passthrough", "large-passthrough")]
        assert lines[f"pools.{pool.id}.{name}"].value == sum(parts) == getattr(pool, name)


def test_each_host_is_bought_powered_and_racked_once(catalog: Catalog) -> None:
    plan = planned(catalog)
    assert plan.costs and plan.power and plan.counts
    bought = {m.key: m.quantity for m in plan.costs.materials if m.key.startswith(("servers", "gpus"))}
    assert bought == {"servers": 3, "servers@large": 3, "gpus": 12, "gpus@large": 24}
    places = [place for rack in racks(plan) for place in rack.hosts]
    assert len({place.name for place in places}) == 6
    assert sorted(place.number for place in places) == [1, 2, 3, 4, 5, 6]
    assert {place.number: place.of for place in places} == {
        1: "",
        2: "",
        3: "",
        4: "Large",
        5: "Large",
        6: "Large",
    }
    every_w = sum(kind.part.peak_w for kind in plan.power.kinds.values())
    assert sum(place.peak_w for place in places) == pytest.approx(every_w)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("alone", {"kinds": "Large: 8 x h200-nvl-141gb, cluster other"}),
        ("memory", {"kinds": "Large: 8 x l4-24gb, cluster first", "b": 8}),
        ("size", {"kinds": "Large: 8 x l4-24gb, cluster first", "b": 8}),
        ("counted", {"vcpus_per_host": 64}),
        ("owned", {"existing": "Old: 1 x 4 l40s-48gb"}),
        ("version", {"vsphere": "7.0u3"}),
        ("sizing", {"rule": "wait"}),
        ("sizing", {"sized_for": "orders"}),
        ("split", {"split": "by-group"}),
        ("limit", {"hosts_per_cluster": 4}),
        ("profile", {"access": "vgpu"}),
        ("nvswitch", {"kinds": "Large: 8 x h200-sxm5-141gb, cluster first", "a": 3}),
    ],
)
def test_kinds_stay_apart_where_no_host_takes_over(
    catalog: Catalog, key: str, change: dict[str, Any]
) -> None:
    """Then the numbers are those of clusters apart, and a message says why."""
    data, alone = design(), design(None)
    sections = {"vsphere": "platform", "rule": "demand"} | dict.fromkeys(
        ("sized_for", "split", "hosts_per_cluster"), "availability"
    )
    for each in (data, alone):
        for name, value in change.items():
            if name == "access":
                each["groups"] = [group | {"access": value} for group in each["groups"]]
            elif name in ("a", "b"):
                each["groups"]["ab".index(name)]["gpus_each"] = value
            else:
                each.setdefault(sections.get(name, "hardware"), {})[name] = value
        if key == "counted":
            each["groups"][0]["vcpus_each"] = 8
    if "kinds" in change:
        alone["hardware"]["kinds"] = change["kinds"].partition(", cluster")[0]
    plan, apart = (make_plan(from_dict(each), catalog) for each in (data, alone))
    assert not plan.shared
    assert key in reasons(plan)
    assert plan.hosts_by_pool() == apart.hosts_by_pool()
    assert plan.totals == apart.totals
    assert plan.costs and apart.costs and plan.costs.net_present == apart.costs.net_present
    assert "kinds-apart" in {message.code for message in check_plan(plan)}


def test_growth_tolerance_and_postures_are_those_of_the_shared_cluster(catalog: Catalog) -> None:
    data = design()
    data["groups"][0]["growth"] = 0.4
    plan = make_plan(from_dict(data), catalog)
    for year in (2, 5):
        later = design()
        later["groups"][0]["people"] = -(-10 * 14 ** (year - 1) // 10 ** (year - 1))
        assert dict(plan.growth.hosts[year - 1]) == make_plan(from_dict(later), catalog).hosts_by_pool()
    assert plan.growth.hosts[0] == plan.hosts_by_pool()
    for failures in (0, 2):
        other = plan.tolerating(failures)
        (posture,) = (each for each in plan.postures if each.host_failures == failures)
        assert posture.hosts == other.totals.hosts == make_plan(other.scenario, catalog).totals.hosts


def test_three_kinds_and_two_clusters(catalog: Catalog) -> None:
    """The kinds of one name share one, and VMs without a GPU run on any of its hosts."""
    data = design()
    more = [{"name": "Third", "gpu": "a100-pcie-80gb", "gpus_per_host": 4, "cluster": "two"}]
    more += [{"name": "Fourth", "gpu": "h100-nvl-94gb", "gpus_per_host": 4, "cluster": "two"}]
    data["hardware"]["kinds"] += more
    each = {"people": 5, "access": "passthrough", "active_share": 1.0}
    data["groups"] += [{"id": "c", "hosts": "Third", **each}, {"id": "d", "hosts": "Fourth", **each}]
    plan = make_plan(from_dict(data), catalog)
    assert [pool.id for pool in plan.pools] == ["shared-passthrough", "two-shared-passthrough"]
    assert plan.hosts_by_pool() == {
        "passthrough": 3,
        "large-passthrough": 3,
        "third-passthrough": 2,
        "fourth-passthrough": 3,
    }
    data["hardware"]["kinds"][1]["cluster"] = data["hardware"]["kinds"][2]["cluster"] = "first"
    one = make_plan(from_dict(data), catalog)
    assert [pool.id for pool in one.pools] == ["shared-passthrough"]
    assert one.totals.hosts <= plan.totals.hosts
    assert survives(one.pools[0].requests, one.pools[0].rooms, 1)


def test_explored_designs_share_clusters_too(catalog: Catalog) -> None:
    """Another link reuses the hosts; hosts of another kind are planned with those that they share a cluster with."""
    scenario = from_dict(design())
    own = asked(scenario)
    for link in (25, 100, 25):
        option = assess(scenario, catalog, replace(own, link_gbit_s=link))
        assert (option.hosts, option.gpus, option.reasons) == (6, 36, ())
    for candidate in islice(kind_candidates(scenario, catalog), 6):
        option = assess(scenario, catalog, candidate)
        if not option.reasons:
            plan = make_plan(candidate.apply(scenario, catalog), catalog)
            assert option.hosts == plan.totals.hosts


def test_a_board_that_one_of_its_kinds_cannot_count_takes_over_no_vm(catalog: Catalog) -> None:
    """Two kinds with the same board, CPU stated for one of them: nothing tells their hosts apart."""
    data = design()
    data["hardware"]["vcpus_per_host"] = 64
    data["hardware"]["kinds"][0]["vcpus_per_host"] = 128
    data["hardware"]["kinds"].append(
        {"name": "Third", "gpu": "h200-nvl-141gb", "gpus_per_host": 8, "cluster": "first"}
    )
    data["groups"][0]["vcpus_each"] = 8
    data["groups"].append(data["groups"][1] | {"id": "c", "hosts": "Third"})
    plan = make_plan(from_dict(data), catalog)
    for pool in plan.pools:
        for request in pool.requests:
            assert request.group != "a" or request.boards in ((), ("l40s-48gb",))
