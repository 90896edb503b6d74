"""Checks of tenants that are kept apart: who has none, what vSphere does not promise, and what keeping hosts apart costs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from gpuplan.plan.checks.message import Message, about, message, placed
from gpuplan.plan.hosts import WholePool, whole_pools
from gpuplan.plan.plan import Plan
from gpuplan.plan.requests import spare_hosts


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
