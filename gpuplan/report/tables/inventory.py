"""The tables of hosts already there: what fits on them, and what is bought for the rest."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.plan import Plan
from gpuplan.plan.hosts import whole_pools
from gpuplan.plan.inventory import Inventory
from gpuplan.report.table import Column, Table, key, listed
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import amount, counted, number


def inventory(plan: Plan) -> Table:
    """What of the demand fits on the hosts already there, by the priority of the groups, and what must be bought for the rest."""
    names, found = group_names(plan), plan.inventory
    groups = sorted(found.groups, key=lambda use: use.priority) if found else []
    columns = [
        Column("group", "Group", of=lambda use: names[use.id]),
        Column("priority", "Priority", "number"),
        Column("vms", "VMs", "number"),
        Column("there", "VMs on hosts there", "number"),
        Column("elsewhere", "On another GPU", "number"),
        Column("rest", "VMs on new hosts", "number"),
        key("group_id", "id"),
    ]
    if not any(use.elsewhere for use in groups):
        del columns[4]
    return listed(
        "inventory",
        "What fits on the hosts already there",
        tuple(columns),
        groups,
        notes=_inventory_notes(plan),
    )


def _inventory_notes(plan: Plan) -> tuple[str, ...]:
    found = plan.inventory
    if found is None:
        return ()
    notes = (*_joining(plan, found), _bought(found), _beside(plan, found))
    return tuple(note for note in notes if note)


def _joining(plan: Plan, found: Inventory) -> Iterator[str]:
    """What the demand takes of hosts that join the design, and which pool they join."""
    ours = [kind for kind in found.kinds if kind.joins]
    if not ours:
        return
    used, there = sum(kind.gpus_used for kind in ours), sum(kind.hosts * kind.gpus_per_host for kind in ours)
    sure = "" if found.proven else "; more may fit, as this is not proven"
    yield f"With every host up, the demand takes {number(used)} of the {amount(there, 'GPU')} in hosts already there{sure}."
    pools = whole_pools(plan.pools)
    if len(pools) == 1:
        return
    home = next((pool.name for pool in pools.values() if pool.existing_hosts), "")
    if home and len({group.priority for group in plan.scenario.groups}) == 1:
        yield f"No group has a better priority than another, so all join the {home}, which has the largest demand."
    else:
        yield "By priority, each group takes the smallest hosts already there that hold its VMs; those left join the largest pool."


def _bought(found: Inventory) -> str:
    """What is bought beside hosts already there."""
    left, buys = sum(use.vms - use.there for use in found.groups), counted(found.buy, "host")
    if left:
        return (
            f"The design buys {buys} for the other {amount(left, 'VM')}, failover capacity included; it may place VMs otherwise, so that "
            "fewer are bought in all."
        )
    if found.buy:
        return f"All VMs fit there: the design buys {buys} as failover capacity only."
    return "All VMs fit there, failover capacity included: no host is bought."


def _beside(plan: Plan, found: Inventory) -> str:
    """What hosts with other boards are good for."""
    others = [kind for kind in found.kinds if not kind.joins]
    if not others:
        return ""
    boards = ", ".join(dict.fromkeys(plan.catalog.gpus[kind.gpu].name for kind in others))
    return (
        f"Hosts with {boards} are a cluster of their own, not part of this design: VMs with whole GPUs run there if the frame buffer "
        f"is as large, shares and profiles do not. With what fits there, {counted(found.buy_beside, 'host')} must be bought."
    )


def hosts_there(plan: Plan) -> Table:
    """The kinds of hosts already there, and what of the demand takes them."""
    gpus = plan.catalog.gpus
    return listed(
        "hosts_there",
        "Hosts already there",
        (
            Column("kind", "Kind", of="name"),
            Column("hosts", "Hosts", "number"),
            Column("gpu", "GPU", words=lambda id: gpus[id].name),
            Column("gpus_per_host", "GPUs each", "number"),
            Column("gpus_used", "GPUs used", "number"),
            Column("vms", "VMs", "number"),
            Column("joins", "In this design", "yes"),
        ),
        plan.inventory.kinds if plan.inventory else (),
    )
