"""Pools of more hosts than a cluster may have: several clusters, each complete by itself."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from approved import has_approved
from random_cases import cases, often

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, fail_hosts
from gpuplan.plan.checks import check_plan
from gpuplan.scenario import ScenarioError, from_dict, load_scenario, sites_people


def whole_hosts(hosts: int, **availability: Any) -> dict[str, Any]:
    """People with all four GPUs of a host each."""
    return {
        "groups": [{"id": "a", "people": hosts, "gpus_each": 4, "remote_allowed": False}],
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
        "availability": {"host_failures": 1, "maintenance_failure_accepted": True, "stun_limit_s": 1000}
        | availability,
    }


def three_groups(**availability: Any) -> dict[str, Any]:
    """5 + 4 + 3 hosts of four GPUs, at two sites, in clusters of at most 6 hosts, one of them spare."""
    groups = [
        {
            "id": id,
            "name": id.upper(),
            "people": hosts,
            "gpus_each": 4,
            "remote_allowed": False,
            "sites": site,
        }
        for id, hosts, site in (("a", 4, "Austin"), ("b", 3, "Bangalore"), ("c", 5, "Austin 3, Bangalore 2"))
    ]
    return whole_hosts(1, hosts_per_cluster=6, **availability) | {"groups": groups}


def shape(plan: Plan) -> list[dict[str, int]]:
    """VMs of each group in each cluster."""
    return [{request.group: request.vms for request in pool.requests} for pool in plan.pools]


@pytest.mark.parametrize(
    ("hosts", "availability", "clusters", "in_all"),
    [
        (63, {}, 1, 64),
        (64, {}, 2, 66),  # 63 fit beside a spare one
        (126, {}, 2, 128),
        (127, {}, 3, 130),
        (4_000, {}, 64, 4_064),
        (124, {"maintenance_failure_accepted": False}, 2, 128),
        (200, {"host_failures": 0}, 4, 200),
        (16, {"hosts_per_cluster": 9}, 2, 18),
        (17, {"hosts_per_cluster": 9}, 3, 20),
    ],
)
def test_each_cluster_has_its_own_spare_hosts(
    catalog: Catalog, hosts: int, availability: dict[str, Any], clusters: int, in_all: int
) -> None:
    """Hosts for the demand, and as many spare ones in each of the fewest clusters of nearly equal size."""
    plan = make_plan(from_dict(whole_hosts(hosts, **availability)), catalog)
    assert (len(plan.pools), plan.totals.hosts, plan.totals.hosts_for_demand) == (clusters, in_all, hosts)
    assert sum(pool.hosts for pool in plan.pools) == in_all
    sizes = [pool.hosts for pool in plan.pools]
    assert max(sizes) <= availability.get("hosts_per_cluster", 64) and max(sizes) - min(sizes) <= 1
    assert len({pool.hosts_for_failures for pool in plan.pools}) == 1


def test_one_cluster_keeps_its_name_and_its_lines(catalog: Catalog) -> None:
    plan = make_plan(from_dict(whole_hosts(63)), catalog)
    assert [(pool.id, pool.kind, pool.name) for pool in plan.pools] == [("vgpu", "vgpu", "vGPU cluster")]
    assert not any(key.startswith("pools.vgpu-") or key == "pools.vgpu.clusters" for key in plan.lines)
    assert "Clusters" not in {decision.title for decision in plan.decisions}


@pytest.mark.parametrize(("people", "in_all"), [(20, 200), (198, 202), (300, 305)])
def test_hosts_already_there_are_divided_too(catalog: Catalog, people: int, in_all: int) -> None:
    """Idle ones are the spare ones; where there are too few, clusters get new ones."""
    data = whole_hosts(people)
    data["hardware"]["existing_hosts"] = 200
    plan = make_plan(from_dict(data), catalog)
    assert plan.totals.hosts == in_all
    assert sum(pool.existing_hosts for pool in plan.pools) == 200
    assert all(pool.hosts <= 64 and pool.hosts_for_failures >= 1 for pool in plan.pools)
    assert plan.costs is not None
    assert sum(m.quantity for m in plan.costs.materials if m.key == "servers") == in_all - 200


def test_hosts_already_there_with_other_gpus_survive_in_their_clusters(catalog: Catalog) -> None:
    data = three_groups()
    data["hardware"] |= {"existing_hosts": 4, "existing_gpus_per_host": 8}
    plan = make_plan(from_dict(data), catalog)
    assert sum(pool.existing_hosts for pool in plan.pools) == 4
    assert plan.pools[0].existing_hosts > plan.pools[-1].existing_hosts
    assert plan.totals.gpus == 4 * 8 + 4 * (plan.totals.hosts - 4)
    for pool in plan.pools:
        assert pool.hosts <= 6
        assert not any(loss.unplaced for loss in pool.failures)


@pytest.mark.parametrize(
    ("split", "clusters"),
    [
        ("few-large", [{"a": 4}, {"b": 3, "c": 1}, {"c": 4}]),
        ("by-group", [{"a": 4}, {"b": 3}, {"c": 5}]),
        ("by-site", [{"a": 4, "c": 1}, {"c": 4}, {"b": 3}]),  # 9 hosts in Austin
    ],
)
def test_how_a_pool_is_divided_is_chosen(
    catalog: Catalog, split: str, clusters: list[dict[str, int]]
) -> None:
    """Few large clusters deal the hosts out in turn; by group and by site no group is divided that fits."""
    plan = make_plan(from_dict(three_groups(split=split)), catalog)
    assert shape(plan) == clusters
    sites = [pool.name.partition(", ")[2] for pool in plan.pools]
    assert sites == (["Austin", "Austin", "Bangalore"] if split == "by-site" else [""] * 3)
    assert plan.totals.hosts == 12 + 3


def test_by_group_each_group_has_clusters_of_its_own(catalog: Catalog) -> None:
    """As soon as it is chosen, not only where one cluster could not hold them; VMs without a GPU go with the largest group."""
    data = three_groups(split="by-group")
    data["groups"][0]["people"], data["groups"][1]["people"], data["groups"][2]["people"] = 8, 1, 1
    assert shape(make_plan(from_dict(data), catalog)) == [{"a": 4}, {"a": 4}, {"b": 1}, {"c": 1}]
    del data["availability"]["hosts_per_cluster"]
    for group in data["groups"]:
        group["vcpus_each"] = 8
    data["hardware"] |= {"vcpus_per_host": 64, "other_vms": "Web: 12 x 2 vCPUs"}
    plan = make_plan(from_dict(data), catalog)
    assert shape(plan) == [{"a": 8, "vms-without-gpu-1": 12}, {"b": 1}, {"c": 1}]
    assert plan.totals.hosts == 8 + 1 + 1 + 3


@pytest.mark.parametrize("split", ["few-large", "by-group", "by-site"])
def test_no_cluster_has_more_hosts_than_it_may(catalog: Catalog, split: str) -> None:
    """Hosts of 2 GPUs cannot take over a VM with 4: those that make a cluster too large are left out, and it is said."""
    data = whole_hosts(1, split=split)
    data["hardware"]["existing"] = "63 x 2"
    plan = make_plan(from_dict(data), catalog)
    assert [(pool.hosts, pool.existing_hosts) for pool in plan.pools] == [(64, 62)]
    (said,) = (m for m in check_plan(plan) if m.code == "hosts-left-out")
    assert has_approved(said.text, "1")


@pytest.mark.parametrize("split", ["few-large", "by-group", "by-site"])
def test_vms_of_a_group_are_numbered_once_in_all_clusters(catalog: Catalog, split: str) -> None:
    scenario = scaled(12, split=split, hosts_per_cluster=10)
    plan = make_plan(scenario, catalog)
    assert len(plan.pools) > 3
    found = [
        vm
        for pool in plan.pools
        for vm in {(s.group, s.vm) for host in pool.placement for load in host for s in load.slots}
    ]
    placed = {group.id: group.vms_placed for group in plan.groups}
    assert sorted(found) == sorted((id, n) for id, vms in placed.items() for n in range(1, vms + 1))
    for pool in plan.pools:
        here = Counter(
            g for g, _ in {(s.group, s.vm) for h in pool.placement for load in h for s in load.slots}
        )
        assert here == {request.group: request.vms for request in pool.requests}


@pytest.mark.parametrize("split", ["few-large", "by-group", "by-site"])
def test_each_cluster_survives_by_itself(catalog: Catalog, split: str) -> None:
    plan = make_plan(scaled(12, split=split, hosts_per_cluster=10), catalog)
    for pool in plan.pools:
        assert pool.hosts <= 10
        assert not any(loss.unplaced for loss in pool.failures)
        assert all(level.fits for level in pool.losses)
        outcome = fail_hosts(plan, pool.id, [1, 2])
        assert not outcome.unplaced
        moved = {group for group, *_ in (*outcome.restarted, *outcome.moved)}
        assert moved <= {request.group for request in pool.requests}


def test_cpu_and_memory_divide_like_gpus(catalog: Catalog) -> None:
    """Hosts hold two of these VMs by their memory: 30 VMs are 15 hosts, and three clusters of 5 + 1."""
    data = whole_hosts(30, hosts_per_cluster=6)
    data["groups"][0] |= {"gpus_each": 1, "memory_gib_each": 200}
    data["hardware"]["memory_gib_per_host"] = 500
    plan = make_plan(from_dict(data), catalog)
    assert [(pool.hosts, pool.hosts_for_demand, pool.bound) for pool in plan.pools] == [(6, 5, 5)] * 3
    assert all(pool.losses[1].fits for pool in plan.pools)


def scaled(factor: float, **availability: Any) -> Any:
    """The current-generation example with so many times the people."""
    data = load_scenario("current").to_dict()
    for group in data["groups"]:
        group["people"] = round(group["people"] * factor)
    data["availability"] |= availability
    return from_dict(data)


def test_the_parts_of_a_pool_add_up(catalog: Catalog) -> None:
    """Conservation: demand, hosts, GPUs, ports, power, money and waiting over all clusters are those of the pool."""
    plan = make_plan(scaled(79), catalog)
    assert len(plan.pools) >= 9
    lines = plan.lines
    kind = plan.pools[0].kind
    for name in ("gpus_demanded", "hosts", "gpus_occupied"):
        parts = sum(lines[f"pools.{pool.id}.{name}"].value for pool in plan.pools)
        assert parts == pytest.approx(lines[f"pools.{kind}.{name}"].value)
    assert lines[f"pools.{kind}.gpus_demanded"].value == pytest.approx(plan.totals.gpus_demanded)
    hosts = plan.totals.hosts
    assert plan.cabling is not None and plan.cabling.switches is not None
    assert plan.cabling.gpu_hosts == hosts
    assert plan.cabling.switches.total.host_cables == hosts * plan.cabling.ports.total
    assert plan.power is not None and plan.power.parts[0].count == hosts
    assert plan.costs is not None and plan.costs.hosts[0] == hosts
    assert sum(group.total for group in plan.costs.groups) == pytest.approx(plan.costs.total)
    assert {group.id for group in plan.costs.groups} == {group.id for group in plan.groups}
    assert next(p for p in plan.postures if p.chosen).hosts == hosts
    json.dumps([len(pool.placement) for pool in plan.pools])


def test_more_failures_take_more_clusters(catalog: Catalog) -> None:
    """126 hosts: two clusters of 64 with one spare each, three with two spare each."""
    plan = make_plan(from_dict(whole_hosts(126)), catalog)
    hosts = {posture.host_failures: posture.hosts for posture in plan.postures}
    assert hosts == {0: 126, 1: 128, 2: 132}
    for failures, count in hosts.items():
        again = make_plan(plan.scenario.with_value("availability.host_failures", failures), catalog)
        assert again.totals.hosts == count


def test_growth_across_the_limit_buys_the_spare_hosts_of_the_next_cluster(catalog: Catalog) -> None:
    """60 hosts that grow by 10 % a year: 66 + 2, 73 + 2 after two years."""
    data = whole_hosts(60)
    data["groups"][0]["growth"] = 0.1
    data["cost"] = {"years": 3}
    plan = make_plan(from_dict(data), catalog)
    assert plan.costs is not None
    assert plan.costs.hosts == (61, 68, 75)
    assert plan.costs.gpus == tuple(4 * hosts for hosts in plan.costs.hosts)


def test_the_division_is_explained(catalog: Catalog) -> None:
    plan = make_plan(from_dict(three_groups()), catalog)
    decision = next(d for d in plan.decisions if d.title.startswith("Clusters"))
    assert has_approved(decision.decision, "15 hosts", "3 clusters", "5 hosts", "1")
    assert "at most 6 hosts" in decision.justification and "by" not in decision.title
    line = plan.lines["pools.vgpu.clusters"]
    counts = {given.name: given.value for given in line.inputs}
    assert (counts["few_large"], counts["by_group"], counts["by_site"]) == (15, 15, 15)
    assert not [m for m in check_plan(plan) if m.code.startswith("cluster-")]


@pytest.mark.parametrize(
    ("value", "platform", "licence", "figures"),
    [
        (
            65,
            "8.0u3",
            "vcf",
            ("64 hosts", "64"),
        ),
        (65, "6.7u3", "vcf", ("64 hosts", "64")),
        (65, "7.0", "owned", ("7.0", "64 hosts", "64")),
        (97, "8.0u3", "vvf", ("8.0", "3", "96 hosts", "96")),
        (4, "8.0u3", "vcf", ("5",)),
    ],
)
def test_a_cluster_has_as_many_hosts_as_its_platform_allows_and_one_that_is_not_spare(
    catalog: Catalog, value: int, platform: str, licence: str, figures: tuple[str, ...]
) -> None:
    data = whole_hosts(8, hosts_per_cluster=value, host_failures=4)
    data |= {"platform": {"vsphere": platform}, "cost": {"platform_licence": licence}}
    data["groups"][0]["access"] = "passthrough"
    with pytest.raises(ScenarioError) as refused:
        make_plan(from_dict(data), catalog)
    assert "availability.hosts_per_cluster" in str(refused.value) and has_approved(
        str(refused.value), *figures
    )


@pytest.mark.parametrize("platform", ["7.0u3", "8.0u3", "9.0"])
def test_without_cloud_foundation_a_cluster_may_have_more_hosts_which_is_to_be_confirmed(
    catalog: Catalog, platform: str
) -> None:
    data = whole_hosts(90, hosts_per_cluster=96)
    data |= {"platform": {"vsphere": platform}, "cost": {"platform_licence": "vvf"}}
    plan = make_plan(from_dict(data), catalog)
    assert [pool.hosts for pool in plan.pools] == [91]
    (said,) = (m for m in check_plan(plan) if m.code == "cluster-limit-unconfirmed")
    assert said.level == "note" and "96 are often quoted" in said.text and "64" in said.text
    del data["availability"]["hosts_per_cluster"]
    plain = make_plan(from_dict(data), catalog)
    assert [pool.hosts for pool in plain.pools] == [46, 46]
    assert not [m for m in check_plan(plain) if m.code == "cluster-limit-unconfirmed"]


def test_each_split_has_its_own_reason(catalog: Catalog) -> None:
    """By group and by site divide as soon as they are chosen, whatever a cluster may hold."""
    for split, why, clusters in (
        ("few-large", "A cluster has at most 6 hosts, as stated;", 3),
        (
            "by-group",
            "Each workload has its own clusters, with at most 64 hosts, the limit of VMware Cloud",
            3,
        ),
        ("by-site", "Each site has its own clusters", 2),
    ):
        data = three_groups(split=split)
        if split != "few-large":
            del data["availability"]["hosts_per_cluster"]
        plan = make_plan(from_dict(data), catalog)
        decision = next(d for d in plan.decisions if d.title.startswith("Clusters"))
        assert len(plan.pools) == clusters and decision.justification.startswith(why)


def test_hosts_already_there_go_to_the_clusters_by_priority(catalog: Catalog) -> None:
    data = three_groups(split="by-group")
    data["hardware"]["existing"] = "6 x 4"
    for group, priority in zip(data["groups"], (3, 2, 1), strict=True):
        group["priority"] = priority
    plan = make_plan(from_dict(data), catalog)
    there = {pool.requests[0].group: pool.existing_hosts for pool in plan.pools}
    assert there == {"c": 6, "b": 0, "a": 0}  # 5 and a spare one


def test_no_random_design_has_too_large_a_cluster_in_silence(catalog: Catalog) -> None:
    for rng in cases(5, 60, few=15):
        groups = [
            {
                "id": f"g{at}",
                "people": rng.randint(1, 9),
                "gpus_each": rng.choice([1, 2, 4]),
                "access": "passthrough",
            }
            for at in range(rng.randint(1, 3))
        ]
        existing = "; ".join(
            f"{rng.randint(1, 9)} x {rng.choice([2, 4, 6, 8])}" for _ in range(rng.randint(0, 2))
        )
        data = {
            "groups": groups,
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}
            | ({"existing": existing} if existing else {}),
            "availability": {
                "hosts_per_cluster": rng.choice([4, 5]),
                "host_failures": rng.choice([0, 1, 2]),
                "split": rng.choice(["few-large", "by-group"]),
            },
        }
        plan = make_plan(from_dict(data), catalog)
        most = plan.scenario.availability.hosts_per_cluster or 0
        larger = [pool.name for pool in plan.pools if pool.hosts > most]
        said = [m.text for m in check_plan(plan) if m.code == "cluster-too-large"]
        assert len(said) == bool(larger) and all(name in said[0] for name in larger[:2]), data


KINDS: tuple[dict[str, Any], ...] = (
    {"use_case": "dev-test", "people": 9, "gpus_each": 1, "active_share": 1, "access": "passthrough"},
    {"use_case": "small-workstation", "people": 30, "gpus_each": 0.25, "access": "vgpu"},
    {"use_case": "high-end-training", "jobs_per_day": 6, "work_h": 5, "gpus_each": 2},
    {"use_case": "llm-serving", "model": "llama-3.1-8b", "people": 300, "active_share": 0.1},
    {"use_case": "rag", "model": "bge-m3", "people": 500, "active_share": 0.1},
    {"use_case": "fine-tuning", "model": "llama-3.1-8b", "people": 4},
)
SITES = ("Berlin", "Austin", "Tokyo")


def scattered(rng: Random) -> dict[str, Any]:
    """Workloads of every kind at random sites, at several or at none; sometimes a total with more GPUs than they need."""
    groups = []
    for at in range(rng.randint(1, 4)):
        group = {"id": f"g{at}", **rng.choice(KINDS)}
        some = rng.sample(SITES, rng.choice((0, 1, 1, 2, 3)))
        if some:
            group["sites"] = ", ".join(f"{name} {rng.randint(0, 3) * 10 + 1}" for name in some)
        groups.append(group)
    stated = {"rule": "stated", "stated_gpus": 90} if rng.random() < 0.3 else {}
    hardware = {"gpu": "h100-nvl-94gb", "gpus_per_host": 4, "vcpus_per_host": 256}
    if rng.random() < 0.3:
        hardware["other_vms"] = "Web: 12 x 2 vCPUs"
    return {"groups": groups, "hardware": hardware, "demand": stated, "availability": {"split": "by-site"}}


def test_by_site_each_workload_is_at_a_site_of_its_users(catalog: Catalog) -> None:
    """No cluster is nowhere, whatever the workload is; users whose hosts are elsewhere, and missing locations, are told."""
    elsewhere, unknown = 0, 0
    for rng in cases(38_6, 300, few=40):
        plan = make_plan(from_dict(scattered(rng)), catalog)
        home = {request.group: pool.site for pool in plan.pools for request in pool.requests}
        groups = [group for group in plan.scenario.groups if group.id in home]
        people = {group.id: dict(sites_people(group.sites)) for group in groups if group.sites}
        main = {home[id] for id in people}
        for id, at in people.items():
            assert at[home[id]] == max(at.values())
        hosts = Counter[str]()
        for pool in plan.pools:
            assert pool.site in (main or {""})
            hosts[pool.site] += pool.hosts
        assert plan.cabling is None or sorted(plan.cabling.site_hosts) == sorted(hosts.values())
        levels = {message.code: message.level for message in check_plan(plan)}
        assert ("site-not-stated" in levels) == any(group.id not in people for group in groups)
        away = {(id, name) for id, at in people.items() for name in at if name != home[id]}
        level = "warn" if {name for _, name in away} - main else "note" if away else None
        assert levels.get("users-at-other-sites") == level
        elsewhere += level == "warn"
        unknown += "site-not-stated" in levels
    assert often(elsewhere, 30) and often(unknown, 30)


TENANTS = ("North", "South", None)


def of_tenants(rng: Random, apart: str) -> dict[str, Any]:
    """Workloads of every kind for random tenants or none, some on owned hosts, at sites or in large clusters."""
    data = scattered(rng)
    for group in data["groups"]:
        group["tenant"] = rng.choice(TENANTS)
    if rng.random() < 0.3:
        data["hardware"]["existing"] = f"{rng.randint(1, 5)} x 4; 2 x 2"
    return data | {
        "demand": {},
        "availability": {
            "tenants_apart": apart,
            "split": rng.choice(["few-large", "few-large", "by-site", "by-group"]),
            "host_failures": rng.randint(0, 2),
            "hosts_per_cluster": rng.choice([None, 6]),
        },
    }


def together(plan: Plan, apart: str) -> list[set[str]]:
    """The tenants on each GPU, on each host or in each cluster."""
    of = {group.id: group.tenant or "" for group in plan.scenario.groups}
    hosts = [(pool.id, at, host) for pool in plan.pools for at, host in enumerate(pool.placement)]
    loads = [[load] for _, _, host in hosts for load in host]
    by_pool = [[load for id, _, host in hosts if id == pool.id for load in host] for pool in plan.pools]
    parts = {"gpu": loads, "host": [list(host) for _, _, host in hosts], "cluster": by_pool}[apart]
    return [{of[s.group] for load in part for s in load.slots if s.group in of} for part in parts]


@pytest.mark.parametrize("apart", ["gpu", "host", "cluster"])
def test_tenants_share_nothing_that_they_must_not(catalog: Catalog, apart: str) -> None:
    """Whatever the workloads, sites, owned hosts and limits of clusters; and no VM is lost by it."""
    several = 0
    for rng in cases(40_3, 120, few=25):
        data = of_tenants(rng, apart)
        try:
            plan = make_plan(from_dict(data), catalog)
        except ScenarioError:  # owned hosts alone take what must be apart
            continue
        assert all(len(tenants) < 2 for tenants in together(plan, apart)), data
        of = {group["id"]: group["tenant"] or "" for group in data["groups"]}
        named = [
            pool for pool in plan.pools if apart != "gpu" and data["availability"]["split"] != "by-group"
        ]
        for pool in named:
            assert {of[r.group] for r in pool.requests if r.group in of} <= {pool.tenant}
        data["availability"]["tenants_apart"] = "none"
        shared = make_plan(from_dict(data), catalog)
        assert {g.id: g.vms_placed for g in plan.groups} == {g.id: g.vms_placed for g in shared.groups}
        several += any(len(tenants) > 1 for tenants in together(shared, apart))
    assert often(several, 3)


@pytest.mark.parametrize("apart", ["host", "cluster"])
def test_tenants_apart_are_designs_apart(catalog: Catalog, apart: str) -> None:
    """A second method: each tenant's groups planned alone have the same hosts, GPUs and failover capacity."""
    for rng in cases(40_4, 60, few=15):
        data = of_tenants(rng, apart)
        data["availability"]["split"] = "few-large"
        data["hardware"] = {"gpu": "l40s-48gb", "gpus_per_host": rng.choice([2, 4])}
        plan = make_plan(from_dict(data), catalog)
        hosts, after = Counter[str](), Counter[str]()
        for pool in plan.pools:
            hosts[pool.tenant or ""] += pool.hosts
            after[pool.tenant or ""] += pool.gpus_after_failure
        if len({group["tenant"] for group in data["groups"]}) < 2:
            continue
        for tenant in TENANTS:
            mine = [group for group in data["groups"] if group["tenant"] == tenant]
            if mine:
                alone = make_plan(from_dict(data | {"groups": mine}), catalog)
                assert hosts[tenant or ""] == sum(pool.hosts for pool in alone.pools), data
                assert after[tenant or ""] == sum(pool.gpus_after_failure for pool in alone.pools)


def test_gpus_of_tenants_apart_are_counted_for_each(catalog: Catalog) -> None:
    """L40S with 12 GiB each: four VMs a GPU, so 5 + 3 + 2 VMs take 2 + 1 + 1 GPUs apart, 3 together."""
    for apart, gpus in (("none", 3), ("gpu", 4)):
        people = zip("abc", (5, 3, 2), TENANTS, strict=True)
        groups = [
            {"id": id, "people": n, "active_share": 1, "gpus_each": 0.25, "access": "vgpu", "tenant": tenant}
            for id, n, tenant in people
        ]
        data = {"groups": groups, "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 2}}
        plan = make_plan(from_dict(data | {"availability": {"tenants_apart": apart}}), catalog)
        assert sum(pool.gpus_occupied for pool in plan.pools) == gpus


@pytest.mark.parametrize("split", ["few-large", "by-group", "by-site"])
def test_hosts_with_other_boards_are_divided_alike(catalog: Catalog, split: str) -> None:
    """VMs of two groups or sites share no cluster on hosts already there either, and these are somewhere."""
    divided = 0
    for rng in cases(38_5, 60, few=12):
        groups = [
            {"id": id, "people": rng.randint(1, 9), "gpus_each": 0.5, "remote_allowed": False, "sites": site}
            for id, site in (("a", "Austin"), ("b", "Bangalore"), ("c", "Austin 3, Bangalore 2"))
        ]
        owned = f"{rng.randint(2, 6)} x {rng.choice([1, 2, 4])} h100-nvl-94gb; 2 x 2 a100-pcie-80gb"
        data = whole_hosts(1, split=split, host_failures=rng.randint(0, 1)) | {"groups": groups}
        data["hardware"] |= {"existing": owned}
        plan = make_plan(from_dict(data), catalog)
        home = {"a": "Austin", "b": "Bangalore", "c": "Austin"}
        for pool in plan.pools:
            members = {request.group for request in pool.requests}
            assert split != "by-group" or len(members) == 1
            assert {pool.site} == ({home[id] for id in members} if split == "by-site" else {""})
            assert pool.losses[data["availability"]["host_failures"]].fits is not False
        boards = Counter(pool.rooms[0].board for pool in plan.pools)
        del boards["l40s-48gb"]
        divided += any(clusters > 1 for clusters in boards.values())
        for board in boards:
            hosts = sum(room.board == board for pool in plan.pools for room in pool.rooms)
            assert hosts == (2 if board.startswith("a100") else int(owned[0]))
    assert split == "few-large" or often(divided, 5)
