"""Checks of tenants that are kept apart: who has none, what vSphere does not promise, and what keeping hosts apart costs."""

from collections import defaultdict
from collections.abc import Iterator

from gpuplan.plan.checks.message import Message, about, message, placed
from gpuplan.plan.hosts import whole_pools
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
    elif apart == "host" and (spare := spare_hosts(plan.scenario)):
        for pool in whole_pools(plan.pools).values():
            owners = {
                of[request.group]
                for cluster in pool.clusters
                for request in cluster.requests
                if request.group in of
            }
            if len(owners) > 1:
                fewer = spare * (len(owners) - 1)
                yield message(
                    plan, "tenants-share-failover", pool=pool.name, tenants=len(owners), fewer=fewer
                )


def _could_share(plan: Plan, of: dict[str, str]) -> set[str]:
    """Groups whose VMs would fit on one GPU with those of another tenant in the same cluster."""
    sharing = defaultdict[tuple[str, tuple[str, ...]], set[str]](set)
    for pool in plan.pools:
        for request in pool.requests:
            if request.family and request.group in of:
                sharing[pool.id, request.family.profiles].add(request.group)
    return {group for ids in sharing.values() if len({of[id] for id in ids}) > 1 for group in ids}
