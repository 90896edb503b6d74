"""Checks of the hosts: hosts that a placement takes beyond a division, stranded GPUs, limits of server and cluster, tenants apart."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuplan.plan.checks.message import Message, about, message, placed
from gpuplan.plan.hardware import architecture_of, fit_of, known_takers
from gpuplan.plan.host_line import NOT_SOLD
from gpuplan.plan.hosts import WholePool, whole_pools
from gpuplan.plan.layouts import most_hosts_fact
from gpuplan.plan.plan import Plan
from gpuplan.plan.requests import spare_hosts
from gpuplan.plan.shared_clusters import Apart
from gpuplan.plan.validation import server_gpu_limit
from gpuplan.scenario import Group, new_hosts, other_vms, sites_people
from gpuplan.wording import NAMES, capital, joined, said, some_of, whole

WHY = NAMES["why kinds stay apart"]
"""Why kinds of hosts share no failover hosts, by key, in words."""
PATHS = {
    "processors": ("hardware.vcpus_per_host", "cost.cores_per_socket"),
    "memory": ("hardware.memory_gib_per_host",),
}
"""Part of a host -> the inputs that may state it."""


def count_and_placement(plan: Plan) -> Iterator[Message]:
    """Hosts that placement takes beyond a division, and a gap to the bound."""
    for pool in whole_pools(plan.own_pools).values():
        laid, at = pool.layout, f"pools.{pool.kind}"
        needed, host_count = laid.needed, len(laid.needed.hosts)
        counted = plan.lines[f"{at}.count_hosts"].value
        if counted < laid.fewest and not laid.existing:
            yield message(
                plan,
                "count-and-placement-part",
                pool=pool.name,
                counted=counted,
                placed=laid.fewest,
                demand=whole(plan.lines[f"{at}.gpus_demanded"].value),
                occupied=needed.gpus_occupied,
            )
        if needed.method == "heuristic":
            yield message(
                plan,
                "placement-not-proven",
                pool=pool.name,
                hosts=host_count,
                least=needed.bound,
                gap=host_count - needed.bound,
            )
        by_gpus = plan.lines.get(f"{at}.hosts_by_gpus")
        if by_gpus and by_gpus.value < laid.fewest:
            words = {"hosts": by_gpus.value, "placed": laid.fewest}
            yield message(plan, "cpu-or-memory-binds", pool=pool.name, **words)


def ordered(plan: Plan) -> Iterator[Message]:
    """Processors, memory or management hosts that are too little as stated, or larger than any that is sold."""
    line, domain, settings = plan.host_line, plan.management, plan.scenario.cost
    for part in line.short if line else ():
        if part.key == "supplies":
            yield message(plan, "supplies-too-small", rule=part.rule, sources=part.sources)
            continue
        path = next((path for path in PATHS[part.key] if plan.scenario.get(path)), PATHS[part.key][0])
        code = "host-not-sold" if part.short == NOT_SOLD else "host-too-small"
        remedy = said("check.enter less" if plan.scenario.get(path) else "check.fewer GPUs")
        yield message(plan, code, part=part.name, size=part.size, rule=part.rule, key=path, remedy=remedy)
    if domain and domain.short:
        path = "cost.management_hosts" if settings.management_hosts else "management.hosts"
        sizes: Any = {"hosts": domain.hosts, "needed": domain.needed_hosts, "short": domain.short}
        yield message(plan, "management-too-small", key=path, **sizes)


def stranded(plan: Plan) -> Iterator[Message]:
    """GPUs on used hosts that no VM of the design fits."""
    for pool in whole_pools(plan.pools).values():
        lost = [idle for cluster in pool.clusters for idle in cluster.idle if not idle.fits]
        gpus = sum(idle.gpus for idle in lost)
        whole = sum(idle.room * idle.count for idle in lost if idle.kind == "whole")
        if gpus >= 1:
            of_it = said("check.whole ones", gpus=whole) if whole else ""
            yield message(plan, "gpus-stranded", pool=pool.name, gpus=gpus, whole=of_it)


def counted_in_part(plan: Plan) -> Iterator[Message]:
    """CPU and memory that are stated on one side only."""
    groups, others = plan.sized.groups, other_vms(plan.scenario.hardware.other_vms)
    if not groups and not others:
        return
    for field, host, what, of_others in (
        ("vcpus_each", "vcpus_per_host", "vCPUs", any(other.vcpus for other in others)),
        ("memory_gib_each", "memory_gib_per_host", "Memory", any(other.memory_gib for other in others)),
    ):
        missing = [group for group in groups if not getattr(group, field)]
        stated = len(missing) < len(groups) or of_others
        if stated != bool(getattr(plan.scenario.hardware, host)):
            there, not_there = (
                said(f"check.resource of {one}") for one in (("VMs", "host") if stated else ("host", "VMs"))
            )
            yield message(plan, "resource-not-counted", what=what, stated=there, missing=not_there, host=host)
        elif stated and missing:
            yield message(
                plan,
                "resource-counted-in-part",
                what=what,
                names=some_of([group.name for group in missing]),
                id=missing[0].id,
                input=field,
            )


def server(plan: Plan) -> Iterator[Message]:
    """Report a server that is not known to hold the GPUs, or to be sold with as few of them."""
    hardware = plan.scenario.hardware
    if not plan.pools:
        return
    if hardware.server is None:
        yield message(plan, "server-not-chosen")
        return
    fit, planned = fit_of(plan.catalog, hardware.server, hardware.gpu), hardware.gpus_per_host
    chassis, gpu = plan.catalog.servers[hardware.server].name, plan.catalog.gpus[hardware.gpu].name
    if fit and fit.whole and planned < fit.gpus:
        words = {"server": chassis, "gpu": gpu, "whole": str(fit.gpus), "planned": str(planned)}
        yield message(plan, "modules-in-part", sources=fit.sources, **words)
    limit, why = server_gpu_limit(plan.scenario, plan.catalog)
    if limit is not None and fit is None:
        limit, why = None, said("check.no source names", gpu=gpu, server=chassis)
    if limit is None and not (fit and planned <= fit.gpus):
        facts = plan.catalog.servers[hardware.server].facts.values()
        sources = tuple(dict.fromkeys(source for fact in facts for source in fact.sources))
        known = known_takers(plan.scenario, plan.catalog)
        words = {"why": capital(why), "gpus": str(planned), "known": known}
        yield message(plan, "server-limit-unknown", sources=sources, **words)


def cluster_size(plan: Plan) -> Iterator[Message]:
    """Clusters below the least size to start, above the allowed size, or perhaps above; hosts in no cluster."""
    scenario, limits = plan.scenario, plan.catalog.assumptions["vi-cluster"]
    least, most = limits.fact("min_hosts"), int(most_hosts_fact(scenario, plan.catalog).value)
    if most > int(limits.fact("max_hosts").value):
        yield message(
            plan,
            "cluster-limit-unconfirmed",
            stated=most,
            least=limits.value("max_hosts"),
            most=plan.catalog.vsphere[scenario.platform.vsphere].value("max_cluster_hosts"),
            vsphere=plan.catalog.vsphere[scenario.platform.vsphere].name,
        )
    joined = sum(kind.hosts for kind in plan.inventory.kinds if kind.joins) if plan.inventory else 0
    if left := joined - sum(pool.existing_hosts for pool in plan.pools):
        yield message(plan, "hosts-left-out", left=left, most=most)
    if larger := [pool for pool in plan.pools if pool.hosts > most]:
        hosts, names = max(pool.hosts for pool in larger), some_of([pool.name for pool in larger])
        yield message(plan, "cluster-too-large", pools=names, hosts=hosts, most=most)
    for pool in plan.pools:
        if pool.hosts < int(least.value):
            sizes: Any = {"hosts": pool.hosts, "least": least.value, "more": int(least.value) - pool.hosts}
            yield message(plan, "cluster-too-small", pool=pool.name, locator=least.locator, **sizes)


def unused_kinds(plan: Plan) -> Iterator[Message]:
    """Further kinds of hosts on which no workload runs, so that none is planned."""
    used = {group.hosts for group in plan.scenario.groups}
    if left := [kind.name for kind in new_hosts(plan.scenario.hardware.kinds) if kind.name not in used]:
        yield message(plan, "hosts-without-workload", names=some_of(left))


def shared_clusters(plan: Plan) -> Iterator[Message]:
    """Clusters of several kinds of hosts."""
    gpus = {
        part.scenario.hardware.of: plan.catalog.gpus[part.scenario.hardware.gpu].name for part in plan.parts
    }
    names = {group.id: group.name for group in plan.groups}
    for pool in (pool for pool in plan.pools if pool.shares):
        kinds = [
            said("check.hosts of a kind", hosts=len(share.laid.hosts), gpu=gpus[share.scenario.hardware.of])
            for share in pool.shares
        ]
        boards = Counter(share.room.board for share in pool.shares)
        moved = [names[r.group] for r in pool.requests if sum(boards[board] for board in r.boards) > 1]
        spare, apart = pool.hosts_for_failures, spare_hosts(plan.scenario) * len(kinds)
        words: Any = {"kinds": joined(kinds), "groups": some_of(moved), "spare": spare, "apart": apart}
        yield message(plan, "cluster-of-kinds", pool=pool.name, **words)


def kinds_apart(plan: Plan) -> Iterator[Message]:
    """Kinds of hosts that are to share a cluster and have failover hosts of their own."""
    gpus = {part.scenario.hardware.of: part.scenario.hardware.gpu for part in plan.parts}
    for each in (each for each in plan.sharing if isinstance(each, Apart)):
        why = [f"{some_of(groups)}: {WHY[key]}" if groups else WHY[key] for key, groups in each.why.items()]
        kinds = joined([name or plan.catalog.gpus[gpus[name]].name for name in each.kinds])
        yield message(plan, "kinds-apart", cluster=each.name, kinds=kinds, why="; ".join(why))


def sites(plan: Plan) -> Iterator[Message]:
    """Workloads without a location, and users with their hosts at another site, where clusters are by site."""
    if plan.scenario.availability.split != "by-site":
        return
    home = {request.group: pool.site for pool in plan.pools for request in pool.requests}
    groups = [group for group in plan.scenario.groups if group.id in home]
    stated = [group for group in groups if group.sites]
    if unknown := [group for group in groups if group not in stated]:
        yield _without_site(plan, unknown, home)
    if apart := [away for group in stated for away in _elsewhere(group, home)]:
        yield _at_other_sites(plan, apart, home)


def _elsewhere(group: Group, home: Mapping[str, str]) -> Iterator[tuple[Group, str]]:
    """Sites with users of a group whose hosts are at another one."""
    for name, people in sites_people(group.sites):
        if people and name != home[group.id]:
            yield group, name


def _without_site(plan: Plan, groups: Sequence[Group], home: Mapping[str, str]) -> Message:
    """Groups without a location, and where they are planned."""
    at = some_of([*dict.fromkeys(home[group.id] for group in groups)])
    where = said("check.planned in", sites=at) if at else said("check.planned together")
    names = some_of([group.name for group in groups])
    return message(plan, "site-not-stated", where=where, groups=names, id=groups[0].id)


def _at_other_sites(plan: Plan, apart: Sequence[tuple[Group, str]], home: Mapping[str, str]) -> Message:
    """Users with their hosts at another site, and sites without hosts."""
    ways = some_of([said("check.works at", group=g.name, at=name, home=home[g.id]) for g, name in apart])
    sites = some_of([*dict.fromkeys(name for _, name in apart if name not in home.values())])
    level, empty = ("warn", said("check.no hosts in", sites=sites)) if sites else ("note", "")
    return message(plan, "users-at-other-sites", level=level, ways=ways, empty=empty, id=apart[0][0].id)


def mig_restart(plan: Plan) -> Iterator[Message]:
    """Boards that are switched to MIG by a restart of their host."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    if architecture_of(plan.catalog, gpu.id).get("mig_restart"):
        yield from about(plan, "mig-needs-reboot", placed(plan, "mig"), gpu=gpu.name)


def tenants(plan: Plan) -> Iterator[Message]:
    """Tenants that are to be apart and are not all stated, or that vSphere itself does not keep apart."""
    apart = plan.scenario.availability.tenants_apart
    of = {group.id: group.tenant or "" for group in plan.scenario.groups}
    groups = [group for group in placed(plan) if group.id in of]
    if apart == "none" or not groups:
        return
    if len({of[group.id] for group in groups}) < 2:
        yield message(plan, "tenants-not-several", id=groups[0].id)
        return
    yield from about(plan, "tenant-not-stated", [group for group in groups if not of[group.id]])
    if apart == "gpu":
        yield from about(plan, "tenants-without-rule", [g for g in groups if g.id in _could_share(plan, of)])
    elif apart == "host":
        yield from _failover(plan, of)


def _failover(plan: Plan, of: Mapping[str, str]) -> Iterator[Message]:
    """Pools in which each tenant has failover hosts of its own."""
    spare = spare_hosts(plan.scenario)
    for pool in whole_pools(plan.pools).values() if spare else ():
        if (owners := len(_owners(pool, of))) > 1:
            fewer = spare * (owners - 1)
            yield message(plan, "tenants-share-failover", pool=pool.name, tenants=owners, fewer=fewer)


def _owners(pool: WholePool, of: Mapping[str, str]) -> set[str]:
    """Tenants with VMs on the hosts of a pool."""
    requests = [request for cluster in pool.clusters for request in cluster.requests]
    return {of[request.group] for request in requests if request.group in of}


def _could_share(plan: Plan, of: dict[str, str]) -> set[str]:
    """Groups whose VMs would fit on one GPU with those of another tenant in the same cluster."""
    sharing = defaultdict[tuple[str, tuple[str, ...]], set[str]](set)
    for pool in plan.pools:
        for request in pool.requests:
            if request.family and request.group in of:
                sharing[pool.id, request.family.profiles].add(request.group)
    return {group for ids in sharing.values() if len({of[id] for id in ids}) > 1 for group in ids}
