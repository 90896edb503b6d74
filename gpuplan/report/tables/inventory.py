"""The tables of hosts already there: what fits on them, and what is bought for the rest."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.plan import Plan
from gpuplan.plan.hosts import whole_pools
from gpuplan.plan.inventory import Inventory
from gpuplan.report.table import Table, Worded, tabulate
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import amount, counted, number, said


def inventory(plan: Plan) -> Table:
    """Tabulate the demand that fits on existing hosts, by group priority, and what must be bought for the rest."""
    names, found = group_names(plan), plan.inventory
    groups = sorted(found.groups, key=lambda use: use.priority) if found else []
    table = tabulate("inventory", groups, group=lambda use: names[use.id], notes=_inventory_notes(plan))
    return table if any(use.elsewhere for use in groups) else table.without("elsewhere")


def _inventory_notes(plan: Plan) -> tuple[str, ...]:
    found = plan.inventory
    if found is None:
        return ()
    notes = (*_joining(plan, found), _bought(found), _beside(plan, found))
    return tuple(note for note in notes if note)


def _joining(plan: Plan, found: Inventory) -> Iterator[str]:
    """Say what the demand takes of hosts that join the design, and which pool they join."""
    ours = [kind for kind in found.kinds if kind.joins]
    if not ours:
        return
    used, there = sum(kind.gpus_used for kind in ours), sum(kind.hosts * kind.gpus_per_host for kind in ours)
    sure = "" if found.proven else said("table.inventory.not proven")
    yield said("table.with every host up", used=number(used), gpus=amount(there, "GPU"), sure=sure)
    pools = whole_pools(plan.pools)
    if len(pools) == 1:
        return
    home = next((pool.name for pool in pools.values() if pool.existing_hosts), "")
    if home and len({group.priority for group in plan.scenario.groups}) == 1:
        yield said("table.all groups have the", home=home)
    else:
        yield said("table.by priority each group")


def _bought(found: Inventory) -> str:
    """Say what is bought beside existing hosts."""
    left, buys = sum(use.vms - use.there for use in found.groups), counted(found.buy, "host")
    if left:
        return said("table.inventory.bought", buys=buys, vms=left)
    if found.buy:
        return said("table.all vms fit there", buys=buys)
    return said("table.all vms fit there 2")


def _beside(plan: Plan, found: Inventory) -> str:
    """Say what hosts with other boards are good for."""
    others = [kind for kind in found.kinds if not kind.joins]
    if not others:
        return ""
    boards = ", ".join(dict.fromkeys(plan.catalog.gpus[kind.gpu].name for kind in others))
    return said("table.hosts with form a", boards=boards, hosts=counted(found.buy_beside, "host"))


def hosts_there(plan: Plan) -> Table:
    """The kinds of hosts already there, and what of the demand takes them."""
    gpus = plan.catalog.gpus
    return tabulate(
        "hosts_there", plan.inventory.kinds if plan.inventory else (), gpu=Worded(lambda id: gpus[id].name)
    )
